import { OFFLINE_LIMITS } from "@vidro/core";
import { taskBeforeDigest } from "@vidro/core/run";
import type { ModelRequest, Turn } from "@vidro/core";
import { understand } from "./intents.ts";
import { introduction, PHRASES } from "./phrases.ts";
import { skillFor, stepsOf } from "./skills.ts";
import type { ToolCall, Desk, Result, Skill } from "./skill.ts";
import type { Understanding } from "./want.ts";

/** The next thing to do: a call, with the plan when it is the first, or the answer. */
export type Move =
  | { readonly call: ToolCall; readonly id: string; readonly plan: readonly string[] }
  | { readonly answer: string; readonly unmet?: true };

/** The next move, from the conversation alone. */
export function nextMove({ turns, tools }: ModelRequest): Move {
  const start = turns.findLastIndex((turn) => turn.role === "user");
  const understanding = understandTurns(turns.slice(0, start + 1));
  const desk: Desk = { say: PHRASES[understanding.language], tools: new Set(tools.map((tool) => tool.name)) };
  if (understanding.wants.length === 0) return { answer: introduction(desk.say, desk.say.unknown), unmet: true };

  const results = resultsIn(turns.slice(start + 1));
  const work = workOf(understanding, desk);
  let step = work.next();
  for (const result of results) {
    if (step.done === true) break;
    step = work.next(result);
  }
  if (step.done === true) return { answer: asProse(step.value) };
  const plan = results.length > 0 ? [] : understanding.wants.flatMap((want) => stepsOf(want, desk.say));
  return { call: step.value, id: `offline-${turns.length}-${results.length + 1}`, plan };
}

function understandTurns(turns: readonly Turn[]): Understanding {
  const tasks = turns.filter((turn) => turn.role === "user").slice(-OFFLINE_LIMITS.history);
  let understanding: Understanding = { language: "en", wants: [], leftOut: 0 };
  for (const { text } of tasks) understanding = understand(taskBeforeDigest(text), understanding);
  return understanding;
}

function* workOf({ wants, leftOut }: Understanding, desk: Desk): Skill {
  const answers: string[] = [];
  for (const want of wants) answers.push(yield* skillFor(want, desk));
  if (leftOut > 0) answers.push(desk.say.leftOut(leftOut));
  return answers.join(answers.some((answer) => answer.includes("\n")) ? "\n\n" : "\n");
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
