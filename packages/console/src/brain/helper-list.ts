import { HELPER_LIMITS, helperThread } from "@vidro/core";
import type { RunHead } from "@vidro/core";
import { vidro } from "./connection.ts";

/** A run that helps another one, and how many runs are between them. */
export interface HelperRow {
  readonly run: RunHead;
  readonly depth: number;
}

/** The helpers of a run, oldest first, each followed by those below it. */
export async function readHelpers(run: string, depth = 0): Promise<readonly HelperRow[]> {
  if (depth >= HELPER_LIMITS.depth) return [];
  const heads = await vidro.list({ thread: helperThread(run), limit: HELPER_LIMITS.perRun });
  const below = await Promise.all(
    heads.toReversed().map(async (head) => [{ run: head, depth }, ...(await readHelpers(head.id, depth + 1))]),
  );
  return below.flat();
}
