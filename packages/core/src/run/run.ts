import type {
  ContextCompacted,
  Entry,
  Event,
  HealTried,
  PolicyJudged,
  QuestionAnswered,
  QuestionAsked,
  RemarkMade,
  RunStarted,
  Turn,
} from "../event.ts";
import { Fault, FAULTS } from "../fault.ts";
import type { FaultReport } from "../fault.ts";
import { RUN_LIMITS } from "../limits.ts";
import { canonicalJson } from "../json.ts";
import { isApproval, UNASKED_ANSWER } from "../text/answer-words.ts";
import { answerOfOutcome } from "../tool.ts";
import type { Action, ActionAnswer, ToolSpec } from "../tool.ts";
import { changeNotice, refusalFault, wordsForModel } from "./answer-effect.ts";
import { roomAfterOverflow, roomAfterReply, roomAtStart } from "./context-room.ts";
import type { ContextRoom } from "./context-room.ts";
import { TOOLS_IN_TEXT } from "./heal.ts";
import { answersOfOtherCalls } from "./other-calls.ts";
import { tellRemarks } from "./remark.ts";
import { squeezeStart } from "./history.ts";
import type { Phase } from "./phase.ts";
import { findRunApproval, handOf, withAnswer } from "./run-approvals.ts";
import type { RunApprovals } from "./run-approvals.ts";
import { startsProcess } from "./background-start.ts";
import { compactTurns, dropSignatures, listOf, pushTurn, withoutSignature } from "./turns.ts";
import type { Turns } from "./turns.ts";
import { usedAfter, usedWithHelpers } from "./used-budget.ts";
import type { UsedBudget } from "./used-budget.ts";

/** The state of a run: the fold of its journal and nothing else. */
export interface RunState {
  readonly seq: number;
  readonly started: RunStarted;
  /** When the last entry was made. */
  readonly at: number;
  readonly phase: Phase;
  /** The tools of the run, including proposed ones that a person approved. */
  readonly tools: readonly ToolSpec[];
  /** What was said and done before in the thread. */
  readonly history: readonly Turn[];
  readonly turns: Turns;
  /** Digest of the turns that were dropped from the conversation. */
  readonly digest: string;
  /** How long the conversation may be, and what the model's server made known about it. */
  readonly context: ContextRoom;
  readonly plan: readonly string[];
  /** Plans that a person approved for the rest of the run. */
  readonly approvals: RunApprovals;
  /** Calls of the model in this step. */
  readonly attempt: number;
  /** The open call of a control tool that the model expects an answer to. */
  readonly control: Action | undefined;
  /** Whether the model has shown that it calls tools natively. */
  readonly native: boolean;
  /** Names of the models whose servers take no tools, so that their tools are described in the text. */
  readonly inText: readonly string[];
  /** Notices that go to the model with its next answer. */
  readonly told: readonly string[];
  /** Everything that people said while the run worked. */
  readonly remarks: readonly RemarkMade[];
  /** How many of the remarks the model was told. */
  readonly toldRemarks: number;
  /** The last call, and how often it was made in a row. */
  readonly repeated: { readonly call: string; readonly times: number };
  /** Generation of the store in which the run was created or last confirmed by a person. */
  readonly generation: number;
  /** Mark of the ledger that judged the last action; undefined when the hand does not report one. */
  readonly ledger: string | undefined;
  readonly used: UsedBudget;
  /** The actions that may have started a process which ends with the run. */
  readonly processes: readonly Action[];
}

/** The generation of a store that was never restored from a backup. */
export const FIRST_GENERATION = 1;

/** The state after one more entry; the first entry of a run is `run.started`. */
export function reduce(state: RunState | undefined, entry: Entry): RunState {
  if (state === undefined) {
    if (entry.event.type !== "run.started" || entry.seq !== 1) {
      throw new Fault("JOURNAL_CORRUPT", `A run begins with run.started, not with ${entry.event.type}.`);
    }
    return initialState(entry.event, entry.at);
  }
  if (entry.seq !== state.seq + 1) {
    throw new Fault("JOURNAL_CORRUPT", `Entry ${entry.seq} follows entry ${state.seq}: something is missing.`);
  }
  const next = { ...state, used: { ...state.used, workMs: state.used.workMs + workedMs(state, entry.at) } };
  Object.assign(next, changeAfter(next, entry.event, entry.at));
  next.seq = entry.seq;
  next.at = entry.at;
  return next;
}

