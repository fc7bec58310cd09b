import { encodeNdjson } from "@vidro/core/codec";
import type { Entry, Json } from "@vidro/core";
import type { RunEncoder } from "../../stream/run-encoder.ts";
import { answerEnding, AnswerText } from "./answer.ts";
import type { WholeAnswer } from "./answer.ts";
import type { AnswerEncoder } from "./stream-answer.ts";

/** The run of an answer, and the answer as a black box would have sent it. */
interface GlassAnswer {
  readonly run: string;
  readonly shape: (whole: WholeAnswer) => Json;
}

/** An answer as a glass box: every event of the run, and at the end the answer that a black box would have sent. */
export function glassAnswer({ run, shape }: GlassAnswer, glass: RunEncoder): AnswerEncoder {
  const words = new AnswerText();
  let isEnded = false;
  const result = (entry: Entry): string | undefined => {
    const ending = answerEnding(entry, run);
    if (ending === undefined) return undefined;
    const data = shape({ ending, words });
    return encodeNdjson({ type: "result", data, seq: entry.seq, timestamp: entry.at, run_id: run, requestId: run });
  };
  return {
    ...glass,
    get isEnded() {
      return isEnded;
    },
    entry(entry) {
      words.add(entry);
      const line = glass.entry(entry, run);
      const { type } = entry.event;
      isEnded = type === "run.failed" || type === "run.aborted";
      if (isEnded) return line;
      const last = result(entry);
      if (last === undefined) return line;
      isEnded = true;
      // The end of a run is the result itself; a question is sent as its own event before the answer.
      return type === "run.finished" ? last : `${line ?? ""}${last}`;
    },
  };
}
