import { isObject } from "@vidro/core";
import type { Entry, Event, Json, LiveEvent } from "@vidro/core";
import { faultField } from "./refusal.ts";
import { VidroError } from "./vidro-error.ts";

/** An item of a run's stream: an entry of its journal, or a live event after entry `after`. */
export type RunStreamItem = { readonly entry: Entry } | { readonly live: LiveEvent; readonly after: number };

/**
 * An event of a run, as one union over `type`: a journal event with its `seq`, which counts from 1 without gaps, or a
 * live event after entry `after`, which may be missing.
 */
export type RunEvent =
  | (Event & { readonly seq: number; readonly at: number })
  | (LiveEvent & { readonly after: number });

/** Reads a line of a run's stream; undefined for a heartbeat. Throws when the line ends the stream with a fault. */
export function readRunStreamItem(line: Json): RunStreamItem | undefined {
  if (!isObject(line)) throw new VidroError("BAD_ANSWER", "A line of the run's events is no object.");
  const { seq, at, event, live, after, fault, resync } = line;
  if (isCount(seq) && isCount(at) && isTyped(event)) return { entry: { seq, at, event: event as unknown as Event } };
  if (isCount(after) && isTyped(live)) return { live: live as unknown as LiveEvent, after };
  if (isObject(fault))
    throw new VidroError(faultField(fault, "code") ?? "BAD_ANSWER", faultField(fault, "message") ?? "");
  if (resync !== undefined)
    throw new VidroError(
      "CONFLICT",
      "The brain no longer has what was seen of this run: follow it from the beginning.",
    );
  return undefined;
}

/** The same as one flat event. */
export function runEventOf(item: RunStreamItem): RunEvent {
  if ("live" in item) return { ...item.live, after: item.after };
  const { seq, at, event } = item.entry;
  return { ...event, seq, at };
}

function isCount(value: Json | undefined): value is number {
  return Number.isSafeInteger(value);
}

function isTyped(value: Json | undefined): boolean {
  return isObject(value) && typeof value["type"] === "string";
}