/** The state after all these entries, or undefined when there are none. */
export function fold(entries: Iterable<Entry>, from?: RunState): RunState | undefined {
  let state = from;
  for (const entry of entries) state = reduce(state, entry);
  return state;
}

/**
 * Working time since the last entry. Waiting for a person does not count. A long gap counts only up to a bound, because
 * a machine that slept or a brain that was down cannot be distinguished from slow work.
 */
export function workedMs(state: RunState, now: number): number {
  return state.phase.name === "asking" ? 0 : Math.min(Math.max(0, now - state.at), RUN_LIMITS.silenceMs);
}

function initialState(started: RunStarted, at: number): RunState {
  return {
    seq: 1,
    started,
    at,
    phase: { name: "ready" },
    tools: started.tools,
    history: started.history,
    turns: listOf(started.forked?.turns ?? []),
    digest: started.forked?.digest ?? "",
    context: roomAtStart(started),
    plan: started.forked?.plan ?? [],
    approvals: {},
    attempt: 0,
    control: undefined,
    native: false,
    inText: [],
    told: [],
    remarks: [],
    toldRemarks: 0,
    repeated: { call: "", times: 0 },
    generation: started.generation ?? FIRST_GENERATION,
    ledger: undefined,
    used: { steps: 0, actions: 0, tokens: 0, costUsd: 0, workMs: 0 },
    processes: [],
  };
}

type StateChange = Partial<RunState>;
const READY: Phase = { name: "ready" };

function changeAfter(state: RunState, event: Event, at: number): StateChange {
  switch (event.type) {
    case "run.started":
      throw new Fault("JOURNAL_CORRUPT", "A run starts only once.");
    case "intent.analyzed":
    case "note.observed":
    case "knowledge.committed":
      return {};
    case "plan.made":
      return { plan: event.steps };
    case "context.compacted":
      return afterCompaction(state, event);
    case "remark.made":
      return { remarks: [...state.remarks, event] };
    case "model.called":
      return afterCall(state, event);
    case "model.replied":
      return afterReply(state, event);
    case "model.failed":
      return { phase: { name: "model-failed", fault: event.fault } };
    case "heal.tried":
      return afterHealing(state, event, at);
    case "tool.proposed":
      return { phase: { name: "tool-proposed", tool: event.tool } };
    case "question.asked":
      return afterQuestion(state, event);
    case "question.answered":
      return afterAnswer(state, event);
    case "policy.judged":
      return { phase: phaseAfterVerdict(state, event), ledger: event.ledger };
    case "action.started": {
      const approved = state.phase.name === "approved" ? state.phase.approved : undefined;
      return {
        phase: { name: "acting", action: event.action, ...(approved === undefined ? {} : { approved }) },
        used: { ...state.used, actions: state.used.actions + 1 },
        ...(startsProcess(event.action) ? { processes: [...state.processes, event.action] } : {}),
      };
    }
    case "action.finished":
      return {
        ...answerAction(state, actionOf(state, event.action), answerOfOutcome(event.outcome)),
        ...usedWithHelpers(state.used, event.used),
      };
    case "action.failed":
      return answerAction(state, actionOf(state, event.action), { text: faultText(event.fault), failed: true });
    case "action.unknown":
      return { phase: { name: "outcome-unknown", action: actionOf(state, event.action), fault: event.fault } };
    case "run.finished":
    case "run.failed":
    case "run.aborted":
      return { phase: { name: "ended", end: event } };
  }
}

function afterCompaction(state: RunState, { dropped, fresh, digest, usage }: ContextCompacted): StateChange {
  return {
    turns: compactTurns(state.turns, dropped, fresh),
    digest,
    context: { ...state.context, isDue: false },
    phase: READY,
    ...(usage === undefined ? {} : { used: usedAfter(state.used, usage) }),
  };
}

