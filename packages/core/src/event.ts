import type { RunFacts } from "./run-facts.ts";
import type { Budget } from "./budget.ts";
import type { FilePart } from "./file-part.ts";
import type { FaultReport, Severity } from "./fault.ts";
import type { HelperUse, ParentLink } from "./parent-link.ts";
import type { Json, JsonObject } from "./json.ts";
import type { Question } from "./question.ts";
import type { ReplyParts } from "./reply-parts.ts";
import type { Sampling, ToolChoice } from "./sampling.ts";
import type { Language } from "./text/language.ts";
import type { Turn } from "./turn.ts";
import type { Usage } from "./model-usage.ts";
import type { Action, Outcome, Plan, Receipt, ToolSpec, Verdict } from "./tool.ts";

export type { Budget } from "./budget.ts";
export type { Approval, Question } from "./question.ts";
export type { Turn } from "./turn.ts";
export type { Usage } from "./model-usage.ts";
export { liveText } from "./live-event.ts";
export type { ActionOutput, LiveEvent, ModelDelta, ModelThinking } from "./live-event.ts";

/* Everything that happens in a run is one of these: an entry of the journal, which is the truth. */

/** A durable event: an entry of the journal. */
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
  | RemarkMade
  | PolicyJudged
  | ActionStarted
  | ActionFinished
  | ActionFailed
  | ActionUnknown
  | HealTried
  | RunFinished
  | RunFailed
  | RunAborted;

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
  "remark.made": true,
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

/** The names of all durable events. */
export const EVENT_NAMES = Object.keys(EVENT_TYPES) as readonly EventType[];

/** Whether this version knows the event type. A journal with an unknown type is newer, or was altered. */
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

/** A person gave a task. The event holds everything that the run needs, so that it can be replayed anywhere. */
export interface RunStarted {
  readonly type: "run.started";
  readonly task: string;
  /** Files that the person attached to the task. */
  readonly files?: readonly FilePart[];
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
  /** The earlier turns of that conversation. */
  readonly history: readonly Turn[];
  /** Where the run works, as its thread's prompts begin with it. */
  readonly facts?: RunFacts;
  /** What differs from that now. */
  readonly changed?: Partial<RunFacts>;
  /** What the model must or must not call; when absent, the model chooses. */
  readonly choice?: ToolChoice;
  /** Sampling parameters of the model; its defaults when absent. */
  readonly sampling?: Sampling;
  /** A person can be asked before a fault of the model is final. */
  readonly interactive?: true;
  /** Tokens of the model's window, where it is known. */
  readonly window?: number;
  /** The model writes summaries of its conversation. */
  readonly summarises?: true;
  /** Generation of the store that the run was created in; 1 when absent. */
  readonly generation?: number;
  /** Id of the token that started the run; absent for the person at the brain's machine. */
  readonly startedWith?: string;
  /** Language of the task and of the questions to people; English when absent. */
  readonly language?: Language;
  /** The run and the entry that this run was forked from; absent for a run with a beginning of its own. */
  readonly forked?: ForkedFrom;
  /** The run that this one helps; absent for a run that no other run started. */
  readonly parent?: ParentLink;
  /** The `traceparent` that the run continues; absent without traces. */
  readonly trace?: string;
}

/** The beginning that a forked run has from another one: its prompt up to an entry. No effect before it happens again. */
export interface ForkedFrom {
  readonly run: string;
  readonly seq: number;
  /** The turns behind the task. */
  readonly turns: readonly Turn[];
  /** Digest of the turns that were dropped from them. */
  readonly digest?: string;
  readonly plan?: readonly string[];
}

/** The task was analysed, and the run deviates from its normal course. */
export interface IntentAnalyzed {
  readonly type: "intent.analyzed";
  readonly originalIntent: string;
  readonly detectedIssue: string;
  readonly decision: string;
}

/** Intent: the model will be called next. */
export interface ModelCalled {
  readonly type: "model.called";
  readonly step: number;
  readonly attempt: number;
  /** It is asked for a summary of the conversation, which is no step of the task. */
  readonly summary?: true;
}

/** The model replied with at most one action; `told` reports to the model what of its reply was not carried out. */
export interface ModelReplied {
  readonly type: "model.replied";
  readonly model: string;
  readonly text: string;
  readonly usage: Usage;
  /** The reply reached its token limit and is incomplete. */
  readonly cutShort?: true;
  /** The model calls tools natively, so JSON lines in its text are prose and not calls. */
  readonly native?: true;
  /** Tokens of the model's window, when its server named them and the run did not know. */
  readonly window?: number;
  /** Action lines without an effect (plans, notes, questions, examples), kept for the next prompt. */
  readonly written?: string;
  /** The one action of this step. */
  readonly action?: Action;
  /** Why the action is refused before policy judges it; the model gets this fault. */
  readonly refusal?: FaultReport;
  /** A call of a control tool (plan, ask, …): it has no effect, but the model expects an answer to it. */
  readonly control?: Action;
  /** The question that the model asks a person. */
  readonly question?: { readonly text: string; readonly options: readonly string[] };
  /** The answer to the task; it ends the run. */
  readonly answer?: Json;
  /** The answer says that the task was not done. */
  readonly unmet?: true;
  /** Notices to the model about the parts of its reply that were not carried out. */
  readonly told?: readonly string[];
  /** The reply as the vendor gave it, when it holds more than text and one call; it goes back with the next prompt. */
  readonly parts?: ReplyParts;
}

