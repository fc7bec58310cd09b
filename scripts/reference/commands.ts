import type { Command } from "commander";
import { buildProgram } from "../../packages/cli/src/program/program.ts";
import { page, table } from "./page.ts";

/** Every command of `vidro`: how it is called, what it does, and its options. */
export function commandPage(): string {
  const root = buildProgram("", () => undefined);
  return page("The vidro command", "`packages/cli/src/program/`", [
    "Without a command, `vidro` opens a conversation. Every command tells its options with `--help`.",
    ...leaves(root, "vidro").map(({ command, path }) => part(command, path)),
  ]);
}

interface Leaf {
  readonly command: Command;
  readonly path: string;
}

function leaves(command: Command, path: string): readonly Leaf[] {
  const subcommands = command.commands.filter((one) => one.name() !== "help");
  if (subcommands.length === 0) return [{ command, path }];
  return subcommands.flatMap((one) => leaves(one, `${path} ${one.name()}`));
}

function part(command: Command, path: string): string {
  const words = command.registeredArguments.map((one) => {
    const name = one.variadic ? `${one.name()}...` : one.name();
    return one.required ? `<${name}>` : `[${name}]`;
  });
  const rows = [
    ...command.registeredArguments.map((one) => [`\`${one.name()}\``, one.description]),
    ...command.options.filter(({ hidden }) => !hidden).map((one) => [`\`${one.flags}\``, described(one)]),
  ];
  const options = rows.length === 0 ? "" : `\n\n${table(["argument or option", "meaning"], rows)}`;
  return `## ${[path, ...words].join(" ")}\n\n${command.description()}${options}`;
}

function described({
  description,
  defaultValue,
}: {
  readonly description: string;
  readonly defaultValue?: unknown;
}): string {
  return defaultValue === undefined ? description : `${description} (default: ${JSON.stringify(defaultValue)})`;
}
