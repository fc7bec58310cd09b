import { liveText } from "../event.ts";
import type { Event, EventType, LiveEvent } from "../event.ts";
import { UNASKED_ANSWER } from "./answer-words.ts";
import { commandLine, oneLine } from "./printable.ts";
import type { Outcome } from "../tool.ts";
import { actionWords, byteWords, countWords, planWords, spanWords } from "./words.ts";

const LINE_CHARS = 200;
/** The longest name of a signal, and some more. */
const SIGNAL_CHARS = 32;

type EventOf = { readonly [Kind in EventType]: Extract<Event, { type: Kind }> };
type Sentences = { readonly [Kind in EventType]: (event: EventOf[Kind]) => string };

const SENTENCES: Sentences = {
  "run.started": ({ task, model }) => `Run started with ${model}: ${task}`,
  "intent.analyzed": ({ detectedIssue, decision }) => `${detectedIssue} ${decision}`,
  "model.called": ({ step, attempt, summary }) =>
    summary === true
      ? "The model sums up the conversation."
      : `Step ${step}: the model thinks${attempt > 1 ? ` (try ${attempt})` : ""}.`,
  "model.replied": ({ action, question, answer, text }) => {
    if (action !== undefined) return `The model wants: ${actionWords(action)}`;
    if (question !== undefined) return "The model wants to know something.";
    return answer === undefined ? `The model says: ${text}` : "The model has the answer.";
  },
  "model.failed": ({ fault }) => `The model failed: ${fault.message}`,
  "plan.made": ({ steps }) => `Plan: ${steps.join("; ")}`,
  "note.observed": ({ note }) => note,
  "knowledge.committed": ({ title }) => `Worth keeping: ${title}`,
  "tool.proposed": ({ tool }) => `The model proposes the tool ${tool.name}: ${commandLine(tool.argv ?? [])}`,
  "context.compacted": ({ dropped, kept, summarisedBy }) => {
    const by = summarisedBy === undefined ? "" : ` by ${summarisedBy}`;
    const rest = kept === undefined ? "" : `, ${countWords(kept, "turn")} kept`;
    return `The conversation grew long: ${countWords(dropped, "old turn")} summed up${by}${rest}.`;
  },
  "question.asked": ({ text }) => text,
  "question.answered": ({ answer, by, rule }) =>
    answer === UNASKED_ANSWER
      ? "No person could be asked, so it is not approved."
      : by === undefined
        ? "No answer in time."
        : `Answered by ${by}: ${answer === "" ? "nothing" : answer}${rule === undefined ? "" : ` (added rule ${rule}; undo: vidro policy remove ${rule})`}`,
  "remark.made": ({ by, text }) => `${by} says: ${text}`,
  "policy.judged": ({ plan, verdict }) =>
    `Policy says ${verdict.decision} (rule ${verdict.rule}, ${verdict.class}): ${planWords(plan)}`,
  "action.started": ({ action }) => `Running: ${actionWords(action)}`,
  "action.finished": ({ outcome }) => `Done: ${outcomeWords(outcome)}`,
  "action.failed": ({ fault }) => fault.message,
  "action.unknown": ({ fault }) => fault.message,
  "heal.tried": ({ description }) => description,
  "run.finished": () => "Finished.",
  "run.failed": ({ fault }) => fault.message,
  "run.aborted": ({ reason }) => `Aborted: ${reason}`,
};

/** An event as one sentence for people. */
export function eventSentence(event: Event): string {
  return oneLine(sentenceOf(event.type, event), LINE_CHARS);
}

function sentenceOf<Kind extends EventType>(kind: Kind, event: EventOf[Kind]): string {
  return SENTENCES[kind](event);
}

/** A live event as one line for people. */
export function liveSentence(event: LiveEvent): string {
  return oneLine(liveText(event), LINE_CHARS);
}

/** How an action ended: exit code, amount of output, time. */
export function outcomeWords(outcome: Outcome): string {
  if (outcome.kind === "value") return byteWords(new TextEncoder().encode(outcome.text).length);
  const { exitCode, signal, timedOut, stdout, stderr, durationMs } = outcome;
  const ended = signal === null ? `exit ${exitCode}` : `ended by ${oneLine(signal, SIGNAL_CHARS)}`;
  const amount = byteWords(stdout.bytes + stderr.bytes);
  return [timedOut ? "timed out" : ended, amount, spanWords(durationMs)].join(" · ");
}
