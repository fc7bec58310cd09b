import { Fault, RUN } from "@vidro/core";
import type { Budget } from "@vidro/core";
import { namedBrain } from "../address.ts";
import type { BrainFlags } from "../address.ts";
import { withWaist } from "../brains.ts";
import { folderAt } from "../folder.ts";
import { showRun } from "../show.ts";
import type { ShowFlags } from "../show.ts";
import { say } from "../tell.ts";

/** What `vidro run` may be told besides the task. */
export interface RunFlags extends ShowFlags, BrainFlags {
  readonly workspace?: string;
  readonly agent?: string;
  readonly key?: string;
  readonly maxSteps?: number;
  readonly maxActions?: number;
  readonly maxTokens?: number;
  readonly maxMinutes?: number;
}

const MINUTE_MS = 60_000;
/** No character of UTF-8 takes more. */
const BYTES_PER_CHAR = 4;

/** Runs a task and shows it to its end. */
export async function run(words: readonly string[], flags: RunFlags): Promise<number> {
  const task = words.length === 1 && words[0] === "-" ? await taskFromStdin() : words.join(" ");
  const workspace = folderAt(flags.workspace ?? ".");
  if (flags.workspace !== undefined && namedBrain(flags, process.env) !== undefined)
    throw new Fault("BAD_REQUEST", "A brain that is named works in its own folder: leave --workspace out.");
  return withWaist({ ...flags, workspace }, async (waist) => {
    const started = await waist.start({
      task,
      workspace,
      budget: budgetOf(flags),
      ...(flags.agent === undefined ? {} : { agent: flags.agent }),
      ...(flags.key === undefined ? {} : { key: flags.key }),
    });
    if (started.existed && flags.quiet !== true) say(`This key belongs to ${started.run.id}; it is not started again.`);
    return showRun(waist, { id: started.run.id, after: 0 }, flags);
  });
}

function budgetOf({ maxSteps, maxActions, maxTokens, maxMinutes }: RunFlags): Partial<Budget> {
  return {
    ...(maxSteps === undefined ? {} : { steps: maxSteps }),
    ...(maxActions === undefined ? {} : { actions: maxActions }),
    ...(maxTokens === undefined ? {} : { tokens: maxTokens }),
    ...(maxMinutes === undefined ? {} : { wallMs: maxMinutes * MINUTE_MS }),
  };
}

async function taskFromStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > RUN.taskChars * BYTES_PER_CHAR) {
      throw new Fault("PAYLOAD_TOO_LARGE", `A task has at most ${RUN.taskChars} characters; stdin gave more.`);
    }
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    throw new Fault("BAD_REQUEST", "The task on stdin is not text: it is no UTF-8.", { cause });
  }
}
