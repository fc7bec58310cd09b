import type { Command } from "commander";
import { commandRows } from "../program/command-tree.ts";
import type { CommandRow } from "../program/command-tree.ts";
import { EXIT } from "../program/exit-codes.ts";
import { print } from "../program/output.ts";

/** Prints the manual page of a program, made of the table that help is made of. */
export async function printManual(program: Command): Promise<number> {
  print(...manualPage(commandRows(program), program.version() ?? ""));
  return EXIT.ok;
}

function manualPage(rows: readonly CommandRow[], version: string): readonly string[] {
  const [root, ...commands] = rows;
  const about = (root?.description ?? "").split("\n");
  return [
    `.TH VIDRO 1 "" "vidro ${version}" "Vidro"`,
    ".SH NAME",
    String.raw`vidro \- ${roff(lowerFirst(about[0] ?? ""))}`,
    ".SH SYNOPSIS",
    ".B vidro",
    ".RI [ command ]",
    ".RI [ options ]",
    ".SH DESCRIPTION",
    ...about.map(roff),
    ".SH COMMANDS",
    ...commands.filter(({ below }) => below.length === 0).flatMap(commandPart),
    ".SH EXIT STATUS",
    ...EXIT_STATUS.flatMap(([code, meaning]) => [".TP", `.B ${code}`, roff(meaning)]),
    ".SH FILES",
    ".TP",
    ".I ~/.local/state/vidro",
    "All state, unless VIDRO_HOME names another folder: journal, tokens, policy, agents, config.json.",
    ".SH SEE ALSO",
    roff("vidro <command> --help; vidro config list shows every setting and where its value comes from."),
  ];
}

const EXIT_STATUS = [
  ["0", "done"],
  ["1", "it failed"],
  ["2", "the command or its input is not well formed"],
  ["3", "there is no such thing"],
  ["4", "a token, key or certificate is missing or does not count"],
  ["5", "policy or a person refused it"],
  ["6", "the request conflicts with the present state"],
  ["7", "a brain, hand or model cannot be reached"],
  ["8", "it took too long"],
  ["9", "the outcome cannot be known"],
  ["130", "interrupted"],
] as const;

function commandPart({ path, usage, description, arguments: words, options }: CommandRow): readonly string[] {
  return [
    `.SS ${roff(`vidro ${[path, usage].filter((part) => part !== "").join(" ")}`)}`,
    roff(description),
    ...[
      ...words.map(({ name, description: about }) => [name, about] as const),
      ...options.map(({ flags, description: about }) => [flags, about] as const),
    ].flatMap(([name, about]) => [".TP", `.B ${roff(name)}`, roff(about)]),
  ];
}

/** Text that roff shows as it is. */
function roff(text: string): string {
  const plain = text
    .replaceAll("\\", String.raw`\e`)
    .replaceAll("-", String.raw`\-`)
    .replaceAll('"', String.raw`\(dq`);
  return /^[.']/.test(plain) ? String.raw`\&${plain}` : plain;
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1).replace(/\.$/, "");
}
