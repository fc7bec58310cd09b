import type { Command } from "commander";
import { JSON_FLAG } from "./flags.ts";
import type { Exit } from "./flags.ts";

/** Adds the commands below `vidro commands`. */
export function addFileCommands(root: Command, exit: Exit): void {
  const commands = root
    .command("commands")
    .description("commands of your own for conversations: Markdown files of the home and of a project");
  commands
    .command("list")
    .description("list the commands that a conversation in this folder has")
    .option(...JSON_FLAG)
    .action(async (flags) => exit(await (await import("../commands/file-commands.ts")).listFileCommands(flags)));
}
