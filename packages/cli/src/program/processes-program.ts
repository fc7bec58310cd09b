import type { Command } from "commander";
import { addBrainFlags, HANDS_WORDS, JSON_FLAG } from "./flags.ts";
import type { Exit } from "./flags.ts";

const load = () => import("../commands/processes.ts");

/** Adds the commands below `vidro processes`. */
export function addProcesses(root: Command, exit: Exit): void {
  const processes = root
    .command("processes")
    .description("list, show and stop processes that go on in the background after their runs");
  addBrainFlags(processes.command("list"))
    .description("list processes that are kept")
    .option("--on <hands>", HANDS_WORDS)
    .option(...JSON_FLAG)
    .action(async (flags) => exit(await (await load()).listKeptProcesses(flags)));
  addBrainFlags(processes.command("show"))
    .description("show how a process stands and the end of its output")
    .argument("<process>", "name of the process, or the id of the action that started it")
    .option("--on <hands>", HANDS_WORDS)
    .option(...JSON_FLAG)
    .action(async (name: string, flags) => exit(await (await load()).showProcess(name, flags)));
  addBrainFlags(processes.command("stop"))
    .description("end a process with everything that it has started")
    .argument("<process>", "name of the process, or the id of the action that started it")
    .option("--on <hands>", HANDS_WORDS)
    .option(...JSON_FLAG)
    .action(async (name: string, flags) => exit(await (await load()).stopProcess(name, flags)));
}
