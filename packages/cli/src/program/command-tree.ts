import type { Command } from "commander";

/** An option of a command, as help and completion show it. */
interface OptionRow {
  /** As help shows it, such as `-n, --lines <n>`. */
  readonly flags: string;
  readonly short?: string;
  readonly long: string;
  readonly description: string;
  /** Whether a value follows it. */
  readonly takesValue: boolean;
  /** The values that it takes; none when it takes others. */
  readonly choices: readonly string[];
}

/** A command with what can follow it. */
export interface CommandRow {
  /** Its words behind `vidro`, with blanks between; empty for `vidro` itself. */
  readonly path: string;
  readonly description: string;
  /** Its arguments as help shows them. */
  readonly usage: string;
  readonly arguments: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly OptionRow[];
  /** The last words of the commands below it, and what these do. */
  readonly below: readonly { readonly name: string; readonly description: string }[];
}

/** Every command of a program, itself first, each before those below it: the table that help is made of. */
export function commandRows(command: Command, path = ""): readonly CommandRow[] {
  const below = command
    .createHelp()
    .visibleCommands(command)
    .filter((one) => one.name() !== "help");
  const row: CommandRow = {
    path,
    description: command.description(),
    usage: command.registeredArguments.map(argumentWords).join(" "),
    arguments: command.registeredArguments.map((one) => ({ name: argumentWords(one), description: one.description })),
    options: command.options.filter(({ hidden }) => !hidden).map(optionRow),
    below: below.map((one) => ({ name: one.name(), description: one.description() })),
  };
  return [row, ...below.flatMap((one) => commandRows(one, path === "" ? one.name() : `${path} ${one.name()}`))];
}

function argumentWords(one: Command["registeredArguments"][number]): string {
  const name = one.variadic ? `${one.name()}...` : one.name();
  return one.required ? `<${name}>` : `[${name}]`;
}

function optionRow({
  flags,
  short,
  long,
  description,
  required,
  optional,
  argChoices,
}: Command["options"][number]): OptionRow {
  return {
    flags,
    ...(short === undefined || short === null ? {} : { short }),
    long: long ?? short ?? "",
    description,
    takesValue: required || optional,
    choices: argChoices ?? [],
  };
}
