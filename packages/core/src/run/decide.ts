import { ALWAYS_YES, CHANGED_YES, RUN_WIDE_YES } from "../text/answer-words.ts";
import { approvalWords } from "../text/approval-words.ts";
import type { Event, Question, QuestionAsked } from "../event.ts";
import { FAULTS } from "../fault.ts";
import type { FaultCode, FaultReport } from "../fault.ts";
import { isCompactionDue } from "./context-room.ts";
import { nextHealing, nextRepair } from "./heal.ts";
import { MODEL_LIMITS, RUN_LIMITS } from "../limits.ts";
import { commandLine } from "../text/printable.ts";
import { asksForSummary, compactConversation } from "./compaction.ts";
import { questionId } from "./question-id.ts";
import { handOf } from "./run-approvals.ts";
import { REDACTED } from "../redact/scan.ts";
import { FIRST_GENERATION, workedMs } from "./run.ts";
import type { RunState } from "./run.ts";
import { sharedCostFault } from "./shared-cost.ts";
import type { SharedCost } from "./shared-cost.ts";
import type { Action } from "../tool.ts";

/**
 * The one next step of a run. `record` appends an event that follows from the state. The effects (`call_model`, `judge`,
 * `act`) are only decided in a phase that their recorded intent has brought about: after a crash the same state gives
 * the same effect, and the engine has nothing else to remember.
 */
export type Decision =
  | { readonly do: "record"; readonly event: Event }
  | { readonly do: "call_model" }
  | { readonly do: "judge"; readonly action: Action }
  | { readonly do: "act"; readonly action: Action; readonly approved?: string }
  | { readonly do: "wait"; readonly until: number; readonly question?: QuestionAsked }
  | { readonly do: "stop" };

/** The input of a decision besides the state of the run. */
export interface Moment {
  /** The id of the run; ids of its questions contain it. */
  readonly run: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** A random number from 0 to 1, for jitter. */
  readonly chance: number;
  /** Generation of the store; 1 when absent. */
  readonly generation?: number;
  /** Bounded costs that this run shares with others. */
  readonly shared?: readonly SharedCost[];
}

/** Decides the one next step of a run. */
export function decide(state: RunState, moment: Moment): Decision {
  const { phase } = state;
  const { generation = FIRST_GENERATION } = moment;
  if (generation > state.generation && !PHASES_WITHOUT_EFFECT.has(phase.name))
    return record(restoredQuestion(state, moment, generation));
  switch (phase.name) {
    case "ready":
      return decideWhenReady(state, moment);
    case "backing-off":
      return moment.now < phase.until ? { do: "wait", until: phase.until } : decideWhenReady(state, moment);
    case "calling-model":
      return { do: "call_model" };
    case "model-failed": {
      const healing = nextRepair(phase.fault, state) ?? nextHealing(phase.fault, state.attempt, moment.chance);
      return record(healing ?? giveUp(state, phase.fault, moment));
    }
    case "question-drafted":
      return record(questionFrom(state, moment, { about: { kind: "ask" }, text: phase.text, options: phase.options }));
    case "tool-proposed":
      return record(
        questionFrom(state, moment, {
          about: { kind: "tool", tool: phase.tool },
          text: `May the tool ${phase.tool.name} be made? It runs: ${commandLine(phase.tool.argv ?? [])}`,
          options: ["yes", "no"],
        }),
      );
    case "action-proposed":
      return decideOnAction(state, phase.action, moment);
    case "judged":
      return decideOnVerdict(state, phase, moment);
    case "asking":
      return moment.now < phase.question.expiresAt
        ? { do: "wait", until: phase.question.expiresAt, question: phase.question }
        : record({ type: "question.answered", id: phase.question.id, answer: "" });
    case "approved":
      return startAction(state, phase);
    case "refused":
      return record({ type: "action.failed", action: phase.action.id, fault: phase.fault });
    case "acting":
      return { do: "act", action: phase.action, ...(phase.approved === undefined ? {} : { approved: phase.approved }) };
    case "outcome-unknown":
      return record(
        questionFrom(state, moment, {
          about: { kind: "unknown", action: phase.action.id },
          text: `${phase.fault.message} (${phase.action.tool}) Should the run go on and find out?`,
          options: ["continue", "stop"],
        }),
      );
    case "answered":
      return decideOnAnswer(state, phase, moment);
    case "failing":
      return record({ type: "run.failed", fault: phase.fault });
    case "ended":
      return { do: "stop" };
  }
}

/** Phases whose next step has no effect: a restored store asks no question in them. */
const PHASES_WITHOUT_EFFECT: ReadonlySet<RunState["phase"]["name"]> = new Set([
  "asking",
  "answered",
  "failing",
  "ended",
]);

/** Asks whether to continue after a restore: entries that the backup lacks may have had effects. */
function restoredQuestion(state: RunState, moment: Moment, generation: number): QuestionAsked {
  const text =
    "The brain came back from a backup: what this run did after the backup is not known here. Should the run go on?";
  return questionFrom(state, moment, { about: { kind: "restored", generation }, text, options: ["continue", "stop"] });
}

function record(event: Event): Decision {
  return { do: "record", event };
}

function decideWhenReady(state: RunState, moment: Moment): Decision {
  const spent = overBudget(state, moment.now);
  if (spent !== undefined) return failRun(spent);
  const shared = sharedCostFault(moment.shared);
  if (shared !== undefined) return record(giveUp(state, shared, moment));
  // A call that is refused each time never becomes a proposed action, so the loop is detected here as well.
  if (state.repeated.times >= RUN_LIMITS.identicalCalls) return failRun("LOOP_DETECTED");
  if (isCompactionDue(state.context, state.turns))
    return record(asksForSummary(state) ? summaryCall(state) : compactConversation(state));
  const step = state.attempt === 0 ? state.used.steps + 1 : state.used.steps;
  return record({ type: "model.called", step, attempt: state.attempt + 1 });
}

