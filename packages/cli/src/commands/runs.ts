import { open } from "node:fs/promises";
import { asFault, Fault, HELPER_LIMITS, helperThread, parentOfThread, TERMINAL_LIMITS } from "@vidro/core";
import { countWords, oneLine, SHORT_ID_CHARS, spanWords } from "@vidro/core/text";
import type { RunHead, RunStatus } from "@vidro/core";
import type { BrainFlags } from "../brain-api/brain-address.ts";
import type { BrainRuns } from "../brain-api/brain-api.ts";
import { withBrainApi } from "../brain-api/open-brain-api.ts";
import { EXIT } from "../program/exit-codes.ts";
import { findRun, lastRun } from "../brain-api/find-run.ts";
import { entryLine } from "../view/json-lines.ts";
import { paint, paintWord, terminalSymbols } from "../view/symbols.ts";
import { printedScreen } from "../view/show-run.ts";
import { waitForReader, print, say, writeJson, writeLine } from "../program/output.ts";

const TASK_CHARS = 70;
const COLOURS = { running: "cyan", asking: "yellow", finished: "green", failed: "red", aborted: "dim" } as const;
const STATUS_CHARS = 8;
const AGE_CHARS = 12;

/** Lists runs, newest first. */
export async function listRuns(
  flags: BrainFlags & {
    readonly json?: boolean;
    readonly open?: boolean;
    readonly limit?: number;
    readonly after?: string;
  },
): Promise<number> {
  const { limit = TERMINAL_LIMITS.listedRuns, after } = flags;
  return withBrainApi(flags, async ({ runs }) => {
    const place = after === undefined ? {} : { after: (await findRun(runs, after)).id };
    const heads = await runs.list({ limit, ...place, ...(flags.open === true ? { open: true } : {}) });
    if (flags.json === true) for (const head of heads) await afterReader(() => writeJson(headLine(head)));
    else for (const line of runRows(heads)) await afterReader(() => print(line));
    const damaged = heads.filter((head) => head.damaged !== undefined).length;
    if (damaged > 0) say(`${countWords(damaged, "run")} of these cannot be read. See where: vidro audit verify`);
    if (heads.length === 0 && flags.json !== true) {
      say(flags.open === true ? "No run is open." : 'No runs yet. Start one: vidro run "how much disk is free here?"');
    }
    return EXIT.ok;
  });
}

async function afterReader(write: () => void): Promise<void> {
  await waitForReader();
  write();
}

/** Prints everything that happened in a run, as the journal has it. */
export async function printRun(
  given: string | undefined,
  flags: BrainFlags & { readonly json?: boolean; readonly verbose?: boolean; readonly last?: boolean },
): Promise<number> {
  if ((given === undefined) !== (flags.last === true))
    throw new Fault("BAD_REQUEST", "Name the run, or give --last for the newest one: one of both.");
  return withBrainApi(flags, async ({ runs }) => {
    const { id, status } = given === undefined ? await lastRun(runs) : await findRun(runs, given);
    const screen = await printedScreen(id, flags);
    for await (const entry of runs.entries(id)) {
      screen.entry(entry);
      await waitForReader();
    }
    screen.close();
    if (flags.json !== true) for (const line of await helperRows(runs, id)) await afterReader(() => print(line));
    if (flags.json !== true) say(paint("dim", `${id} is ${status}.`, process.stderr));
    return EXIT.ok;
  });
}

/** Writes every entry of a run as NDJSON to stdout or to a new file. */
export async function exportRun(given: string, flags: BrainFlags & { readonly out?: string }): Promise<number> {
  return withBrainApi(flags, async ({ runs }) => {
    const { id } = await findRun(runs, given);
    if (flags.out === undefined || flags.out === "-") {
      for await (const entry of runs.entries(id)) {
        writeLine(entryLine(id, entry));
        await waitForReader();
      }
      return EXIT.ok;
    }
    // Readable by its owner alone, since a run may hold anything; an existing file is not replaced.
    const file = await open(flags.out, "wx", 0o600).catch((thrown: unknown) => {
      throw asFault(thrown, "BAD_REQUEST");
    });
    let entries = 0;
    try {
      for await (const entry of runs.entries(id)) {
        await file.write(entryLine(id, entry));
        entries += 1;
      }
      await file.sync();
    } finally {
      await file.close();
    }
    say(`${id} is in ${flags.out}: ${countWords(entries, "line")}.`);
    return EXIT.ok;
  });
}

/** Aborts an open run. */
export async function abortRun(given: string, flags: BrainFlags): Promise<number> {
  return withBrainApi(flags, async ({ runs }) => {
    const { id } = await findRun(runs, given);
    await runs.abort(id, "vidro runs abort");
    say(`${id} is aborted.`);
    return EXIT.ok;
  });
}

/** Runs as the rows of a list under their headings; none without runs. */
export function runRows(heads: readonly RunHead[]): readonly string[] {
  const heading = ["RUN".padEnd(SHORT_ID_CHARS), "STATUS".padEnd(STATUS_CHARS), "STARTED".padStart(AGE_CHARS), "TASK"];
  return heads.length === 0 ? [] : [paint("dim", heading.join("  ")), ...heads.map(row)];
}

/** The helpers of a run, and those below them, as a tree; none without helpers. */
async function helperRows(runs: Pick<BrainRuns, "list">, run: string, depth = 0): Promise<readonly string[]> {
  if (depth >= HELPER_LIMITS.depth) return [];
  const heads = await runs.list({ thread: helperThread(run), limit: HELPER_LIMITS.perRun });
  const rows: string[] = [];
  for (const { id, status, task } of heads.toReversed()) {
    const place = `${"   ".repeat(depth)}${terminalSymbols().below}`;
    const state = paintWord(COLOURS, oneLine(status, TASK_CHARS), STATUS_CHARS);
    rows.push(`${place} ${paint("bold", id.slice(-SHORT_ID_CHARS))}  ${state}  ${oneLine(task, TASK_CHARS)}`);
    rows.push(...(await helperRows(runs, id, depth + 1)));
  }
  return rows;
}

function row({ id, thread, status, task, startedAt, damaged }: RunHead): string {
  const mark = parentOfThread(thread) === undefined ? "" : `${terminalSymbols().below} `;
  const age = `${spanWords(Math.max(0, Date.now() - startedAt))} ago`;
  return [
    paint("bold", id.slice(-SHORT_ID_CHARS)),
    damaged === undefined
      ? paintWord(COLOURS, oneLine(status, TASK_CHARS), STATUS_CHARS)
      : paint("red", "damaged".padEnd(STATUS_CHARS)),
    paint("dim", age.padStart(AGE_CHARS)),
    `${mark}${oneLine(task, TASK_CHARS)}`,
  ].join("  ");
}

function headLine({ id, thread, status, seq, startedAt, updatedAt, task, damaged }: RunHead): {
  readonly run_id: string;
  readonly status: RunStatus;
  readonly [field: string]: unknown;
} {
  const parent = parentOfThread(thread);
  return {
    run_id: id,
    ...(parent === undefined ? {} : { parent_run_id: parent }),
    thread_id: thread,
    status,
    seq,
    started_at: startedAt,
    updated_at: updatedAt,
    task,
    ...(damaged === undefined ? {} : { damaged }),
  };
}