function afterCall(state: RunState, { attempt, summary }: Extract<Event, { type: "model.called" }>): StateChange {
  const { used } = state;
  if (summary === true) return { phase: { name: "calling-model", summary } };
  return {
    ...tellRemarks(state),
    phase: { name: "calling-model" },
    attempt,
    used: attempt === 1 ? { ...used, steps: used.steps + 1 } : used,
  };
}

function afterReply(state: RunState, event: Extract<Event, { type: "model.replied" }>): StateChange {
  const called = event.action ?? event.control;
  const text = event.written === undefined ? event.text : `${event.text}\n${event.written}`.trim();
  const { parts, told = [] } = event;
  const turn: Turn = {
    role: "assistant",
    text,
    ...(called === undefined ? {} : { action: called }),
    ...(parts === undefined ? {} : { parts }),
  };
  const hasGap = parts?.gap === true;
  const before = hasGap ? dropSignatures(state.turns) : state.turns;
  const change = {
    ...(hasGap ? { history: state.history.map(withoutSignature) } : {}),
    turns: answersOfOtherCalls(parts, called).reduce(pushTurn, pushTurn(before, turn)),
    attempt: 0,
    context: roomAfterReply(state.context, state.turns, { window: event.window, usage: event.usage }),
    told,
    control: event.control,
    native: state.native || event.native === true,
    used: usedAfter(state.used, event.usage),
  };
  if (event.action !== undefined) {
    const call = `${event.action.tool} ${canonicalJson(event.action.input)}`;
    const times = call === state.repeated.call ? state.repeated.times + 1 : 1;
    const phase: Phase =
      event.refusal === undefined
        ? { name: "action-proposed", action: event.action }
        : { name: "refused", action: event.action, fault: event.refusal };
    return { ...change, repeated: { call, times }, phase };
  }
  if (event.answer !== undefined) {
    const { answer, unmet } = event;
    return { ...change, phase: { name: "answered", answer, ...(unmet === undefined ? {} : { unmet }) } };
  }
  if (event.question !== undefined) return { ...change, phase: { name: "question-drafted", ...event.question } };
  return { ...change, ...answerModel({ ...state, ...change }, "Noted.", false) };
}

function afterHealing(state: RunState, event: HealTried, at: number): StateChange {
  // A healing within an effect (another model took over, a hand is waited for) changes no phase.
  if (state.phase.name !== "model-failed") return modelLearnt(state, event);
  return { phase: { name: "backing-off", until: at + event.delayMs }, ...repairOf(state, event) };
}

/** What a healing within a call of a model makes known about it. */
function modelLearnt({ inText }: RunState, { healing, metadata }: HealTried): StateChange {
  const { model } = metadata;
  if (healing !== TOOLS_IN_TEXT || typeof model !== "string" || inText.includes(model)) return {};
  return { inText: [...inText, model] };
}

/** What a repair changes in the conversation before the model is asked again. */
function repairOf(state: RunState, { healing, metadata: { window } }: HealTried): StateChange {
  const { context, turns, history } = state;
  switch (healing) {
    case "compact_context": {
      const room = roomAfterOverflow(context, turns, typeof window === "number" ? window : undefined);
      return { context: room, ...squeezeStart(state, room.squeezes) };
    }
    case "drop_thinking":
      return {
        history: history.map(withoutSignature),
        turns: dropSignatures(turns),
        context: { ...context, isUnsigned: true },
      };
    default:
      return {};
  }
}

function phaseAfterVerdict(state: RunState, { action: id, ...judged }: PolicyJudged): Phase {
  const { verdict, plan, hash, policy, always } = judged;
  const action = actionOf(state, id);
  const given = state.phase.name === "action-proposed" ? state.phase.approval : undefined;
  const approval = given ?? findRunApproval(state.approvals, { plan, hash, hand: handOf(state.started.hand, action) });
  return verdict.decision === "ask" && approval !== undefined
    ? { name: "approved", action, approved: hash, approval }
    : { name: "judged", action, verdict, plan, hash, policy, ...(always === undefined ? {} : { always }) };
}

