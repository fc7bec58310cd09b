import { NDJSON_TYPE } from "@vidro/aon/boxes";
import { encodeNdjson, encodeSse, SSE_HEARTBEAT, STREAM } from "@vidro/core";
import type { Json } from "@vidro/core";
import type { RunEncoder } from "./stream.ts";

/*
 * The journal as it is: `{seq, at, event}` for what is kept, `{after, live}` for what is not. Anything else on the wire
 * is about the stream itself and has neither `event` nor `live`.
 */

type Frame = (value: Json, id?: string) => string;

const sse: Frame = (value, id) => encodeSse({ ...(id === undefined ? {} : { id }), data: JSON.stringify(value) });
const ndjson: Frame = (value) => encodeNdjson(value);

/** How the raw journal goes over a wire, with or without what is only live. */
export const JOURNAL_ENCODERS = {
  sse: { live: sseEncoder(true), kept: sseEncoder(false) },
  ndjson: { live: ndjsonEncoder(true), kept: ndjsonEncoder(false) },
} as const;

function sseEncoder(live: boolean): RunEncoder {
  return {
    isShared: true,
    ...entriesAs(sse, live),
    contentType: "text/event-stream",
    begin: () => `retry: ${STREAM.retryMs}\n\n`,
    heartbeat: SSE_HEARTBEAT,
    heartbeatMs: STREAM.sseHeartbeatMs,
  };
}

function ndjsonEncoder(live: boolean): RunEncoder {
  return {
    isShared: true,
    ...entriesAs(ndjson, live),
    contentType: NDJSON_TYPE,
    heartbeat: ndjson({ heartbeat: true }),
    heartbeatMs: STREAM.glassHeartbeatMs,
  };
}

function entriesAs(frame: Frame, live: boolean): Pick<RunEncoder, "entry" | "live" | "resync" | "fault"> {
  return {
    entry: ({ seq, at, event }) => frame({ seq, at, event: event as unknown as Json }, String(seq)),
    live: (event, after) => (live ? frame({ after, live: event as unknown as Json }) : undefined),
    resync: (_run, next) => frame({ resync: next }),
    fault: ({ code, message }) => frame({ fault: { code, message } }),
  };
}