/** The call of the model failed, or its reply was unusable. */
export interface ModelFailed {
  readonly type: "model.failed";
  readonly attempt: number;
  readonly fault: FaultReport;
}

/** The model stated its plan. */
export interface PlanMade {
  readonly type: "plan.made";
  readonly steps: readonly string[];
}

/** The model noted what it has found. */
export interface NoteObserved {
  readonly type: "note.observed";
  readonly note: string;
}

/** The model recorded a finding for later runs. */
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

/** The conversation grew too long for the model: its oldest turns were replaced by a digest. Optional fields are absent in journals of older versions. */
export interface ContextCompacted {
  readonly type: "context.compacted";
  /** How many of the oldest turns the digest replaces. */
  readonly dropped: number;
  /** The model's summary, or a line for each turn. */
  readonly digest: string;
  /** How many of the last turns keep their output whole; the usual number when absent. */
  readonly fresh?: number;
  /** How many turns stay. */
  readonly kept?: number;
  /** `length`: the conversation reached its bound. `refused`: the model's server had no room for it. */
  readonly why?: "length" | "refused";
  /** Name of the model that wrote the digest; a digest without it is made of lines. */
  readonly summarisedBy?: string;
  /** The tokens and the cost of the summary. */
  readonly usage?: Usage;
  /** Why the model that was asked for a summary gave none. */
  readonly fault?: FaultReport;
}

/** A person is asked; the run waits. */
export interface QuestionAsked {
  readonly type: "question.asked";
  readonly id: string;
  readonly about: Question;
  readonly text: string;
  /** Valid answers, empty when any text is valid. The first one lets the run continue. */
  readonly options: readonly string[];
  /** When the question expires, in milliseconds since the epoch; an empty answer is recorded then. */
  readonly expiresAt: number;
  /** Language of the task; English without it. */
  readonly language?: Language;
}

/** A person answered, or no answer came in time. */
export interface QuestionAnswered {
  readonly type: "question.answered";
  readonly id: string;
  readonly answer: string;
  /** Name of the person who answered; absent when the question expired. */
  readonly by?: string;
  /** The whole input of the action as the person changed it; the action is judged anew with it, and is approved. */
  readonly input?: JsonObject;
  /** Id of the rule that the answer added to the hand's policy. */
  readonly rule?: string;
}

/** A person said something while the run works; the model is told with its next step. */
export interface RemarkMade {
  readonly type: "remark.made";
  /** The client's key: the same remark under the same id is recorded once. */
  readonly id: string;
  readonly text: string;
  /** Name of the person. */
  readonly by: string;
}

/** The hand's policy judged the frozen plan of an action. */
export interface PolicyJudged {
  readonly type: "policy.judged";
  readonly action: string;
  readonly plan: Plan;
  readonly hash: string;
  readonly policy: string;
  readonly verdict: Verdict;
  /** Mark of the hand's ledger; absent when the hand does not report one. */
  readonly ledger?: string;
  /** The rule that "always" would add, where the verdict is to ask and the hand's policy can be added to. */
  readonly always?: JsonObject;
}

/** Intent: the action will be ordered from the hand next. */
export interface ActionStarted {
  readonly type: "action.started";
  readonly action: Action;
  readonly hand: string;
  /** Id of the earlier question whose answer approved this plan for the rest of the run. */
  readonly approval?: string;
}

/** The action ended; this is its only outcome. */
export interface ActionFinished {
  readonly type: "action.finished";
  readonly action: string;
  readonly outcome: Outcome;
  readonly receipt?: Receipt;
  /** What the helpers that the action started have used of the budget. */
  readonly used?: HelperUse;
}

/** The action was not done. */
export interface ActionFailed {
  readonly type: "action.failed";
  readonly action: string;
  readonly fault: FaultReport;
  readonly receipt?: Receipt;
}

/** The action was started, and its outcome cannot be determined. */
export interface ActionUnknown {
  readonly type: "action.unknown";
  readonly action: string;
  readonly fault: FaultReport;
  readonly partial?: string;
  readonly receipt?: Receipt;
}

/** A healing was tried for a fault. */
export interface HealTried {
  readonly type: "heal.tried";
  readonly healing: string;
  readonly description: string;
  readonly severity: Severity;
  readonly attempt: number;
  /** How long the run waits before it continues. */
  readonly delayMs: number;
  readonly metadata: JsonObject;
}

/** The task has its answer. */
export interface RunFinished {
  readonly type: "run.finished";
  readonly result: Json;
  /** The answer says that the task was not done: not understood, refused or failed. */
  readonly unmet?: true;
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

/** Whether an event ends its run. */
export function isTerminal(event: Event): event is TerminalEvent {
  return event.type === "run.finished" || event.type === "run.failed" || event.type === "run.aborted";
}
