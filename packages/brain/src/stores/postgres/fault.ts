import { Fault, isObject } from "@vidro/core";
import type { FaultCode } from "@vidro/core";

/** Classes and codes (SQLSTATE) of a server that cannot be talked to now: it stops, starts, or has no room. */
const LOST = ["08", "57P", "53300"];
/** Another transaction was in the way: the same statement succeeds when it is repeated. */
const COLLIDED: ReadonlySet<string> = new Set(["40001", "40P01"]);
/** The statement waited too long for the server or for a lock, and was not carried out. */
const TIMED_OUT: ReadonlySet<string> = new Set(["57014", "55P03"]);
/** A standby, or a server that was set to refuse writes. */
const READ_ONLY = "25006";
/** Text with NUL, or a name too long for an index. */
const BAD_TEXT: ReadonlySet<string> = new Set(["22021", "54000", "22P05"]);
const NO_ROOM: ReadonlySet<string> = new Set(["53100", "53200"]);
/** Failures to connect: nothing was sent. */
const NOT_CONNECTED: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOENT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "57P03",
  "53300",
]);
const NOT_CONNECTED_WORDS = /timeout exceeded when trying to connect|timeout expired/u;

/** How an error of PostgreSQL or of the link to it is met. */
type PostgresTrouble =
  /** The link is gone after the statement may have been sent: it may have been carried out. */
  | "doubtful"
  /** No link could be made, or the server refuses writes now. */
  | "unreachable"
  /** The statement was not carried out and can be repeated at once. */
  | "collided"
  /** A fault that a repetition does not heal. */
  | "final";

/** How an error is met. */
export function troubleOf(thrown: unknown): PostgresTrouble {
  const code = codeOf(thrown);
  if (code === undefined) return isOfLink(thrown) ? "doubtful" : "final";
  if (COLLIDED.has(code)) return "collided";
  if (NOT_CONNECTED.has(code) || code === READ_ONLY) return "unreachable";
  if (TIMED_OUT.has(code)) return "final";
  if (isSqlState(code)) return LOST.some((start) => code.startsWith(start)) ? "doubtful" : "final";
  return NOT_CONNECTED_WORDS.test(wordsOf(thrown)) ? "unreachable" : "doubtful";
}

/** Turns an error of PostgreSQL or of the link to it into a Fault. `name` is the store as people know it. */
export function postgresFault(thrown: unknown, name: string): Fault {
  if (thrown instanceof Fault) return thrown;
  const said = wordsOf(thrown);
  const fault = (code: FaultCode, message: string): Fault => new Fault(code, message, { cause: thrown });
  const code = codeOf(thrown) ?? "";
  if (NO_ROOM.has(code)) return fault("STORAGE_FULL", `${name} has no room left: ${said}.`);
  if (TIMED_OUT.has(code)) return fault("STORE_BUSY", `${name} did not answer in time: ${said}.`);
  if (BAD_TEXT.has(code)) return fault("BAD_REQUEST", `${name} cannot keep this text: ${said}.`);
  if (troubleOf(thrown) === "final") return fault("STORE_UNREADABLE", `${name} cannot be used: ${said}.`);
  return fault("STORE_UNREACHABLE", `${name} cannot be reached: ${said}.`);
}

/** The fault of a write whose reply was lost and that could not be looked up since. */
export function unknownWrite(thrown: unknown, name: string): Fault {
  const message = `The link to ${name} was lost (${wordsOf(thrown)}); the write may have been recorded or not.`;
  return new Fault("COMMIT_UNKNOWN", message, { cause: thrown });
}

/** Errors of the pg client itself have no code, and name the connection. */
function isOfLink(thrown: unknown): boolean {
  return thrown instanceof Error && /connection|query read timeout|not queryable/iu.test(thrown.message);
}

function isSqlState(code: string): boolean {
  return /^[0-9A-Z]{5}$/u.test(code) && /\d/u.test(code);
}

function codeOf(thrown: unknown): string | undefined {
  const code = isObject(thrown) ? thrown["code"] : undefined;
  if (typeof code === "string") return code;
  // A name with several addresses: each attempt has an error of its own.
  const first: unknown = thrown instanceof AggregateError ? thrown.errors[0] : undefined;
  return first === undefined ? undefined : codeOf(first);
}

function wordsOf(thrown: unknown): string {
  const words = thrown instanceof Error ? thrown.message || codeOf(thrown) : String(thrown);
  return (words ?? "").replace(/\.$/u, "");
}
