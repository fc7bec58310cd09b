/** Code points as sorted ranges without overlap, both ends included. */
export type CharSet = readonly (readonly [low: number, high: number])[];

/** The last code point. */
const LAST = 0x10ffff;
/** Beyond this code point ranges are not folded: letters with cases lie below. */
const LAST_CASED = 0x1ffff;

/** Every code point except the line end. */
export const ANY: CharSet = [
  [0, 9],
  [11, LAST],
];
/** `\d`. */
export const DIGITS: CharSet = [[48, 57]];
/** Letters, digits and the underscore of ASCII, as in `\w` and `\b`. */
export const WORD: CharSet = [
  [48, 57],
  [65, 90],
  [95, 95],
  [97, 122],
];
/** `\s`. */
export const SPACE: CharSet = [
  [9, 13],
  [32, 32],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];

/** The set of all code points of some ranges. */
export function unite(ranges: CharSet): CharSet {
  const united: [number, number][] = [];
  for (const [low, high] of [...ranges].sort(([one], [other]) => one - other)) {
    const last = united.at(-1);
    if (last !== undefined && low <= last[1] + 1) last[1] = Math.max(last[1], high);
    else united.push([low, high]);
  }
  return united;
}

/** Every code point that is not in the set, the line end excepted: a match lies within one line. */
export function negate(set: CharSet): CharSet {
  const others: [number, number][] = [];
  let from = 0;
  for (const [low, high] of unite([...set, [10, 10]])) {
    if (low > from) others.push([from, low - 1]);
    from = high + 1;
  }
  if (from <= LAST) others.push([from, LAST]);
  return others;
}

/** The set with the other case of each of its letters. */
export function foldCase(set: CharSet): CharSet {
  const more = set.flatMap(([low, high]) => (high - low < FEW ? casesIn(low, high) : casesAmong(low, high)));
  return unite([...set, ...more.map((code) => [code, code] as const)]);
}

/** A range with fewer characters is looked through; in a larger one all letters with cases are looked up. */
const FEW = 256;

/** The other cases of the letters from one code to another. */
function casesIn(low: number, high: number): number[] {
  const others: number[] = [];
  for (let code = low; code <= Math.min(high, LAST_CASED); code += 1) {
    const char = String.fromCodePoint(code);
    for (const other of [char.toLowerCase(), char.toUpperCase()]) {
      const otherCode = other.codePointAt(0) ?? code;
      // One letter may become two, as ß becomes SS; only single letters are the same letter in another case.
      if (otherCode !== code && String.fromCodePoint(otherCode) === other) others.push(otherCode);
    }
  }
  return others;
}

/** Every letter with its other cases; found once, since a pattern may have hundreds of large ranges. */
let cased: readonly (readonly [code: number, others: readonly number[]])[] | undefined;

function casesAmong(low: number, high: number): number[] {
  cased ??= Array.from({ length: LAST_CASED + 1 }, (_, code) => [code, casesIn(code, code)] as const).filter(
    ([, others]) => others.length > 0,
  );
  return cased.flatMap(([code, others]) => (code >= low && code <= high ? others : []));
}

/** Whether a set holds a code point. */
export function holds(set: CharSet, code: number): boolean {
  return set.some(([low, high]) => low <= code && code <= high);
}
