import * as fc from "fast-check";

/** The same bytes in one piece, in pieces of one byte, and in pieces of every size between. */
export function everyChunking(bytes: Uint8Array): Uint8Array[][] {
  const sizes = [bytes.length, 1, 2, 3, 5, 7, 64, 1000].filter((size) => size > 0);
  return sizes.map((size) =>
    Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.slice(at * size, (at + 1) * size)),
  );
}

/** Sizes of pieces, taken in turn. */
export const sizes = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 20 });

/** Anything that can be sliced, in pieces of these sizes until nothing is left. */
export function cutInto<T extends { readonly length: number; slice(from: number, to: number): T }>(
  whole: T,
  pieces: readonly number[],
): T[] {
  const out: T[] = [];
  for (let at = 0, turn = 0; at < whole.length; turn++) {
    // A piece of nothing is legal, but a turn of nothing but such would never end.
    const size = turn % pieces.length === 0 ? Math.max(1, pieces[0] ?? 1) : (pieces[turn % pieces.length] ?? 1);
    out.push(whole.slice(at, at + size));
    at += size;
  }
  return out;
}

/** Many byte strings as one. */
export function join(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Text as UTF-8. */
export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
