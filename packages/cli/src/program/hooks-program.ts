import type { Command } from "commander";
import { addBrainFlags, HANDS_WORDS, JSON_FLAG } from "./flags.ts";
import type { Exit } from "./flags.ts";

const load = () => import("../commands/hooks.ts");

/** Adds the commands below `vidro hooks`. */
export function addHooks(root: Command, exit: Exit): void {
  const hooks = root.command("hooks").description("add, list and remove tasks that other programs start by a call");
  addBrainFlags(hooks.command("add"))
    .description("let another program start a task; prints the secret of its calls, once")
    .argument("<task>", "what to do; the body of each call follows as data")
    .option("--on <hands>", HANDS_WORDS)
    .option("--agent <name>", "agent that does it, by name or uuid (default: bunny)")
    .option("--model <model>", "model that decides (default: the agent's)")
    .option("--workspace <folder>", "folder of the brain's machine to work in (default: the daemon's)")
    .option(...JSON_FLAG)
    .action(async (task: string, flags) => exit(await (await load()).addHook(task, flags)));
  addBrainFlags(hooks.command("list"))
    .description("list hooks without their secrets, and their last runs")
    .option(...JSON_FLAG)
    .action(async (flags) => exit(await (await load()).listHooks(flags)));
  addBrainFlags(hooks.command("remove"))
    .description("remove a hook: its secret is worth nothing from then on, its runs stay")
    .argument("<id>", "id of the hook, or the last characters of it")
    .option(...JSON_FLAG)
    .action(async (id: string, flags) => exit(await (await load()).removeHook(id, flags)));
}
