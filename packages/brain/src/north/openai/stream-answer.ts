import type { ServerResponse } from "node:http";
import { Fault } from "@vidro/core";
import type { Runs } from "../../run/runs.ts";
import { streamRun } from "../../stream/run-stream.ts";
import type { RunEncoder } from "../../stream/run-encoder.ts";
import type { RunStream } from "../../stream/run-stream.ts";

/** An answer as it is written piece by piece; unlike other encoders it belongs to one request. */
export interface AnswerEncoder extends RunEncoder {
  /** Whether the answer is over, although its run may go on. */
  readonly isEnded: boolean;
}

/** Which answer is written, and to whom. */
interface AnswerStream {
  readonly runs: Runs;
  readonly run: string;
  readonly after: number;
  readonly encoder: AnswerEncoder;
  readonly signal: AbortSignal;
}

/** Writes an answer as it comes; its run goes on when nobody reads any more. */
export async function streamAnswer(response: ServerResponse, what: AnswerStream): Promise<void> {
  const { runs, encoder } = what;
  await streamRun(response, { ...what, runs: untilEnded(runs, encoder), encoder: ending(encoder, what.run) });
}

/** Runs whose followers see no more than the answer. */
function untilEnded(runs: Runs, encoder: AnswerEncoder): RunStream["runs"] {
  return {
    find: (run, owner) => runs.find(run, owner),
    read: (run, after, limit) => runs.read(run, after, limit),
    async *followInBatches(run, after, signal) {
      if (encoder.isEnded) return;
      for await (const batch of runs.followInBatches(run, after, signal)) {
        // One at a time: only the encoder knows what ends the answer, and it must see nothing beyond that.
        for (const followed of batch) {
          yield [followed];
          if (encoder.isEnded) return;
        }
      }
    },
  };
}

/** The encoder of an answer, which says so when the brain stops before the answer has ended. */
function ending(encoder: AnswerEncoder, run: string): RunEncoder {
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
