import type { FaultReport, Severity } from "./fault.ts";
import type { Json, JsonObject } from "./json.ts";
import type { Language } from "./text/language.ts";
import type { Action, ActionClass, Outcome, Plan, Receipt, ToolSpec, Verdict } from "./tool.ts";

/*
 * Everything that happens in a run is one of these. A durable event is an entry of the journal and is the truth;
 * a live event is a courtesy to whoever watches: dropping all of them changes no state.
 */

/** Something that happened and is kept. */
export type Event =
  | RunStarted
  | IntentAnalyzed
  | ModelCalled
  | ModelReplied
  | ModelFailed
  | PlanMade
  | NoteObserved
  | KnowledgeCommitted
  | ToolProposed
  | ContextCompacted
  | QuestionAsked
  | QuestionAnswered
  | PolicyJudged
  | ActionStarted
  | ActionFinished
  | ActionFailed
  | ActionUnknown
  | HealTried
  | RunFinished
  | RunFailed
  | RunAborted;

/** Something that is happening and is not kept. */
export type LiveEvent = ModelDelta | ActionOutput;

/** The name of a durable event. */
export type EventType = Event["type"];

const EVENT_TYPES: { readonly [Type in EventType]: true } = {
  "run.started": true,
  "intent.analyzed": true,
  "model.called": true,
  "model.replied": true,
  "model.failed": true,
  "plan.made": true,
  "note.observed": true,
  "knowledge.committed": true,
  "tool.proposed": true,
  "context.compacted": true,
  "question.asked": true,
  "question.answered": true,
  "policy.judged": true,
  "action.started": true,
  "action.finished": true,
  "action.failed": true,
  "action.unknown": true,
  "heal.tried": true,
  "run.finished": true,
  "run.failed": true,
  "run.aborted": true,
};

/** Whether this version knows events of that type: a journal with any other was written by a newer one, or altered. */
export function isEventType(type: unknown): type is EventType {
  return typeof type === "string" && Object.hasOwn(EVENT_TYPES, type);
}

/** The events after which nothing more happens in a run. */
export type TerminalEvent = RunFinished | RunFailed | RunAborted;

/** A durable event in its place: `seq` counts from 1 without a gap, `at` is in milliseconds since the epoch. */
export interface Entry {
  readonly seq: number;
  readonly at: number;
  readonly event: Event;
}

/** How much a run may use. */
export interface Budget {
  readonly steps: number;
  readonly actions: number;
  readonly tokens: number;
  /** Time at work; waiting for a person does not count. */
  readonly wallMs: number;
  /** How long a question waits before silence is the answer. */
  readonly answerMs?: number;
}

/** A person gave a task; everything that the run needs to know is here, so that it can be replayed anywhere. */
export interface RunStarted {
  readonly type: "run.started";
  readonly task: string;
  /** The persona's words, first in every prompt. */
  readonly system: string;
  readonly agent: string;
  readonly model: string;
  readonly hand: string;
  readonly workspace: string;
  readonly tools: readonly ToolSpec[];
  readonly budget: Budget;
  /** The conversation that this run continues. */
  readonly thread: string;
  /** What was said before in that conversation. */
  readonly history: readonly Turn[];
  /** What the model must or must not call; left to the model without it. */
  readonly choice?: ToolChoice;
  /** How the model draws its words; as the model has it by itself without it. */
  readonly sampling?: Sampling;
  /** A person is there who can be asked before a fault of the model is final. */
  readonly interactive?: true;
  /** Generation of the store that the run was made in; the first without it. */
  readonly generation?: number;
  /** Id of the token that the run was asked for with; none for the person at the brain's machine. */
  readonly startedWith?: string;
  /** Language of the task, in which people are asked; English without it. */
  readonly language?: Language;
}

/** No tool at all, any tool before the first answer, or the one of that name before the first answer. */
export type ToolChoice = "none" | "required" | { readonly tool: string };

/** How a model draws its words; what a model does not know it leaves alone. */
export interface Sampling {
  readonly temperature?: number;
  readonly topP?: number;
  /** Of one reply. */
  readonly maxTokens?: number;
  /** Words at which a reply ends. */
  readonly stop?: readonly string[];
  readonly repeatPenalty?: number;
}

/** The task was read and the ordinary way was changed. */
export interface IntentAnalyzed {
  readonly type: "intent.analyzed";
  readonly originalIntent: string;
  readonly detectedIssue: string;
  readonly decision: string;
}

/** Intent: the model is about to be called. */
export interface ModelCalled {
  readonly type: "model.called";
  readonly step: number;
  readonly attempt: number;
}

/** What the model used up. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** The model answered: at most one action, and what was left out of its answer is told back to it. */
export interface ModelReplied {
  readonly type: "model.replied";
  readonly model: string;
  readonly text: string;
  readonly usage: Usage;
  /** It ended because it was as long as it may be. */
  readonly cutShort?: true;
  /** The model calls tools natively: among its words, what looks like a line for the brain is prose. */
  readonly native?: true;
  /** Lines for the brain that had no effect, as the model sees them again: plans, notes, questions, examples. */
  readonly written?: string;
  /** The one action of this step. */
  readonly action?: Action;
  /** Why the action cannot even be tried; the model is told. */
  readonly refusal?: FaultReport;
  /** A call that only talks to us (plan, ask, …): it has no effect, but the model expects an answer to it. */
  readonly control?: Action;
  /** What the model wants to know from a person. */
  readonly question?: { readonly text: string; readonly options: readonly string[] };
  /** The end: the answer to the task. */
  readonly answer?: Json;
  /** What the model is told about the rest of its reply. */
  readonly told?: readonly string[];
}

