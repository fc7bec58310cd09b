import { negotiate, NDJSON_TYPE } from "@vidro/aon/boxes";
import { STREAM_LIMITS } from "@vidro/core";
import { encodeNdjson } from "@vidro/core/codec";
import { aonEntry } from "@vidro/core/wire/aon";
import type { Entry, JsonObject } from "@vidro/core";
import type { RouteCall } from "../../http/route.ts";
import type { RunEncoder } from "../../stream/run-encoder.ts";

/*
 * A run as an AON glass box: every entry is a line in AON's format, the last one is `result` or `error`. Live events
 * are left to other wires.
 */

/** Shows everything, for administrators and outside production. */
const WHOLE = glassEncoder((run, entry) => aonEntry(run, entry));

/** Shows only the decision of an analysed intent, for other callers. */
const REDUCED = glassEncoder((run, entry) => {
  const line = aonEntry(run, entry);
  if (entry.event.type !== "intent.analyzed") return line;
  const { decision } = entry.event;
  const { original_intent: _intent, detected_issue: _issue, ...rest } = line;
  return { ...rest, body: { decision } };
});

/** The glass box for a caller: in production only an administrator sees how an intent was analysed. */
export function glassFor({ caller }: Pick<RouteCall, "caller">, production: boolean): RunEncoder {
  return caller.admin || !production ? WHOLE : REDUCED;
}

/** Whether a request prefers a glass box to the route's own media types. */
export function wantsGlass({ headers }: Pick<RouteCall, "headers">): boolean {
  return negotiate(headers.accept) === "glass";
}

/** Whether a glass-box request comes from a person who can be asked about a stuck healing. */
export function wantsPerson({ headers }: Pick<RouteCall, "headers">): boolean {
  const mode = headers["x-crystal-mode"]?.toString().trim().toLowerCase();
  return mode === "interactive" && wantsGlass({ headers });
}

/** Whether a request accepts JSON and nothing that the route streams: it gets only the answer. */
export function wantsBlack({ headers: { accept = "" } }: Pick<RouteCall, "headers">): boolean {
  return negotiate(accept) === "black" && /\bapplication\/json\b/i.test(accept) && !/event-stream|\*\/\*/i.test(accept);
}

function glassEncoder(line: (run: string, entry: Entry) => JsonObject): RunEncoder {
  return {
    isShared: true,
    contentType: NDJSON_TYPE,
    // The contract has the server close the connection after the last event.
    headers: { connection: "close" },
    entry: (entry, run) => encodeNdjson({ ...line(run, entry), requestId: run }),
    live: () => undefined,
    begin: (run) => status(run, "Following the run."),
    heartbeat: (run) => status(run, "Still at it."),
    heartbeatMs: STREAM_LIMITS.glassHeartbeatMs,
    resync: (run, next) =>
      status(run, `Forget what you know of this run: it goes on with entry ${next}.`, { resync: next }),
    fault: ({ code, message }, run) => encodeStampedLine(run, { type: "error", code, message, trace_id: run }),
  };
}

function status(run: string, message: string, more: JsonObject = {}): string {
  return encodeStampedLine(run, { type: "status", message, ...more });
}

/** An AON line with timestamp and ids. The request id is that of the run, so that all followers get the same bytes. */
function encodeStampedLine(run: string, fields: JsonObject): string {
  return encodeNdjson({ ...fields, timestamp: Date.now(), run_id: run, requestId: run });
}
