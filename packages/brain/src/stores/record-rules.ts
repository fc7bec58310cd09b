import { Buffer } from "node:buffer";
import { Fault, RECORD_LIMITS } from "@vidro/core";
import type { Json, JsonObject, NewRecord, Records, StoredRecord } from "@vidro/core";

/*
 * Rules for records that all stores share: bounds and version conflicts.
 */

/** Which records of a kind are listed. */
export type RecordFilter = Parameters<Records["list"]>[1];

/** The stored text of a record; PAYLOAD_TOO_LARGE beyond its bounds. */
export function recordText(record: NewRecord): string {
  for (const name of ["kind", "id", "owner"] as const) {
    if (record[name].length > RECORD_LIMITS.nameChars)
      throw new Fault(
        "PAYLOAD_TOO_LARGE",
        `The ${name} of a record has at most ${RECORD_LIMITS.nameChars} characters.`,
      );
  }
  const text = textOf(record);
  const bytes = Buffer.byteLength(text);
  if (bytes <= RECORD_LIMITS.bodyBytes) return text;
  const message = `${labelOf(record)} has ${bytes} bytes; at most ${RECORD_LIMITS.bodyBytes} are kept. Make it smaller.`;
  throw new Fault("PAYLOAD_TOO_LARGE", message);
}

function textOf(record: NewRecord): string {
  try {
    return JSON.stringify(record.body);
  } catch (cause) {
    throw new Fault("BAD_REQUEST", `${labelOf(record)} is nested too deeply to be kept.`, { cause });
  }
}

/** The body of a record from its stored text. */
export function recordBody(text: string): JsonObject {
  return JSON.parse(text);
}

/** Refuses with CONFLICT a change for another version than the stored one (0: there is no record). */
export function refuseUnlessVersion(record: NewRecord, found: number, expected: number | undefined): void {
  if (expected === undefined || expected === found) return;
  const standing = found === 0 ? "is not there" : `has version ${found}`;
  const detail: Json = { found, expected };
  throw new Fault("CONFLICT", `${labelOf(record)} ${standing}, not version ${expected}; read it again.`, { detail });
}

/** The fault for a list with a cursor that does not exist. */
export function noSuchPlace(kind: string, after: string): Fault {
  return new Fault("NOT_FOUND", `There is no ${kind} ${after} to list from; list from the beginning.`);
}

function labelOf(record: Pick<StoredRecord, "kind" | "id">): string {
  return `The ${record.kind} ${record.id}`;
}
