import { Option } from "commander";
import type { Command } from "commander";
import { addBrainFlags, HANDS_WORDS, JSON_FLAG } from "./flags.ts";
import type { Exit } from "./flags.ts";

const load = () => import("../commands/schedules.ts");

/** Adds the commands below `vidro schedules`. */
export function addSchedules(root: Command, exit: Exit): void {
  const schedules = root
    .command("schedules")
    .description("add, list and remove tasks that the daemon runs at certain times");
  addBrainFlags(schedules.command("add"))
    .description("run a task at certain times")
    .argument("<times>", 'minute, hour, day, month and day of the week, as cron has them: "0 7 * * 1"; or @daily')
    .argument("<task>", "what to do")
    .option("--on <hands>", HANDS_WORDS)
    .option("--agent <name>", "agent that does it, by name or uuid (default: bunny)")
    .option("--model <model>", "model that decides (default: the agent's)")
    .option("--workspace <folder>", "folder of the brain's machine to work in (default: the daemon's)")
    .addOption(
      new Option(
        "--missed <way>",
        "whether times that passed while the daemon was down get one run or none (default: once)",
      ).choices(["once", "skip"]),
    )
    .option(...JSON_FLAG)
    .action(async (times: string, task: string, flags) => exit(await (await load()).addSchedule(times, task, flags)));
  addBrainFlags(schedules.command("list"))
    .description("list schedules and when they are due next")
    .option(...JSON_FLAG)
    .action(async (flags) => exit(await (await load()).listSchedules(flags)));
  addBrainFlags(schedules.command("remove"))
    .description("remove a schedule; its runs stay")
    .argument("<id>", "id of the schedule, or the last characters of it")
    .option(...JSON_FLAG)
    .action(async (id: string, flags) => exit(await (await load()).removeSchedule(id, flags)));
}