function afterQuestion({ phase }: RunState, question: QuestionAsked): StateChange {
  const asking = { name: "asking", question, ...openAction(phase) } as const;
  if (question.about.kind !== "restored") return { phase: asking };
  return { phase: { ...asking, interrupted: phase }, generation: question.about.generation };
}

function afterAnswer(state: RunState, event: QuestionAnswered): StateChange {
  if (state.phase.name !== "asking")
    throw new Fault("JOURNAL_CORRUPT", `No question is open, yet ${event.id} was answered.`);
  const { question, action, interrupted } = state.phase;
  const yes = event.answer === question.options[0];
  switch (question.about.kind) {
    case "ask":
      return answerModel(state, wordsForModel(event), false);
    case "tool": {
      const unasked = event.answer === UNASKED_ANSWER;
      if (!yes)
        return answerModel(
          state,
          `${unasked ? "No person could be asked to" : "A person did not"} approve this tool.`,
          true,
        );
      const { tool } = question.about;
      return {
        tools: [...state.tools.filter((other) => other.name !== tool.name), tool],
        ...answerModel(state, `Approved. Call it with use_tool and the name ${tool.name}.`, false),
      };
    }
    case "call": {
      const silent = event.by === undefined;
      const text = silent ? "The caller did not answer in time." : event.answer;
      return answerAction(state, question.about.call, { text, failed: silent });
    }
    case "approval": {
      if (action === undefined) throw new Fault("JOURNAL_CORRUPT", "An approval was asked for no action.");
      if (isApproval(question, event.answer) && event.input !== undefined) {
        const changed = { ...action, input: event.input };
        return {
          phase: { name: "action-proposed", action: changed, approval: event.id },
          told: [...state.told, changeNotice(changed, event)],
        };
      }
      if (isApproval(question, event.answer))
        return {
          phase: { name: "approved", action, approved: question.about.hash },
          approvals: withAnswer(state.approvals, question, event.answer),
        };
      return { phase: { name: "refused", action, fault: refusalFault(event) } };
    }
    case "unknown": {
      if (action === undefined) throw new Fault("JOURNAL_CORRUPT", "An outcome was asked about for no action.");
      const fault: FaultReport = { code: "OUTCOME_UNKNOWN", message: FAULTS.OUTCOME_UNKNOWN.says };
      if (!yes) return { phase: { name: "failing", fault } };
      const text = `${fault.message} Look at what is there before you go on; it will not be run again by itself.`;
      return { ...answerAction(state, action, { text, failed: true }) };
    }
    case "restored": {
      const fault: FaultReport = { code: "STORE_RESTORED", message: FAULTS.STORE_RESTORED.says };
      return { phase: yes ? (interrupted ?? READY) : { name: "failing", fault } };
    }
    case "healing":
      return yes ? { phase: READY, attempt: 0 } : { phase: { name: "failing", fault: question.about.fault } };
  }
}

/** Answers the model's last control call or text. */
function answerModel(state: RunState, text: string, failed: boolean): StateChange {
  const said = [text, ...state.told].join("\n");
  const turn: Turn =
    state.control === undefined
      ? { role: "user", text: said }
      : { role: "tool", callId: state.control.callId, tool: state.control.tool, text: said, failed };
  return { turns: pushTurn(state.turns, turn), told: [], control: undefined, phase: READY };
}

function answerAction(state: RunState, action: Action, answer: ActionAnswer): StateChange {
  const text = [answer.text, ...state.told].join("\n");
  const files = answer.files === undefined ? {} : { files: answer.files };
  const turn: Turn = { role: "tool", callId: action.callId, tool: action.tool, text, failed: answer.failed, ...files };
  return { turns: pushTurn(state.turns, turn), told: [], phase: READY };
}

function faultText(fault: FaultReport): string {
  return `${fault.code}: ${fault.message}`;
}

function openAction(phase: Phase): { action?: Action } {
  return "action" in phase && phase.action !== undefined ? { action: phase.action } : {};
}

function actionOf(state: RunState, id: string): Action {
  const { action } = openAction(state.phase);
  if (action?.id !== id)
    throw new Fault("JOURNAL_CORRUPT", `Action ${id} is not the one at hand (${state.phase.name}).`);
  return action;
}
