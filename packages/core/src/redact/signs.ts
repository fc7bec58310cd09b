import { run } from "./pattern.ts";
import type { Pattern } from "./pattern.ts";

/*
 * Few places of a text begin like a secret, and three characters tell most of the others. They are looked up in a
 * table, one step for each character of the text, which is several times as fast as one expression for each shape.
 */

/** How many characters are looked at: the sign. */
export const SIGN_CHARS = 3;
const LAST_SIGN = 0b11111_11111_11111;
/** A character counts by the last bits of its code, which are the same in both cases of a letter. */
const KIND_BITS = 5;
const LAST_KIND = 0b11111;

/** Finds the first place at or after `from` where one of the patterns may begin; gives the length when there is none. */
export function signFinder(patterns: readonly Pattern[]): (text: string, from: number) => number {
  const isSign = new Uint8Array(LAST_SIGN + 1);
  for (const pattern of patterns) for (const sign of signsOf(pattern, SIGN_CHARS)) isSign[sign] = 1;
  return (text, from) => {
    const first = from + SIGN_CHARS - 1;
    let sign = 0;
    for (let at = from; at < text.length; at++) {
      sign = ((sign << KIND_BITS) | (text.charCodeAt(at) & LAST_KIND)) & LAST_SIGN;
      if (isSign[sign] === 1 && at >= first) return at - SIGN_CHARS + 1;
    }
    return text.length;
  };
}

/** Every sign of so many characters that the pattern may begin with; it is at least as long. */
function* signsOf(pattern: Pattern, chars: number): Generator<number, void, undefined> {
  const [step, ...rest] = pattern;
  if (chars === 0) yield 0;
  else if (step === undefined) throw new Error("A shape is shorter than its sign.");
  else if ("either" in step) for (const way of step.either) yield* signsOf([...way, ...rest], chars);
  else {
    if (step.min === 0) yield* signsOf(rest, chars);
    const left = step.max > 1 ? [run(step.set, Math.max(0, step.min - 1), step.max - 1), ...rest] : rest;
    for (const kind of kindsIn(step.set)) {
      for (const sign of signsOf(left, chars - 1)) yield (kind << (KIND_BITS * (chars - 1))) | sign;
    }
  }
}

function kindsIn(set: string): ReadonlySet<number> {
  const member = new RegExp(set);
  const kinds = new Set<number>();
  // A class that has characters beyond these leaves out only some, and so has every kind among these, too.
  for (let code = 0; code < 256; code++) if (member.test(String.fromCharCode(code))) kinds.add(code & LAST_KIND);
  return kinds;
}
