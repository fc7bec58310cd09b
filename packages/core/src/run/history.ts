import type { RunStarted, Turn } from "../event.ts";
import { MODEL_LIMITS } from "../limits.ts";
import { headAndTail, listOf, shortenTurn, withoutSignature } from "./turns.ts";

/*
 * What a run of a thread knows of the runs before it: their turns with the calls and results. The list only grows from
 * run to run until it reaches its bound, so that caches and signatures of a vendor hold over a whole conversation.
 */

/** Bound of a history in characters: a share of the model's window where it is known. */
export function historyRoom(window: number | undefined): number {
  if (window === undefined) return MODEL_LIMITS.historyChars;
  const share = window * MODEL_LIMITS.historyShare * MODEL_LIMITS.charsPerToken;
  return Math.min(MODEL_LIMITS.historyChars, Math.floor(share));
}

/** The history of a run that follows one with this history and these turns of its own, in `chars` characters. */
export function extendHistory(
  earlier: readonly Turn[],
  newest: readonly Turn[],
  { chars, keepsSignatures }: { readonly chars: number; readonly keepsSignatures: boolean },
): readonly Turn[] {
  const whole = keepsSignatures ? [...earlier, ...newest] : [...earlier, ...newest].map(withoutSignature);
  return sizeIn(whole) <= chars ? whole : shortenHistory(earlier, newest, chars);
}

/**
 * A history that is too long is brought to half its bound, so that the next runs extend it without altering it: old
 * output is cut, then calls and results are left out from the oldest on, then whole tasks. The newest run is last.
 */
function shortenHistory(earlier: readonly Turn[], newest: readonly Turn[], chars: number): readonly Turn[] {
  const target = Math.floor(chars / 2);
  const old = earlier.map((turn) => withoutSignature(shortenTurn(turn)));
  const last = fitNewest(newest.map(withoutSignature), target);
  const room = target - sizeIn(last);
  return [...dropOldTasks(dropOldCalls(old, room), room), ...last];
}

/** The newest run whole where it fits; otherwise its older output is cut, then all its output, then its calls. */
function fitNewest(turns: readonly Turn[], chars: number): readonly Turn[] {
  const fresh = turns.length - MODEL_LIMITS.freshTurns;
  const shapes = [
    () => turns,
    () => turns.map((turn, index) => (index < fresh ? shortenTurn(turn) : turn)),
    () => turns.map(shortenTurn),
    () => dropOldCalls(turns.map(shortenTurn), chars),
  ];
  for (const shape of shapes) {
    const shaped = shape();
    if (sizeIn(shaped) <= chars) return shaped;
  }
  const words = turns.filter(isWords);
  const each = Math.floor(chars / Math.max(1, words.length));
  return words.map((turn): Turn => ({ role: turn.role, text: headAndTail(turn.text, each) }));
}

/** Leaves out calls with their results, oldest first, until the rest fits. */
function dropOldCalls(turns: readonly Turn[], chars: number): readonly Turn[] {
  let size = sizeIn(turns);
  const isAfterOpenCall = (index: number): boolean => turns[index]?.role === "tool";
  let isDropping = true;
  return turns.filter((turn, index) => {
    // A call and its results stay together: dropping ends only before a turn that is no result.
    if (size <= chars && !isAfterOpenCall(index)) isDropping = false;
    if (!isDropping || isWords(turn)) return true;
    size -= sizeIn([turn]);
    return false;
  });
}

/** Leaves out the oldest tasks with all that belongs to them, until the rest fits. */
function dropOldTasks(turns: readonly Turn[], chars: number): readonly Turn[] {
  let size = sizeIn(turns);
  let first = 0;
  while (first < turns.length && (size > chars || turns[first]?.role !== "user")) {
    size -= sizeIn([turns[first]!]);
    first += 1;
  }
  return turns.slice(first);
}

/** The beginning of the prompts of a run whose window had no room for it: less of the earlier runs, then no guides. */
export function squeezeStart(
  { started, history }: { readonly started: RunStarted; readonly history: readonly Turn[] },
  squeezes: number,
): { readonly started: RunStarted; readonly history: readonly Turn[] } {
  const { facts, ...rest } = started;
  if (facts?.guides === undefined || squeezes < 2) return { started, history: squeezeHistory(history, squeezes) };
  const { guides: _, ...kept } = facts;
  return { started: { ...rest, facts: kept }, history: squeezeHistory(history, squeezes) };
}

/** A history for a window that had no room for it: first without old output, then without calls, then none. */
function squeezeHistory(history: readonly Turn[], squeezes: number): readonly Turn[] {
  if (squeezes === 1) return history.map((turn) => withoutSignature(shortenTurn(turn)));
  if (squeezes === 2) return history.filter(isWords).map((turn): Turn => ({ role: turn.role, text: turn.text }));
  return [];
}

/** Words of a person, or of the model without a call. */
function isWords(turn: Turn): turn is Exclude<Turn, { role: "tool" }> {
  return turn.role === "user" || (turn.role === "assistant" && turn.action === undefined && !hasCalls(turn));
}

function hasCalls({ parts }: Extract<Turn, { role: "assistant" }>): boolean {
  return parts?.items.some(({ kind }) => kind === "call") ?? false;
}

function sizeIn(turns: readonly Turn[]): number {
  return listOf(turns).chars;
}
