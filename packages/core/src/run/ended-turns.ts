import type { TerminalEvent, Turn } from "../event.ts";
import { taskTurn } from "./prompt.ts";
import type { RunState } from "./run.ts";
import { turnsOf } from "./turns.ts";

/** The turns of an ended run: its task, what was called and came back, and its end. Every call has a result. */
export function turnsOfEnded(state: RunState, end: TerminalEvent): readonly Turn[] {
  const turns = turnsOf(state.turns);
  const results = new Set(turns.flatMap((turn) => (turn.role === "tool" ? [turn.callId] : [])));
  const answered = turns.flatMap((turn): readonly Turn[] => {
    if (turn.role !== "assistant" || turn.action === undefined || results.has(turn.action.callId)) return [turn];
    const { callId, tool } = turn.action;
    return [turn, { role: "tool", callId, tool, text: LOST_RESULT, failed: true }];
  });
  return withEnd([taskTurn(state), ...answered], endText(end));
}

const LOST_RESULT = "The run ended before the result of this call was known.";

/** The end of a run as the assistant's words in its thread. */
export function endText(end: TerminalEvent): string {
  if (end.type === "run.finished") return typeof end.result === "string" ? end.result : JSON.stringify(end.result);
  return end.type === "run.failed" ? `(This failed: ${end.fault.message})` : "(This was stopped.)";
}

/** The turns with the end as the last words of the assistant, once. */
function withEnd(turns: readonly Turn[], end: string): readonly Turn[] {
  const last = turns.at(-1);
  if (last?.role !== "assistant") return [...turns, { role: "assistant", text: end }];
  if (last.text.includes(end)) return turns;
  const text = last.text === "" ? end : `${last.text}\n\n${end}`;
  return [...turns.slice(0, -1), { role: "assistant", text }];
}
