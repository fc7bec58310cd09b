import { Option } from "commander";
import type { Command } from "commander";
import { addBrainFlags, JSON_FLAG, RUN_ARGUMENT, VERBOSE_FLAG, YES_FLAG } from "./flags.ts";
import type { Exit } from "./flags.ts";
import { count } from "./numbers.ts";

const loadRuns = () => import("../commands/runs.ts");

/** Adds the commands about runs that there are. */
export function addRuns(root: Command, exit: Exit): void {
  const runs = root.command("runs").description("list, show, sum up, export, delete, abort, fork and replay runs");
  addBrainFlags(runs.command("list"))
    .description("list runs, newest first")
    .option("--open", "only runs that have not ended")
    .addOption(new Option("--limit <n>", "how many runs to list").argParser(count))
    .option("--after <id>", "only runs older than this one, to go on with a list")
    .option(...JSON_FLAG)
    .action(async (flags) => exit(await (await loadRuns()).listRuns(flags)));
  addBrainFlags(runs.command("show"))
    .description("show everything that happened in a run")
    .argument("[run]", RUN_ARGUMENT[1])
    .option("--last", "the newest run")
    .option(...JSON_FLAG)
    .option(...VERBOSE_FLAG)
    .action(async (run: string | undefined, flags) => exit(await (await loadRuns()).printRun(run, flags)));
  addBrainFlags(runs.command("export"))
    .description("write all journal entries of a run as NDJSON")
    .argument(...RUN_ARGUMENT)
    .option("--out <file>", "new file to write (default: stdout)")
    .action(async (run: string, flags) => exit(await (await loadRuns()).exportRun(run, flags)));
  addBrainFlags(runs.command("usage"))
    .description("sum up tokens and costs of models by day, thread or run")
    .addOption(new Option("--by <what>", "what to sum up by").choices(["day", "thread", "run"]).default("day"))
    .addOption(new Option("--days <n>", "only the last so many days (default: 30)").argParser(count))
    .option(...JSON_FLAG)
    .action(async (flags) => exit(await (await import("../commands/usage.ts")).printUsage(flags)));
  runs
    .command("prune")
    .description("delete ended runs of this home that are older than so many days")
    .addOption(new Option("--older-than <days>", "days since the last entry").argParser(count).makeOptionMandatory())
    .option("--export <folder>", "write each run there as NDJSON before it is deleted")
    .option("--dry-run", "only say how many there are")
    .action(async (flags) => exit(await (await import("../commands/prune-runs.ts")).pruneRuns(flags)));
  addBrainFlags(runs.command("abort"))
    .description("abort an open run")
    .argument(...RUN_ARGUMENT)
    .action(async (run: string, flags) => exit(await (await loadRuns()).abortRun(run, flags)));
  addBrainFlags(runs.command("fork"))
    .description("start a run with the prompt of another one up to an entry; nothing that was done is done again")
    .argument(...RUN_ARGUMENT)
    .argument("[words...]", "what the model is told next")
    .addOption(new Option("--at <seq>", "number of the entry (default: the last one)").argParser(count))
    .option("--model <model>", "model that decides (default: that of the run)")
    .option(...JSON_FLAG)
    .option(...YES_FLAG)
    .option("--quiet", "print only the answer")
    .option(...VERBOSE_FLAG)
    .action(async (run: string, words: string[], flags) =>
      exit(await (await import("../commands/runs/fork.ts")).forkRunAt(run, words, flags)),
    );
  addBrainFlags(runs.command("replay"))
    .description("ask another model at each decision of a run and show where it decides otherwise; runs nothing")
    .argument(...RUN_ARGUMENT)
    .requiredOption("--model <model>", "the other model")
    .option(...JSON_FLAG)
    .action(async (run: string, flags) =>
      exit(await (await import("../commands/runs/replay.ts")).replayRunWith(run, flags)),
    );
}
