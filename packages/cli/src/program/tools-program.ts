import type { Command } from "commander";
import { addBrainFlags, JSON_FLAG } from "./flags.ts";
import type { Exit } from "./flags.ts";

const load = () => import("../commands/tools.ts");
const NAME = ["<name>", "name of the tool, or its id"] as const;

/** Adds the commands below `vidro tools`. */
export function addTools(root: Command, exit: Exit): void {
  const tools = root
    .command("tools")
    .description("list, show, remove and promote tools that a model proposed and a person approved");
  const add = (name: string, words: string): Command =>
    addBrainFlags(tools.command(name))
      .description(words)
      .option(...JSON_FLAG);
  add("list", "list approved tools with their threads and commands").action(async (flags) =>
    exit(await (await load()).listKeptTools(flags)),
  );
  add("show", "show an approved tool: its command, its input, and who approved it")
    .argument(...NAME)
    .action(async (name: string, flags) => exit(await (await load()).showKeptTool(name, flags)));
  add("remove", "remove an approved tool: later runs do not have it")
    .argument(...NAME)
    .action(async (name: string, flags) => exit(await (await load()).removeKeptTool(name, flags)));
  add("promote", "let all threads have the approved tool of one")
    .argument(...NAME)
    .action(async (name: string, flags) => exit(await (await load()).promoteKeptTool(name, flags)));
}
