import { FOLLOW_LIMITS } from "@vidro/core";
import type { RunStatus } from "@vidro/core";
import { chainCheck } from "../hash-chain.ts";
import type { ChainLink } from "../hash-chain.ts";
import { isCorrupt } from "./fault.ts";
import type { JournalTables } from "./rows.ts";
import { noSuchRun, statusAfter } from "../run-rules.ts";
import { parseEvent, whyUnknown } from "../stored-event.ts";
import type { ChainReport } from "../stored-event.ts";

/** Checks the whole chain of a run, up to the `seq` of its row; NOT_FOUND when there is no run. */
export function verifyChain(run: string, rows: JournalTables): ChainReport {
  const stands = rows.status(run);
  if (stands === undefined) throw noSuchRun(run);
  const check = chainCheck(run);
  let entries = 0;
  let status: RunStatus = "running";
  for (;;) {
    const links = soundLinks(run, entries + 1, rows);
    if (typeof links === "string") return { entries, brokenAt: entries + 1, reason: links };
    if (links.length === 0) break;
    for (const link of links) {
      const reason = check(link) ?? whyUnknown(run, link);
      if (reason !== undefined) return { entries, brokenAt: entries + 1, reason };
      status = statusAfter(status, parseEvent(run, link));
      entries += 1;
    }
  }
  // A chain does not show that its end was cut off; the `seq` in the run's row does.
  if (status === stands && entries > 0) return { entries };
  return { entries, brokenAt: entries + 1, reason: `the run is ${stands}, but entry ${entries + 1} is missing` };
}

/** The next entries up to a damaged page; the reason when not even the first can be read. */
function soundLinks(run: string, from: number, rows: JournalTables): readonly ChainLink[] | string {
  for (const limit of [FOLLOW_LIMITS.batch, 1]) {
    try {
      return rows.links(run, from, limit);
    } catch (thrown) {
      if (!isCorrupt(thrown)) throw thrown;
    }
  }
  return "the page of the file that it lies in is damaged";
}
