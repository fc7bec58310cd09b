import { negotiate, NDJSON_TYPE } from "@vidro/aon/boxes";
import { STREAM_LIMITS } from "@vidro/core";
import { encodeNdjson } from "@vidro/core/codec";
import { aonEntry } from "@vidro/core/wire/aon";
import type { Entry, JsonObject } from "@vidro/core";
import type { RouteCall } from "../../http/route.ts";
import type { RunEncoder } from "../../stream/run-encoder.ts";

/*
 * A run through the glass box: every entry is a line in AON's words, the last one is `result` or `error`. What is only
 * live is left to the wires that are made for it.
 */

/** Everything, for administrators and outside production. */
const WHOLE = glassEncoder((run, entry) => aonEntry(run, entry));

/** Of an analysed intent only what was decided, for everybody else. */
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

/** Whether a request would rather watch a glass box than have what the route gives by itself. */
export function wantsGlass({ headers }: Pick<RouteCall, "headers">): boolean {
  return negotiate(headers.accept) === "glass";
}

/** Whether a request through the glass box comes from a person who can be asked when a healing is stuck. */
export function wantsPerson({ headers }: Pick<RouteCall, "headers">): boolean {
  const mode = headers["x-crystal-mode"]?.toString().trim().toLowerCase();
  return mode === "interactive" && wantsGlass({ headers });
}

/** Whether a request names JSON and nothing that the route streams: it wants the answer and not the way. */
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
    fault: ({ code, message }, run) => stamped(run, { type: "error", code, message, trace_id: run }),
  };
}

function status(run: string, message: string, more: JsonObject = {}): string {
  return stamped(run, { type: "status", message, ...more });
}

/** One run is one request to AON, however many connections watch it, so that they can all be sent the same bytes. */
function stamped(run: string, fields: JsonObject): string {
  return encodeNdjson({ ...fields, timestamp: Date.now(), run_id: run, requestId: run });
}
