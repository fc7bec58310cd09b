import { NDJSON_TYPE } from "@vidro/aon/boxes";
import { STREAM_LIMITS } from "@vidro/core";
import { encodeNdjson, encodeSse, encodeSseRetry, SSE_HEARTBEAT } from "@vidro/core/codec";
import { aonEntry } from "@vidro/core/wire/aon";
import type { Json, JsonObject } from "@vidro/core";
import type { RunEncoder } from "../../stream/run-encoder.ts";

/*
 * The journal as it is: `{seq, at, event}` for entries, `{after, live}` for live events. Anything else on the wire is
 * about the stream itself and has neither `event` nor `live`. As NDJSON each line is also an AON event, which every
 * route gives to requests for this media type [001-05].
 */

/** Encoders of the raw journal, with and without live events. */
export const JOURNAL_ENCODERS = {
  sse: { live: sseEncoder(true), kept: sseEncoder(false) },
  ndjson: { live: ndjsonEncoder(true), kept: ndjsonEncoder(false) },
} as const;

function sseEncoder(live: boolean): RunEncoder {
  const frame = (value: Json, id?: string): string =>
    encodeSse({ ...(id === undefined ? {} : { id }), data: JSON.stringify(value) });
  return {
    isShared: true,
    contentType: "text/event-stream",
    entry: ({ seq, at, event }) => frame({ seq, at, event: event as unknown as Json }, String(seq)),
    live: (event, after) => (live ? frame({ after, live: event as unknown as Json }) : undefined),
    resync: (_run, next) => frame({ resync: next }),
    fault: ({ code, message }) => frame({ fault: { code, message } }),
    begin: () => encodeSseRetry(STREAM_LIMITS.retryMs),
    heartbeat: SSE_HEARTBEAT,
    heartbeatMs: STREAM_LIMITS.sseHeartbeatMs,
  };
}

function ndjsonEncoder(live: boolean): RunEncoder {
  return {
    isShared: true,
    contentType: NDJSON_TYPE,
    // The entry itself replaces AON's copy of it.
    entry({ seq, at, event }, run) {
      const { body: _, ...line } = aonEntry(run, { seq, at, event });
      return encodeNdjson({ ...line, at, event: event as unknown as Json });
    },
    live: (event, after, run) =>
      live ? status(run, `Live: ${event.type}.`, { after, live: event as unknown as Json }) : undefined,
    heartbeat: (run) => status(run, "Still at it.", { heartbeat: true }),
    heartbeatMs: STREAM_LIMITS.glassHeartbeatMs,
    resync: (run, next) =>
      status(run, `Forget what you know of this run: it goes on with entry ${next}.`, { resync: next }),
    fault({ code, message }, run) {
      const about = { timestamp: Date.now(), run_id: run, trace_id: run };
      return encodeNdjson({ type: "error", code, message, ...about, fault: { code, message } });
    },
  };
}

function status(run: string, message: string, more: JsonObject): string {
  return encodeNdjson({ type: "status", message, timestamp: Date.now(), run_id: run, ...more });
}
