import { Fault, MINUTE_MS } from "@vidro/core";
import type { Budget } from "@vidro/core";
import type { BrainFlags } from "../brain-api/brain-address.ts";
import { withBrainApi } from "../brain-api/open-brain-api.ts";
import { modelOf } from "../program/model-flags.ts";
import type { ModelFlags } from "../program/model-flags.ts";
import { commandConfig } from "../program/settings.ts";
import { requireFolder } from "../program/require-folder.ts";
import { sayBrain, showRun } from "../view/show-run.ts";
import type { ShowFlags } from "../view/show-run.ts";
import { readTask } from "../program/read-task.ts";
import { say } from "../program/output.ts";

/** Flags of `vidro run`. */
interface RunFlags extends ShowFlags, BrainFlags, ModelFlags {
  readonly workspace?: string;
  readonly agent?: string;
  /** Selector of its hands. */
  readonly on?: string;
  readonly thread?: string;
  readonly key?: string;
  readonly maxSteps?: number;
  readonly maxActions?: number;
  readonly maxTokens?: number;
  readonly maxMinutes?: number;
  readonly maxCost?: number;
  readonly maxThreadCost?: number;
}

/** Runs a task and shows it to its end. */
export async function run(words: readonly string[], flags: RunFlags): Promise<number> {
  const task = await readTask(words);
  const workspace = requireFolder(flags.workspace ?? ".");
  if (flags.workspace !== undefined && commandConfig({ url: flags.url }).get("url") !== undefined)
    throw new Fault("BAD_REQUEST", "A brain that is named works in its own folder: leave --workspace out.");
  return withBrainApi(flags, async (brain) => {
    const { runs } = brain;
    sayBrain(brain, flags);
    const started = await runs.start({
      task,
      workspace,
      budget: budgetOf(flags),
      ...modelOf(flags),
      ...(flags.agent === undefined ? {} : { agent: flags.agent }),
      ...(flags.on === undefined ? {} : { hand: flags.on }),
      ...(flags.thread === undefined ? {} : { thread: flags.thread }),
      ...(flags.key === undefined ? {} : { key: flags.key }),
    });
    if (started.existed && flags.quiet !== true) say(`This key belongs to ${started.run.id}; it is not started again.`);
    return showRun(runs, { id: started.run.id, after: 0 }, flags);
  });
}

function budgetOf(flags: RunFlags): Partial<Budget> {
  const { maxSteps, maxActions, maxTokens, maxMinutes, maxCost, maxThreadCost } = flags;
  return {
    ...(maxSteps === undefined ? {} : { steps: maxSteps }),
    ...(maxActions === undefined ? {} : { actions: maxActions }),
    ...(maxTokens === undefined ? {} : { tokens: maxTokens }),
    ...(maxCost === undefined ? {} : { costUsd: maxCost }),
    ...(maxThreadCost === undefined ? {} : { threadCostUsd: maxThreadCost }),
    ...(maxMinutes === undefined ? {} : { wallMs: maxMinutes * MINUTE_MS }),
  };
}
