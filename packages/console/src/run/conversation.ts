import { textIn, thinkingIn } from "@vidro/core";
import type {
  Action,
  Entry,
  FaultReport,
  HealTried,
  Json,
  Outcome,
  Plan,
  QuestionAsked,
  RunStarted,
  Verdict,
} from "@vidro/core";
import { backgroundProcessIn } from "./background-process.ts";
import type { BackgroundProcess } from "./background-process.ts";

/* The conversation view: the journal folded into what a person reads, one item for each thing that is shown. */

/** An action, from its proposal to its outcome. */
export interface ActionItem {
  readonly kind: "action";
  readonly seq: number;
  readonly action: Action;
  readonly plan?: Plan;
  readonly verdict?: Verdict;
  readonly hand?: string;
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly outcome?: Outcome;
  readonly fault?: FaultReport;
  readonly isUnknown?: true;
  /** The process in the background that it started or tells of; that of its start changes with what is told later. */
  readonly process?: BackgroundProcess;
}

/** A question, and its answer when it has one. */
export interface QuestionItem {
  readonly kind: "question";
  readonly seq: number;
  readonly askedAt: number;
  readonly question: QuestionAsked;
  readonly verdict?: Verdict;
  readonly action?: Action;
  readonly answer?: { readonly text: string; readonly by?: string };
}

/** The plan of the model, and how the actions of its first steps ended. */
export interface PlanItem {
  readonly kind: "plan";
  readonly seq: number;
  readonly steps: readonly string[];
  readonly fates: readonly ("done" | "failed")[];
  readonly isOver: boolean;
}

/** An attempt to recover, by its name; for the name "" the conversation was summed up. */
export interface HealingItem {
  readonly kind: "healing";
  readonly seq: number;
  readonly healing: string;
  readonly text: string;
  readonly delayMs: number;
  /** The code of the fault that it recovers from. */
  readonly code?: string;
}

/** One item of the conversation. */
export type Item =
  | { readonly kind: "task"; readonly seq: number; readonly text: string; readonly files?: readonly string[] }
  | { readonly kind: "said"; readonly seq: number; readonly text: string }
  | { readonly kind: "thought"; readonly seq: number; readonly text: string }
  | { readonly kind: "note"; readonly seq: number; readonly text: string }
  | { readonly kind: "remark"; readonly seq: number; readonly text: string; readonly by: string }
  | PlanItem
  | HealingItem
  | { readonly kind: "result"; readonly seq: number; readonly result: Json; readonly isUnmet: boolean }
  | { readonly kind: "failure"; readonly seq: number; readonly fault: FaultReport }
  | { readonly kind: "stop"; readonly seq: number; readonly text: string }
  | ActionItem
  | QuestionItem;

/** The items, and where the open ones are. */
export interface RunConversation {
  readonly items: readonly Item[];
  /** Index of each action's item. */
  readonly actions: ReadonlyMap<string, number>;
  /** Index of the open question. */
  readonly question: number | undefined;
}

/** The conversation of a journal without entries. */
export const NO_ITEMS: RunConversation = { items: [], actions: new Map(), question: undefined };

/** The plan stands behind the task, and is empty until the model makes one. */
const PLAN = 1;
const NO_PLAN: PlanItem = { kind: "plan", seq: 0, steps: [], fates: [], isOver: false };

/**
 * The conversation after one more entry. The list and the map grow in place, since a copy for each of thousands of
 * entries would cost more than all else; items that change are replaced, so that only they are drawn again.
 */
export function foldConversation(before: RunConversation, { seq, at, event }: Entry): RunConversation {
  switch (event.type) {
    case "run.started":
      return { items: [taskItem(seq, event), NO_PLAN], actions: new Map(), question: undefined };
    case "model.replied": {
      const isEnd = event.answer !== undefined;
      const text = event.parts === undefined ? "" : thinkingIn(event.parts).trim();
      const thought = text === "" ? before : push(before, { kind: "thought", seq, text });
      const said = event.text.trim() === "" || isEnd ? thought : push(thought, { kind: "said", seq, text: event.text });
      return event.action === undefined ? said : pushAction(said, { kind: "action", seq, action: event.action });
    }
    case "note.observed":
      return push(before, { kind: "note", seq, text: event.note });
    case "remark.made":
      return push(before, { kind: "remark", seq, text: event.text, by: event.by });
    case "context.compacted":
      return push(before, { kind: "healing", seq, healing: "", text: "", delayMs: 0 });
    case "plan.made":
      return changePlan(before, () => ({ ...NO_PLAN, steps: event.steps }));
    case "policy.judged":
      return changeAction(before, event.action, { plan: event.plan, verdict: event.verdict });
    case "action.started":
      return changeAction(before, event.action.id, { action: event.action, hand: event.hand, startedAt: at });
    case "action.finished":
      return tick(finishAction(before, event.action, { endedAt: at, outcome: event.outcome }), isGood(event.outcome));
    case "action.failed":
      return tick(changeAction(before, event.action, { endedAt: at, fault: event.fault }), false);
    case "action.unknown":
      return tick(changeAction(before, event.action, { endedAt: at, fault: event.fault, isUnknown: true }), false);
    case "question.asked":
      return pushQuestion(before, { kind: "question", seq, askedAt: at, question: event });
    case "question.answered":
      return answer(before, { text: event.answer, ...(event.by === undefined ? {} : { by: event.by }) });
    case "heal.tried":
      return push(before, healingItem(seq, event));
    case "run.finished":
      return push(endProcesses(finishPlan(before)), {
        kind: "result",
        seq,
        result: event.result,
        isUnmet: event.unmet === true,
      });
    case "run.failed":
      return push(endProcesses(before), { kind: "failure", seq, fault: event.fault });
    case "run.aborted":
      return push(endProcesses(before), { kind: "stop", seq, text: event.reason });
    default:
      return before;
  }
}