/** Intent: the model is asked for a summary, whose call is part of the step before. */
function summaryCall({ used: { steps }, attempt }: RunState): Event {
  return { type: "model.called", step: steps, attempt, summary: true };
}

function decideOnAnswer(
  state: RunState,
  { answer, unmet }: Extract<RunState["phase"], { name: "answered" }>,
  moment: Moment,
): Decision {
  // What a person said while the model wrote its answer would be lost with the end of the run.
  const isHeard = state.toldRemarks === state.remarks.length;
  const isOver = overBudget(state, moment.now) !== undefined || sharedCostFault(moment.shared) !== undefined;
  if (!isHeard && !isOver) return decideWhenReady(state, moment);
  return record({ type: "run.finished", result: answer, ...(unmet === undefined ? {} : { unmet }) });
}

function decideOnAction(state: RunState, action: Action, moment: Moment): Decision {
  if (state.repeated.times >= RUN_LIMITS.identicalCalls) return failRun("LOOP_DETECTED");
  if (state.used.actions >= state.started.budget.actions) return failRun("ACTION_LIMIT");
  if (JSON.stringify(action.input).includes(REDACTED)) {
    const fault = { code: "SECRET_IN_ACTION", message: FAULTS.SECRET_IN_ACTION.says } as const;
    return record({ type: "action.failed", action: action.id, fault });
  }
  if (state.tools.some((tool) => tool.name === action.tool && tool.caller === true)) {
    return record(
      questionFrom(state, moment, { about: { kind: "call", call: action }, text: `Call ${action.tool}.`, options: [] }),
    );
  }
  return { do: "judge", action };
}

function decideOnVerdict(
  state: RunState,
  phase: Extract<RunState["phase"], { name: "judged" }>,
  moment: Moment,
): Decision {
  const { action, verdict } = phase;
  switch (verdict.decision) {
    case "allow":
      return startAction(state, phase);
    case "deny":
      return record({
        type: "action.failed",
        action: action.id,
        fault: { code: "POLICY_DENIED", message: `${verdict.reason} (rule ${verdict.rule})` },
      });
    case "ask":
      return record(
        questionFrom(state, moment, {
          about: approvalOf(state, phase),
          text: approvalWords({ ...phase, hand: handOf(state.started.hand, action) }, state.started.language),
          options: phase.always === undefined ? APPROVAL_OPTIONS : [...APPROVAL_OPTIONS, ALWAYS_YES],
        }),
      );
  }
}

/** The answers to the question about every plan. */
const APPROVAL_OPTIONS: readonly string[] = ["yes", "no", RUN_WIDE_YES, CHANGED_YES];

function startAction(
  state: RunState,
  { action, approval }: { readonly action: Action; readonly approval?: string },
): Decision {
  const { hand } = state.started;
  return record({ type: "action.started", action, hand, ...(approval === undefined ? {} : { approval }) });
}

/** What a yes approves: the hash of the plan, and the whole plan so that every wire can show it. */
function approvalOf(state: RunState, judged: Extract<RunState["phase"], { name: "judged" }>): Question {
  const { action, verdict, plan, hash, policy, always } = judged;
  const { class: harm, rule } = verdict;
  return {
    kind: "approval",
    action: action.id,
    hash,
    policy,
    plan,
    hand: handOf(state.started.hand, action),
    class: harm,
    rule,
    ...(always === undefined ? {} : { always }),
  };
}

function questionFrom(
  state: RunState,
  moment: Moment,
  draft: Pick<QuestionAsked, "about" | "text" | "options">,
): QuestionAsked {
  return {
    type: "question.asked",
    id: questionId(moment.run, state.seq + 1),
    ...draft,
    ...(state.started.language === undefined ? {} : { language: state.started.language }),
    expiresAt: moment.now + (state.started.budget.answerMs ?? RUN_LIMITS.answerMs),
  };
}

/** The event when no healing is left: a question in interactive runs, else the failure of the run. */
function giveUp(state: RunState, fault: FaultReport, moment: Moment): Event {
  if (state.started.interactive !== true) return { type: "run.failed", fault };
  const text = `${fault.message} Shall the model be asked again?`;
  const question = questionFrom(state, moment, { about: { kind: "healing", fault }, text, options: HEALING_OPTIONS });
  return { ...question, expiresAt: Math.min(question.expiresAt, moment.now + MODEL_LIMITS.askedMs) };
}

/** The answers to a question about a fault that no healing solved. */
export const HEALING_OPTIONS: readonly string[] = ["retry", "escalate"];

function overBudget(state: RunState, now: number): FaultCode | undefined {
  const { budget } = state.started;
  if (state.attempt === 0 && state.used.steps >= budget.steps) return "STEP_LIMIT";
  if (state.used.tokens >= budget.tokens) return "TOKEN_LIMIT";
  if (budget.costUsd !== undefined && state.used.costUsd >= budget.costUsd) return "COST_LIMIT";
  if (state.used.workMs + workedMs(state, now) >= budget.wallMs) return "TIME_LIMIT";
  return undefined;
}

function failRun(code: FaultCode): Decision {
  return record({ type: "run.failed", fault: { code, message: FAULTS[code].says } });
}