/** The model gave no usable answer. */
export interface ModelFailed {
  readonly type: "model.failed";
  readonly attempt: number;
  readonly fault: FaultReport;
}

/** The model said what it means to do. */
export interface PlanMade {
  readonly type: "plan.made";
  readonly steps: readonly string[];
}

/** The model summed up what it saw. */
export interface NoteObserved {
  readonly type: "note.observed";
  readonly note: string;
}

/** The model found something worth keeping beyond this run. */
export interface KnowledgeCommitted {
  readonly type: "knowledge.committed";
  readonly title: string;
  readonly tags: readonly string[];
  readonly snippet: string;
  readonly status: string;
}

/** The model wants a tool that does not exist yet; a person approves it before it can be used. */
export interface ToolProposed {
  readonly type: "tool.proposed";
  readonly tool: ToolSpec;
}

/** The conversation grew too long for the model: its oldest turns were replaced by a digest. */
export interface ContextCompacted {
  readonly type: "context.compacted";
  /** How many of the oldest turns are now only in the digest. */
  readonly dropped: number;
  readonly digest: string;
}

/** What a question is about decides what its answer does. */
export type Question =
  | { readonly kind: "ask" }
  | Approval
  | { readonly kind: "tool"; readonly tool: ToolSpec }
  | { readonly kind: "call"; readonly call: Action }
  | { readonly kind: "unknown"; readonly action: string }
  | { readonly kind: "healing"; readonly fault: FaultReport }
  | { readonly kind: "restored"; readonly generation: number };

/** A plan that waits for a person; what journals of older versions lack may be missing. */
export interface Approval {
  readonly kind: "approval";
  readonly action: string;
  readonly hash: string;
  readonly policy: string;
  /** What the hash is of, whole. */
  readonly plan?: Plan;
  /** The host on which it would happen. */
  readonly hand?: string;
  readonly class?: ActionClass;
  readonly rule?: string;
}

/** A person is asked; the run waits. */
export interface QuestionAsked {
  readonly type: "question.asked";
  readonly id: string;
  readonly about: Question;
  readonly text: string;
  /** The answers that mean something; empty when any words will do. The first one is the way on. */
  readonly options: readonly string[];
  /** When silence becomes the answer, in milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Language of the task; English without it. */
  readonly language?: Language;
}

/** A person answered, or no answer came in time. */
export interface QuestionAnswered {
  readonly type: "question.answered";
  readonly id: string;
  readonly answer: string;
  /** Who answered, whatever their name is; absent when the time ran out. */
  readonly by?: string;
}

/** The hand's policy judged the frozen plan of an action. */
export interface PolicyJudged {
  readonly type: "policy.judged";
  readonly action: string;
  readonly plan: Plan;
  readonly hash: string;
  readonly policy: string;
  readonly verdict: Verdict;
  /** Where the hand's ledger stood; left out by a hand that does not say so. */
  readonly ledger?: string;
}

/** Intent: the action is about to be given to the hand. */
export interface ActionStarted {
  readonly type: "action.started";
  readonly action: Action;
  readonly hand: string;
}

/** The action ended and this is its one outcome, for ever. */
export interface ActionFinished {
  readonly type: "action.finished";
  readonly action: string;
  readonly outcome: Outcome;
  readonly receipt?: Receipt;
}

/** The action was not done. */
export interface ActionFailed {
  readonly type: "action.failed";
  readonly action: string;
  readonly fault: FaultReport;
  readonly receipt?: Receipt;
}

/** The action began, and how it ended cannot be known. */
export interface ActionUnknown {
  readonly type: "action.unknown";
  readonly action: string;
  readonly fault: FaultReport;
  readonly partial?: string;
  readonly receipt?: Receipt;
}

/** Something was tried so that a fault does not become a failure. */
export interface HealTried {
  readonly type: "heal.tried";
  readonly healing: string;
  readonly description: string;
  readonly severity: Severity;
  readonly attempt: number;
  /** How long the run rests before it goes on. */
  readonly delayMs: number;
  readonly metadata: JsonObject;
}

/** The task is done. */
export interface RunFinished {
  readonly type: "run.finished";
  readonly result: Json;
}

/** The task cannot be done. */
export interface RunFailed {
  readonly type: "run.failed";
  readonly fault: FaultReport;
}

/** A person or a client stopped the run. */
export interface RunAborted {
  readonly type: "run.aborted";
  readonly reason: string;
}

/** Live: a piece of the model's words; the pieces of a reply join to its text. */
export interface ModelDelta {
  readonly type: "model.delta";
  readonly text: string;
  /** Characters of the reply that were told before it. */
  readonly from: number;
}

/** Live: a piece of a command's output. */
export interface ActionOutput {
  readonly type: "action.output";
  readonly action: string;
  readonly stream: "stdout" | "stderr";
  readonly chunk: string;
  /** Characters of the stream that were told before it; left out where its beginning may have been missed. */
  readonly from?: number;
}

/** One turn of the conversation that a model sees. */
export type Turn =
  | { readonly role: "user"; readonly text: string }
  | { readonly role: "assistant"; readonly text: string; readonly action?: Action }
  | {
      readonly role: "tool";
      readonly callId: string;
      readonly tool: string;
      readonly text: string;
      readonly failed: boolean;
    };

/** Whether an event ends its run. */
export function isTerminal(event: Event): event is TerminalEvent {
  return event.type === "run.finished" || event.type === "run.failed" || event.type === "run.aborted";
}