function taskItem(seq: number, { task, files }: RunStarted): Item {
  const names = files?.map(({ name, mediaType }) => name ?? mediaType);
  return { kind: "task", seq, text: task, ...(names === undefined ? {} : { files: names }) };
}

function healingItem(seq: number, { healing, description, delayMs, metadata }: HealTried): HealingItem {
  const code = textIn(metadata, "code");
  return { kind: "healing", seq, healing, text: description, delayMs, ...(code === undefined ? {} : { code }) };
}

function push(before: RunConversation, item: Item): RunConversation {
  (before.items as Item[]).push(item);
  return { ...before };
}

function pushAction(before: RunConversation, item: ActionItem): RunConversation {
  (before.actions as Map<string, number>).set(item.action.id, before.items.length);
  return push(before, item);
}

function isGood(outcome: Outcome): boolean {
  return outcome.kind === "value" || outcome.exitCode === 0;
}

function changePlan(before: RunConversation, change: (plan: PlanItem) => PlanItem): RunConversation {
  const plan = before.items[PLAN];
  if (plan?.kind !== "plan") return before;
  (before.items as Item[])[PLAN] = change(plan);
  return { ...before };
}

/** Each action is that of the next step; further ones belong to the last step, which the answer ticks. */
function tick(before: RunConversation, isDone: boolean): RunConversation {
  return changePlan(before, (plan) => {
    const earlier = plan.fates.slice(0, Math.max(0, plan.steps.length - 1));
    return {
      ...plan,
      fates: [...earlier, isDone ? ("done" as const) : ("failed" as const)].slice(0, plan.steps.length),
    };
  });
}

/** The answer itself is the last step of a plan in which all others had their action. */
function finishPlan(before: RunConversation): RunConversation {
  return changePlan(before, (plan) => {
    const isLast = plan.fates.length === plan.steps.length - 1;
    return { ...plan, isOver: true, fates: isLast ? [...plan.fates, "done"] : plan.fates };
  });
}

function pushQuestion(before: RunConversation, asked: QuestionItem): RunConversation {
  const { about } = asked.question;
  const index = about.kind === "approval" ? before.actions.get(about.action) : undefined;
  const found = index === undefined ? undefined : before.items[index];
  const known = found?.kind === "action" ? found : undefined;
  const item: QuestionItem = {
    ...asked,
    ...(known === undefined ? {} : { action: known.action }),
    ...(known?.verdict === undefined ? {} : { verdict: known.verdict }),
  };
  return { ...push(before, item), question: before.items.length - 1 };
}

function answer(before: RunConversation, given: { readonly text: string; readonly by?: string }): RunConversation {
  const item = before.question === undefined ? undefined : before.items[before.question];
  if (before.question === undefined || item?.kind !== "question") return before;
  (before.items as Item[])[before.question] = { ...item, answer: given };
  return { ...before, question: undefined };
}

function changeAction(before: RunConversation, id: string, change: Partial<ActionItem>): RunConversation {
  const index = before.actions.get(id);
  const item = index === undefined ? undefined : before.items[index];
  if (index === undefined || item?.kind !== "action") return before;
  (before.items as Item[])[index] = { ...item, ...change };
  return { ...before };
}

/** What is told of a process stands at the action that tells it, and at the one that started the process. */
function finishAction(
  before: RunConversation,
  id: string,
  end: { readonly endedAt: number; readonly outcome: Outcome },
): RunConversation {
  const item = before.items[before.actions.get(id) ?? -1];
  const told = item?.kind === "action" ? backgroundProcessIn(item.action.tool, end.outcome) : undefined;
  if (told === undefined) return changeAction(before, id, end);
  const { process, startedBy } = told;
  return changeAction(changeAction(before, startedBy, { process }), id, { ...end, process });
}

/** The processes that are not kept end with their run. */
function endProcesses(before: RunConversation): RunConversation {
  let after = before;
  for (const item of before.items)
    if (item.kind === "action" && item.process?.isRunning === true && !item.process.isKept)
      after = changeAction(after, item.action.id, { process: { ...item.process, isRunning: false, isOver: true } });
  return after;
}
