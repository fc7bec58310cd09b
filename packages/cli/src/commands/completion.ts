import type { Command } from "commander";
import { Fault } from "@vidro/core";
import { commandRows } from "../program/command-tree.ts";
import type { CommandRow } from "../program/command-tree.ts";
import { EXIT } from "../program/exit-codes.ts";
import { print } from "../program/output.ts";

/* Completion for shells, made of the table that help is made of. */

const SHELLS: { readonly [shell: string]: (rows: readonly CommandRow[]) => string } = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** Prints the completion of a program for a shell. */
export async function printCompletion(shell: string, program: Command): Promise<number> {
  const make = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined;
  if (make === undefined) throw new Fault("BAD_REQUEST", `There is completion for ${Object.keys(SHELLS).join(", ")}.`);
  print(...make(commandRows(program)).trimEnd().split("\n"));
  return EXIT.ok;
}

/** The words that can follow a command. */
function nextWords({ below, options }: CommandRow): readonly string[] {
  return [...below.map(({ name }) => name), ...options.map(({ long }) => long), "--help"];
}

/** Words of known commands, each with the command before it. */
function knownSteps(rows: readonly CommandRow[]): readonly string[] {
  return rows.flatMap(({ path, below }) => below.map(({ name }) => `${path} ${name}`));
}

/** Options with a closed set of values, by the command and the option. */
function choiceRows(
  rows: readonly CommandRow[],
): readonly { readonly at: string; readonly words: readonly string[] }[] {
  return rows.flatMap(({ path, options }) =>
    options
      .filter(({ choices }) => choices.length > 0)
      .map(({ long, choices }) => ({ at: `${path} ${long}`, words: choices })),
  );
}

function bashScript(rows: readonly CommandRow[]): string {
  return `# Completion of vidro for bash: source <(vidro completion bash)
_vidro() {
  local cur=\${COMP_WORDS[COMP_CWORD]} at= words= i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
      ${knownSteps(rows)
        .map((step) => `"${step}"`)
        .join(" | ")}) at="\${at:+$at }\${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at" in
${rows.map((row) => `    "${row.path}") words="${nextWords(row).join(" ")}" ;;`).join("\n")}
  esac
  case "$at \${COMP_WORDS[COMP_CWORD - 1]}" in
${choiceRows(rows)
  .map(({ at, words }) => `    "${at}") words="${words.join(" ")}" ;;`)
  .join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _vidro vidro
`;
}

function quoteText(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function zshScript(rows: readonly CommandRow[]): string {
  const entry = (name: string, description: string): string =>
    quoteText(`${name.replaceAll(":", String.raw`\:`)}:${oneLine(description)}`);
  const list = ({ below, options }: CommandRow): string =>
    [
      ...below.map(({ name, description }) => entry(name, description)),
      ...options.map(({ long, description }) => entry(long, description)),
      entry("--help", "show help"),
    ].join(" ");
  return `#compdef vidro
# Completion of vidro for zsh: a file of this name in a folder of fpath, or: source <(vidro completion zsh)
_vidro() {
  local at= word
  local -a next
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in
      ${knownSteps(rows)
        .map((step) => `"${step}"`)
        .join(" | ")}) at="\${at:+$at }$word" ;;
    esac
  done
  case "$at" in
${rows.map((row) => `    "${row.path}") next=(${list(row)}) ;;`).join("\n")}
  esac
  case "$at \${words[CURRENT-1]}" in
${choiceRows(rows)
  .map(({ at, words }) => `    "${at}") next=(${words.join(" ")}) ;;`)
  .join("\n")}
  esac
  _describe vidro next || _files
}
if [ "$funcstack[1]" = _vidro ]; then _vidro "$@"; else compdef _vidro vidro; fi
`;
}

function fishScript(rows: readonly CommandRow[]): string {
  const fish = (text: string): string =>
    `'${oneLine(text)
      .replaceAll("\\\\", "\\\\\\\\")
      .replaceAll("'", String.raw`\'`)}'`;
  const lines = rows.flatMap(({ path, below, options }) => {
    const at = `complete -c vidro -n '__vidro_at "${path}"'`;
    return [
      ...below.map(({ name, description }) => `${at} -f -a ${name} -d ${fish(description)}`),
      ...options.map(({ long, short, description, takesValue, choices }) =>
        [
          at,
          ...(short === undefined ? [] : [`-s ${short.slice(1)}`]),
          `-l ${long.slice(2)}`,
          ...(takesValue ? ["-r"] : []),
          ...(choices.length === 0 ? [] : [`-f -a '${choices.join(" ")}'`]),
          `-d ${fish(description)}`,
        ].join(" "),
      ),
      `${at} -l help -d 'show help'`,
    ];
  });
  return `# Completion of vidro for fish: vidro completion fish | source
function __vidro_at
  set -l at
  for word in (commandline -opc)[2..]
    switch "$at $word"
      case ${knownSteps(rows)
        .map((step) => `'${step}'`)
        .join(" ")}
        set at (string trim "$at $word")
    end
  end
  test "$at" = "$argv[1]"
end
${lines.join("\n")}
`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}
