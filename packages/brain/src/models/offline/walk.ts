import { isObject, OFFLINE_LIMITS } from "@vidro/core";
import { isTask, taskBeforeDigest } from "@vidro/core/run";
import type { ModelRequest, ToolSpec, Turn } from "@vidro/core";
import { notUnderstood, skillFor, stepsOf } from "./skills.ts";
import type { Desk, Result, Skill, ToolCall } from "./skill.ts";
import { understand } from "./understand.ts";
import type { Understanding, Want } from "./want.ts";
import { speak } from "./wording.ts";

/** The next thing to do: a call, with the plan when it is the first, or the answer. */
export type Move =
  | { readonly call: ToolCall; readonly id: string; readonly plan: readonly string[] }
  | { readonly answer: string; readonly unmet?: true };

/** The next move, from the conversation alone. */
export function nextMove({ turns, tools }: ModelRequest): Move {
  const start = turns.findLastIndex(isTask);
  const understanding = understandTurns(turns.slice(0, start + 1));
  const { language, wants, nearest } = understanding;
  const desk: Desk = { language, say: speak(language), tools: new Set(tools.map((tool) => tool.name)) };
  if (wants.length === 0) return { answer: notUnderstood(desk, nearest), unmet: true };

  const results = resultsIn(turns.slice(start + 1));
  const hosts = hostsIn(tools);
  const work = hosts.length < 2 ? workOf(understanding, desk) : workOfHosts(understanding, desk, { hosts, tools });
  let step = work.next();
  for (const result of results) {
    if (step.done === true) break;
    step = work.next(result);
  }
  if (step.done === true) return { answer: asProse(step.value) };
  const plan = results.length > 0 ? [] : wants.flatMap((want) => stepsOf(want, language));
  return { call: step.value, id: `offline-${turns.length}-${results.length + 1}`, plan };
}

function understandTurns(turns: readonly Turn[]): Understanding {
  const tasks = turns.filter(isTask).slice(-OFFLINE_LIMITS.history);
  let understanding: Understanding = { language: "en", wants: [], leftOut: 0, nearest: [] };
  for (const { text } of tasks) understanding = understand(taskBeforeDigest(text), understanding);
  return understanding;
}

function* workOf({ wants, leftOut }: Understanding, desk: Desk): Skill {
  const answers: string[] = [];
  for (const want of wants) answers.push(yield* skillFor(want, desk));
  if (leftOut > 0) answers.push(desk.say("leftOut", { count: leftOut }));
  return answers.join(answers.some((answer) => answer.includes("\n")) ? "\n\n" : "\n");
}

/** The hands of a run on several of them, by the names that its tools list. */
interface Fleet {
  readonly hosts: readonly string[];
  readonly tools: readonly ToolSpec[];
}

/** The same work on each hand in turn; the answer says which host says what. */
function* workOfHosts(understanding: Understanding, desk: Desk, { hosts, tools }: Fleet): Skill {
  if (understanding.wants.every(isWithoutHand)) return yield* workOf(understanding, desk);
  const answers: string[] = [];
  for (const hand of hosts) {
    const own = new Set(
      tools.filter((tool) => !namesIn(tool).length || namesIn(tool).includes(hand)).map(({ name }) => name),
    );
    const work = workOf(understanding, { ...desk, tools: own });
    let step = work.next();
    while (step.done !== true) {
      const { tool, input } = step.value;
      step = work.next(yield { tool, input: { ...input, hand } });
    }
    answers.push(`${hand}:${step.value.includes("\n") ? "\n" : " "}${step.value}`);
  }
  return answers.join(answers.some((answer) => answer.includes("\n")) ? "\n\n" : "\n");
}

const isWithoutHand = ({ kind }: Want): boolean => kind === "help";

function hostsIn(tools: readonly ToolSpec[]): readonly string[] {
  return [...new Set(tools.flatMap((tool) => namesIn(tool)))];
}

/** The hands that have a tool, when a run has several. */
function namesIn({ parameters }: ToolSpec): readonly string[] {
  const properties = parameters["properties"];
  const where = isObject(properties) ? properties["hand"] : undefined;
  const names = isObject(where) ? where["enum"] : undefined;
  return Array.isArray(names) ? names.map(String) : [];
}

/**
 * Results of this model's own calls, in order. The number in a call's id is its index, so that results whose turns were
 * compacted away leave a gap instead of shifting the rest; calls of another model are ignored.
 */
function resultsIn(turns: readonly Turn[]): readonly Result[] {
  const results: Result[] = [];
  for (const turn of turns) {
    if (turn.role !== "tool") continue;
    const place = Number(/^offline-\d+-(\d{1,3})$/.exec(turn.callId)?.[1] ?? 0);
    if (place === 0) continue;
    while (results.length < place) results.push({ text: "", failed: false, forgotten: true });
    results[place - 1] = { text: turn.text, failed: turn.failed, forgotten: false };
  }
  return results;
}

/**
 * Escapes lines that are JSON objects: they would be read as a call, so that the content of a file could give orders.
 */
function asProse(answer: string): string {
  return answer.replace(/^(\s*)\{/gm, "$1│ {");
}
