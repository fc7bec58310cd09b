import { isEventType } from "@vidro/core";
import { jsonLine } from "@vidro/core/text";
import { aonEntry, aonLive } from "@vidro/core/wire/aon";
import type { Entry, LiveEvent } from "@vidro/core";

/** An entry as a line of NDJSON in AON's words. */
export function entryLine(run: string, entry: Entry): string {
  return jsonLine(isEventType(entry.event.type) ? aonEntry(run, entry) : unknownEntry(run, entry));
}

/** An event that only a newer brain knows: its type stands for the sentence, and its fields are passed on. */
function unknownEntry(run: string, { seq, at, event }: Entry): object {
  const { type, ...body } = event;
  return { type: "status", event: type, seq, timestamp: at, run_id: run, message: type, body };
}

/** A live event as a line of NDJSON in AON's words. */
export function liveLine(run: string, event: LiveEvent, at: number): string {
  return jsonLine(aonLive(run, event, at));
}
