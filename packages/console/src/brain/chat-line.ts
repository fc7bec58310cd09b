import { VidroError } from "@vidro/client";
import { CONSOLE_LIMITS, textIn } from "@vidro/core";
import { request } from "./connection.ts";
import { readListed } from "./listed-runs.ts";
import type { ListedRun } from "./listed-runs.ts";
import { editionsIn } from "../run/editions.ts";
import type { Editions } from "../run/editions.ts";

/** The runs of a conversation, oldest first: before those of its thread the ones that it was forked behind. */
export async function readChatLine(thread: string): Promise<readonly ListedRun[]> {
  const own = await readThread(thread);
  const [first] = own;
  return first === undefined ? own : [...(await earlierOf(first)), ...own];
}

const known = new Map<string, Promise<readonly ListedRun[]>>();

/** The runs before the first one of a thread; they never change, so that they are read once. */
function earlierOf(first: ListedRun): Promise<readonly ListedRun[]> {
  const earlier = known.get(first.id) ?? readEarlier(first);
  known.set(first.id, earlier);
  const [oldest] = known.size > CONSOLE_LIMITS.chatRuns ? known.keys() : [];
  if (oldest !== undefined) known.delete(oldest);
  return earlier.catch((thrown: unknown) => {
    known.delete(first.id);
    throw thrown;
  });
}

async function readEarlier(first: ListedRun): Promise<readonly ListedRun[]> {
  let earlier: readonly ListedRun[] = [];
  let from = first.forked?.run;
  for (let threads = 0; from !== undefined && threads < CONSOLE_LIMITS.chatRuns; threads += 1) {
    const thread = await threadOf(from);
    const runs = thread === undefined ? [] : await readThread(thread);
    const at = runs.findIndex(({ id }) => id === from);
    earlier = [...runs.slice(0, Math.max(0, at)), ...earlier];
    from = runs[0]?.forked?.run;
  }
  return earlier.slice(-CONSOLE_LIMITS.chatRuns);
}

async function readThread(thread: string): Promise<readonly ListedRun[]> {
  const runs = await readListed(`thread=${encodeURIComponent(thread)}&limit=${CONSOLE_LIMITS.chatRuns}`);
  return runs.toReversed();
}

/** The thread of a run; undefined when the run is gone or belongs to another owner. */
async function threadOf(run: string): Promise<string | undefined> {
  try {
    return textIn(await request("GET", `/v1/runs/${encodeURIComponent(run)}`), "thread");
  } catch (thrown) {
    if (thrown instanceof VidroError && thrown.code === "NOT_FOUND") return undefined;
    throw thrown;
  }
}

/** Reads which messages have several versions, among the last runs of the brain. */
export async function readEditions(): Promise<Editions> {
  return editionsIn(await readListed(`limit=${CONSOLE_LIMITS.runs}`));
}
