import type { ServerResponse } from "node:http";
import { Fault } from "@vidro/core";
import type { Runs } from "../../run/runs.ts";
import { streamRun } from "../../stream/run-stream.ts";
import type { RunEncoder } from "../../stream/run-encoder.ts";
import type { RunStream } from "../../stream/run-stream.ts";

/** Encoder of one streamed answer; unlike other encoders it has state and belongs to one request. */
export interface AnswerEncoder extends RunEncoder {
  /** Whether the answer is over, although its run may go on. */
  readonly isEnded: boolean;
}

/** The answer to stream. */
interface AnswerStream {
  readonly runs: Runs;
  readonly run: string;
  readonly after: number;
  readonly encoder: AnswerEncoder;
  readonly signal: AbortSignal;
}

/** Streams an answer; its run goes on when the client disconnects. */
export async function streamAnswer(response: ServerResponse, what: AnswerStream): Promise<void> {
  const { runs, encoder } = what;
  await streamRun(response, { ...what, runs: untilEnded(runs, encoder), encoder: withFaultAtEnd(encoder, what.run) });
}

/** Runs whose followers see nothing beyond the answer. */
function untilEnded(runs: Runs, encoder: AnswerEncoder): RunStream["runs"] {
  return {
    find: (run, owner) => runs.find(run, owner),
    read: (run, after, limit) => runs.read(run, after, limit),
    async *followInBatches(run, after, signal) {
      if (encoder.isEnded) return;
      for await (const batch of runs.followInBatches(run, after, signal)) {
        // One item at a time: only the encoder knows what ends the answer, and it must see nothing beyond that.
        for (const followed of batch) {
          yield [followed];
          if (encoder.isEnded) return;
        }
      }
    },
  };
}

/** The encoder of an answer, with a fault as its end when the brain stops before the answer has ended. */
function withFaultAtEnd(encoder: AnswerEncoder, run: string): RunEncoder {
  const unfinished = (): string => encoder.fault?.(new Fault("SHUTTING_DOWN").report(), run) ?? "";
  return {
    contentType: encoder.contentType,
    heartbeat: encoder.heartbeat,
    heartbeatMs: encoder.heartbeatMs,
    begin: () => encoder.begin?.(run) ?? "",
    entry: (entry) => encoder.entry(entry, run),
    live: (live, after) => encoder.live(live, after, run),
    resync: (_run, next) => encoder.resync?.(run, next) ?? "",
    fault: (fault) => encoder.fault?.(fault, run) ?? "",
    end: () => (encoder.isEnded ? "" : unfinished()),
  };
}
