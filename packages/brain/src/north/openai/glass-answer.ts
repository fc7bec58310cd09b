import { encodeNdjson } from "@vidro/core/codec";
import type { Entry } from "@vidro/core";
import type { RunEncoder } from "../../stream/run-encoder.ts";
import { completion, answerEnding, AnswerText } from "./answer.ts";
import type { AnswerContext } from "./answer.ts";
import type { AnswerEncoder } from "./stream-answer.ts";

/** An answer through the glass box: all that happens on the way, and at the end what the black box would have said. */
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
      // The end of a run is its result already; a question is not, and is told before the answer that it makes.
      return type === "run.finished" ? last : `${line ?? ""}${last}`;
    },
  };
}
