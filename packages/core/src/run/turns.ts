import type { Turn } from "../event.ts";
import { isPdfPart, withoutFiles } from "../file-part.ts";
import type { FilePart } from "../file-part.ts";
import { FILE_LIMITS, MODEL_LIMITS } from "../limits.ts";
import { extraChars, withoutSignatures } from "../reply-parts.ts";
import { headOf, tailOf } from "../text/whole-characters.ts";

/**
 * The conversation of a run as an immutable value: pushing gives a new list. The array behind it is shared and only
 * grows at its end, so a push takes constant time.
 */
export interface Turns {
  readonly items: readonly Turn[];
  readonly length: number;
  /** Characters in all the texts. */
  readonly chars: number;
}

/** No turns. */
export const NO_TURNS: Turns = { items: [], length: 0, chars: 0 };

/** The list with one more turn; texts that are too long keep their beginning and end. */
export function pushTurn(turns: Turns, turn: Turn): Turns {
  const bounded =
    turn.text.length > MODEL_LIMITS.turnChars
      ? { ...turn, text: headAndTail(turn.text, MODEL_LIMITS.turnChars) }
      : turn;
  // A list that is shorter than the shared array must not overwrite its later turns: the array is copied then.
  const owned = turns.length > 0 && turns.items.length === turns.length;
  const items = owned ? (turns.items as Turn[]) : turns.items.slice(0, turns.length);
  items.push(bounded);
  return { items, length: turns.length + 1, chars: turns.chars + sizeOf(bounded) };
}

/** A copy of the turns as an array. */
export function turnsOf(turns: Turns): readonly Turn[] {
  return turns.items.slice(0, turns.length);
}

/**
 * The list without its oldest `dropped` turns, and with old tool output cut short. Signatures do not hold for an altered
 * conversation, so they are left out.
 */
export function compactTurns(turns: Turns, dropped: number, fresh: number = MODEL_LIMITS.freshTurns): Turns {
  const kept = turns.items.slice(dropped, turns.length);
  const old = kept.length - fresh;
  return listOf(kept.map((turn, index) => withoutSignature(index < old ? shortenTurn(turn) : turn)));
}

/** The list without signatures and without the thinking that they cover. */
export function dropSignatures(turns: Turns): Turns {
  return listOf(turnsOf(turns).map(withoutSignature));
}

/** A turn without signatures and the thinking that they cover. */
export function withoutSignature(turn: Turn): Turn {
  return turn.role === "assistant" && turn.parts !== undefined
    ? { ...turn, parts: withoutSignatures(turn.parts) }
    : turn;
}

/** A list of these turns. */
export function listOf(items: readonly Turn[]): Turns {
  return { items, length: items.length, chars: items.reduce((sum, turn) => sum + sizeOf(turn), 0) };
}

/** How many of the oldest turns to drop so that the rest fits; a call and its answers are never separated. */
export function turnsToDrop(turns: Turns, { chars: mostChars, fresh }: { chars: number; fresh: number }): number {
  const most = Math.max(0, turns.length - fresh);
  let { chars } = compactTurns(turns, 0, fresh);
  let dropped = 0;
  while (dropped < most && chars > mostChars) {
    chars -= sizeOf(withoutSignature(shortenTurn(turns.items[dropped]!)));
    dropped += 1;
  }
  while (dropped < turns.length && turns.items[dropped]?.role === "tool") dropped += 1;
  return dropped;
}

/** The line of a turn in a digest. */
export function digestLine(turn: Turn): string {
  const line = (text: string, chars: number): string => {
    const flat = text.replaceAll(/\s+/g, " ").trim();
    return flat.length > chars ? `${headOf(flat, chars)}…` : flat;
  };
  if (turn.role === "tool") return `  → ${turn.failed ? "failed: " : ""}${line(turn.text, 160)}`;
  if (turn.role === "user") return `told: ${line(turn.text, 200)}`;
  const call = turn.action ? `${turn.action.tool} ${line(JSON.stringify(turn.action.input), 160)}` : "";
  return `- ${[line(turn.text, 160), call].filter((part) => part !== "").join(" · ")}`;
}

/** A text without its middle: `chars` characters of it, and how many are left out between them. */
export function headAndTail(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const most = Math.floor(chars * 0.7);
  const [head, tail] = [headOf(text, most), tailOf(text, chars - most)];
  const left = text.length - head.length - tail.length;
  return `${head}\n[… ${left} characters left out …]\n${tail}`;
}

/** A turn with its tool output cut short. */
export function shortenTurn(given: Turn): Turn {
  const turn = given.role === "tool" ? withoutFiles(given) : given;
  if (turn.role !== "tool" || turn.text.length <= MODEL_LIMITS.oldOutputChars) return turn;
  const head = headOf(turn.text, MODEL_LIMITS.oldOutputChars);
  const left = turn.text.length - head.length;
  const text = `${head}\n[… ${left} characters of old output left out …]`;
  // The words about a few characters are longer than those characters.
  return text.length < turn.text.length ? { ...turn, text } : turn;
}

function sizeOf(turn: Turn): number {
  if (turn.role !== "assistant") return turn.text.length + fileChars(turn.files ?? []);
  const call = turn.action === undefined ? 0 : inputChars(turn.action.input);
  return turn.text.length + call + (turn.parts === undefined ? 0 : extraChars(turn.parts));
}

/** What files count for: a page of a PDF costs about as much as an image, and the pages are not known here. */
function fileChars(files: readonly FilePart[]): number {
  const sizes = files.map((file) => (isPdfPart(file) ? file.data.length / CHARS_OF_PDF : 0));
  return sizes.reduce((sum, size) => sum + Math.max(FILE_LIMITS.countedChars, Math.ceil(size)), 0);
}

/** Characters of a PDF in base64 for one that its text and its pages are counted as. */
const CHARS_OF_PDF = 4;

/** A rough size of a call's input, without making its text. */
function inputChars(input: { readonly [key: string]: unknown }): number {
  let chars = 0;
  for (const key in input) {
    const value = input[key];
    chars += key.length + (typeof value === "string" ? value.length : 16);
  }
  return chars;
}
