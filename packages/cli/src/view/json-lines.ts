import { jsonLine } from "@vidro/core/text";
import { aonEntry, aonLive } from "@vidro/core/wire/aon";
import type { Entry, LiveEvent } from "@vidro/core";

/** An entry as a line of NDJSON in AON's words. */
export function entryLine(run: string, entry: Entry): string {
  return jsonLine(aonEntry(run, entry));
}

/** A live event as a line of NDJSON in AON's words. */
export function liveLine(run: string, event: LiveEvent, at: number): string {
  return jsonLine(aonLive(run, event, at));
}
