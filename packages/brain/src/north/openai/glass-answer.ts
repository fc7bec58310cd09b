import { encodeNdjson } from "@vidro/core/codec";
import type { Entry } from "@vidro/core";
import type { RunEncoder } from "../../stream/run-encoder.ts";
import { completion, answerEnding, AnswerText } from "./answer.ts";
import type { AnswerContext } from "./answer.ts";
import type { AnswerEncoder } from "./stream-answer.ts";

/** An answer as a glass box: every event of the run, and at the end the answer that a black box would have sent. */
export function glassAnswer(answering: AnswerContext, glass: RunEncoder): AnswerEncoder {
  const words = new AnswerText();
  let isEnded = false;
  const result = (entry: Entry): string | undefined => {
    const ending = answerEnding(entry, answering.run);
    if (ending === undefined) return undefined;
    const { run } = answering;
    const data = completion(answering, ending, words);
    return encodeNdjson({ type: "result", data, seq: entry.seq, timestamp: entry.at, run_id: run, requestId: run });
  };
  return {
    ...glass,
    get isEnded() {
      return isEnded;
    },
    entry(entry, run) {
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
