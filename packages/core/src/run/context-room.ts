import type { RunStarted, Usage } from "../event.ts";
import { MODEL_LIMITS } from "../limits.ts";
import type { Turns } from "./turns.ts";

/*
 * How long the conversation of a run may be. A known window of the model is counted in tokens, and what its server says
 * of each prompt corrects the estimate of characters for a token; without a window the bound is in characters.
 */

/** The room for the conversation in the model's window. */
export interface ContextRoom {
  /** Tokens of the model's window, where it is known: from the start, or learnt from its server. */
  readonly window: number | undefined;
  /** Bound on the turns, in characters. */
  readonly mostChars: number;
  /** Characters of each prompt beside the turns: system text, tools, task and earlier runs. */
  readonly fixedChars: number;
  /** Compactions since the last reply because the window had no room. */
  readonly squeezes: number;
  /** A compaction has to come before the next call of the model. */
  readonly isDue: boolean;
  /** Signatures were left out because the server refused them; that is tried once in a run. */
  readonly isUnsigned: boolean;
}

/** The room at the start of a run. */
export function roomAtStart(started: RunStarted): ContextRoom {
  const { system, task, tools, history, window, facts = {} } = started;
  const lists = [tools, history, facts].reduce<number>((sum, list) => sum + JSON.stringify(list).length, 0);
  const fixedChars = system.length + task.length + lists;
  const mostChars = charsIn(window, { fixedChars, charsPerToken: MODEL_LIMITS.charsPerToken });
  return { window, mostChars, fixedChars, squeezes: 0, isDue: false, isUnsigned: false };
}

/** The room after a reply to a prompt with these turns. */
export function roomAfterReply(
  room: ContextRoom,
  turns: Turns,
  { window = room.window, usage }: { readonly window: number | undefined; readonly usage: Usage },
): ContextRoom {
  const { fixedChars } = room;
  const isCounted = usage.inputTokens >= MODEL_LIMITS.countedTokens;
  if (window === undefined || (!isCounted && window === room.window)) return { ...room, squeezes: 0 };
  const charsPerToken = isCounted ? (fixedChars + turns.chars) / usage.inputTokens : MODEL_LIMITS.charsPerToken;
  return { ...room, window, squeezes: 0, mostChars: charsIn(window, { fixedChars, charsPerToken }) };
}

/** The room after the model's server said that the prompt is longer than its window, and how many tokens that has. */
export function roomAfterOverflow(room: ContextRoom, turns: Turns, window = room.window): ContextRoom {
  const learnt = Math.min(room.mostChars, turns.chars * MODEL_LIMITS.learntShare);
  const mostChars = Math.max(MODEL_LIMITS.leastContextChars, learnt);
  return { ...room, window, mostChars, squeezes: room.squeezes + 1, isDue: true };
}

/** Whether the conversation has to be compacted before the next call of the model. */
export function isCompactionDue({ isDue, mostChars }: ContextRoom, turns: Turns): boolean {
  return isDue || (turns.chars > mostChars && turns.length > MODEL_LIMITS.freshTurns);
}

/** The length of turns to which a compaction brings them, and how many of the last turns it leaves as they are. */
export function compactionTarget(room: ContextRoom, turns: Turns): { readonly chars: number; readonly fresh: number } {
  const { squeezes, mostChars } = room;
  const usual = Math.min(MODEL_LIMITS.compactedChars, mostChars / 2);
  if (squeezes === 0) return { chars: usual, fresh: MODEL_LIMITS.freshTurns };
  const fresh = MODEL_LIMITS.squeezedFreshTurns[squeezes - 1] ?? 0;
  return { chars: Math.min(usual, turns.chars * MODEL_LIMITS.squeezedShare), fresh };
}

function charsIn(
  window: number | undefined,
  { fixedChars, charsPerToken }: { readonly fixedChars: number; readonly charsPerToken: number },
): number {
  if (window === undefined) return MODEL_LIMITS.contextChars;
  const chars = window * MODEL_LIMITS.promptShare * charsPerToken - fixedChars;
  return Math.max(MODEL_LIMITS.leastContextChars, Math.floor(chars));
}
