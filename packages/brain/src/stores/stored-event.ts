import { asFault, Fault, isEventType, isObject } from "@vidro/core";
import type { Event, Json } from "@vidro/core";
import type { ChainLink } from "./hash-chain.ts";

/** Result of a chain check: the number of sound entries, and why the next one is not sound. */
export interface ChainReport {
  readonly entries: number;
  readonly brokenAt?: number;
  readonly reason?: string;
}

/**
 * Parses the event of an entry; STORE_NEWER when its type is unknown to this version, JOURNAL_CORRUPT when it is no
 * event.
 */
export function parseEvent(run: string, link: ChainLink): Event {
  const event = parseBody(link.body);
  const type = isObject(event) ? event["type"] : undefined;
  if (isEventType(type)) return event as unknown as Event;
  if (typeof type !== "string")
    throw new Fault("JOURNAL_CORRUPT", `The journal of run ${run} is broken: entry ${link.seq} is no event.`);
  throw new Fault("STORE_NEWER", `Run ${run}: entry ${link.seq} has type ${type}, which this version does not know.`);
}

function parseBody(body: string): Json | undefined {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** Why the event of an entry cannot be read, if it cannot. */
export function whyUnknown(run: string, link: ChainLink): string | undefined {
  try {
    parseEvent(run, link);
    return undefined;
  } catch (thrown) {
    return asFault(thrown).message;
  }
}
