/*
 * Patterns from which two regular expressions can be made: one that finds a whole, and one that finds a beginning
 * which the end of the text cuts off. Every quantifier is bounded, so the work at one place in a text is bounded too.
 */

/** A run of characters of one class. */
interface CharRun {
  readonly set: string;
  readonly min: number;
  readonly max: number;
}

/** A run of characters of one class, or a choice between patterns. */
export type Step = CharRun | { readonly either: readonly Pattern[] };

/** Steps one after the other. */
export type Pattern = readonly Step[];

/** `min` to `max` characters of a class, which is written as in a regular expression. */
export function charRun(set: string, min: number, max: number = min): Step {
  return { set, min, max };
}

/** Exactly these letters. */
export function literal(letters: string): Pattern {
  return Array.from(letters, (letter) => charRun(escapeLetter(letter), 1));
}

/** These letters in either case. */
export function anyCase(letters: string): Pattern {
  return Array.from(letters, (letter) => {
    const [lower, upper] = [letter.toLowerCase(), letter.toUpperCase()];
    return charRun(lower === upper ? escapeLetter(letter) : `[${lower}${upper}]`, 1);
  });
}

/** One of these patterns. */
export function either(...patterns: readonly Pattern[]): Step {
  return { either: patterns };
}

/** The source of an expression that matches the whole pattern. */
export function wholeSource(pattern: Pattern): string {
  return pattern
    .map((step) =>
      "set" in step ? step.set + times(step.min, step.max) : `(?:${step.either.map(wholeSource).join("|")})`,
    )
    .join("");
}

/**
 * The source of an expression that matches any beginning of the pattern, the whole included, at the end of the text.
 * It never matches nothing, so that an engine can pass over places where the first character does not fit.
 */
export function cutOffSource(pattern: Pattern): string {
  const [step, ...rest] = pattern;
  if (step === undefined) return NEVER;
  if ("set" in step && step.max === 1 && step.min === 1) {
    return rest.length === 0 ? `${step.set}$` : `${step.set}(?:$|${cutOffSource(rest)})`;
  }
  const ways = "set" in step ? [`${step.set}${times(1, step.max)}$`] : step.either.map(cutOffSource);
  if (rest.length > 0) ways.push(wholeSource([step]) + cutOffSource(rest));
  return `(?:${ways.join("|")})`;
}

/** The most characters that the pattern takes. */
export function longestLength(pattern: Pattern): number {
  return pattern
    .map((step) => ("set" in step ? step.max : Math.max(...step.either.map(longestLength))))
    .reduce((sum, length) => sum + length, 0);
}

/** The fewest characters that the pattern takes. */
export function shortestLength(pattern: Pattern): number {
  return pattern
    .map((step) => ("set" in step ? step.min : Math.min(...step.either.map(shortestLength))))
    .reduce((sum, length) => sum + length, 0);
}

/** Every way in which the pattern may begin: the classes of its first characters, fewer where it ends before. */
export function beginningsOf(pattern: Pattern, chars: number): readonly (readonly string[])[] {
  const first = pattern.slice(0, chars);
  // Most patterns begin with letters.
  if (first.length === chars && first.every(isOneChar)) return [first.map(({ set }) => set)];
  const step = pattern[0];
  if (step === undefined) return [[]];
  const rest = pattern.slice(1);
  if ("either" in step) return step.either.flatMap((way) => beginningsOf(way.concat(rest), chars));
  const left = step.max > 1 ? [charRun(step.set, Math.max(0, step.min - 1), step.max - 1)].concat(rest) : rest;
  const taken = beginningsOf(left, chars - 1).map((more) => [step.set, ...more]);
  return step.min === 0 ? [...taken, ...beginningsOf(rest, chars)] : taken;
}

/** A step that takes exactly one character. */
export function isOneChar(step: Step): step is CharRun {
  return "set" in step && step.min === 1 && step.max === 1;
}

/** A class without characters. */
const NEVER = "[]";

function times(min: number, max: number): string {
  return min === 1 && max === 1 ? "" : `{${min},${max}}`;
}

function escapeLetter(letter: string): string {
  return /[A-Za-z0-9_ -]/.test(letter) ? letter : `\\${letter}`;
}
