import { REDACT_LIMITS } from "../limits.ts";
import { CONFIG_SHAPES } from "./config-shapes.ts";
import { KEY_SHAPES } from "./key-shapes.ts";
import { NAMED_SHAPES } from "./named-shapes.ts";
import { OWN_SHAPES } from "./own-shapes.ts";
import { PRIVATE_KEY_SHAPES } from "./private-key-shapes.ts";
import { cutOffSource, longestLength, shortestLength, wholeSource } from "./pattern.ts";
import type { Pattern } from "./pattern.ts";
import type { Finder, Hit } from "./scan.ts";
import { ANYWHERE, BEFORE_WORD, WORD_BEGINS } from "./shape.ts";
import type { Shape } from "./shape.ts";
import { SIGN_CHARS, Signs } from "./signs.ts";
import { WIRE_SHAPES } from "./wire-shapes.ts";

const SHAPES: readonly Shape[] = [
  ...PRIVATE_KEY_SHAPES,
  ...KEY_SHAPES,
  ...OWN_SHAPES,
  ...WIRE_SHAPES,
  ...NAMED_SHAPES,
  ...CONFIG_SHAPES,
];

const ANY = "[^]";

const partsOf = ({ before = [], secret, after = [] }: Shape): Pattern => [...before, ...secret, ...after];
const beginningOf = ({ behind = WORD_BEGINS }: Shape): string => behind;

/** A shape at a given position, with a group for the prefix that is shown. */
function expressionOf(shape: Shape): RegExp {
  const { before = [], unless = "", secret, after = [] } = shape;
  const source = `${beginningOf(shape)}(${wholeSource(before)})${unless}${wholeSource(secret)}(?=${wholeSource(after)})`;
  return new RegExp(source, "y");
}

/** A shape with its regular expressions, each compiled on first use. */
class Detector {
  readonly #shape: Shape;
  #leastChars: number | undefined;
  #whole: RegExp | undefined;
  #cutOff: RegExp | undefined;
  #secretCutOff: RegExp | undefined;

  constructor(shape: Shape) {
    this.#shape = shape;
  }

  hitAt(text: string, at: number): Hit | undefined {
    this.#leastChars ??= shortestLength(partsOf(this.#shape));
    if (text.length - at < this.#leastChars) return undefined;
    this.#whole ??= expressionOf(this.#shape);
    this.#whole.lastIndex = at;
    const match = this.#whole.exec(text);
    if (match === null) return undefined;
    return { index: at, from: at + match[1]!.length, to: this.#whole.lastIndex, tail: this.#shape.tail };
  }

  /** Whether the shape begins here and the end of the text cuts it off. */
  isCutOff(text: string, at: number): boolean {
    this.#cutOff ??= new RegExp(beginningOf(this.#shape) + cutOffSource(partsOf(this.#shape)), "y");
    return fitsAt(this.#cutOff, text, at);
  }

  /** The same where the secret itself has begun; its prefix is not replaced. */
  isSecretCutOff(text: string, at: number): boolean {
    this.#secretCutOff ??= secretCutOffOf(this.#shape);
    return fitsAt(this.#secretCutOff, text, at);
  }

  /** The source of the lookbehind of the shape. */
  get behind(): string {
    return beginningOf(this.#shape);
  }

  /** The fewest characters before the secret. */
  get leastBefore(): number {
    return shortestLength(this.#shape.before ?? []);
  }
}

function secretCutOffOf(shape: Shape): RegExp {
  const { before = [], secret, after = [] } = shape;
  return new RegExp(beginningOf(shape) + wholeSource(before) + cutOffSource([...secret, ...after]), "y");
}

function fitsAt(expression: RegExp, text: string, at: number): boolean {
  expression.lastIndex = at;
  return expression.test(text);
}

const detectors = SHAPES.map((shape) => new Detector(shape));
const signs = new Signs(
  SHAPES.map((shape) => {
    const { behind, previous = behind === undefined ? BEFORE_WORD : ANY } = shape;
    return { pattern: partsOf(shape), previous };
  }),
);

/** Tells whether shapes may begin with the last characters of a text, which are too few for a sign. */
class Endings {
  readonly #counts: (detector: Detector, chars: number) => boolean;
  /** For each list of shapes, what may precede any of them. */
  readonly #behinds = new Map<readonly number[], readonly RegExp[]>();

  /** `counts`: which shapes are meant, by how many of their characters there are. */
  constructor(counts: (detector: Detector, chars: number) => boolean) {
    this.#counts = counts;
  }

  /** The first position from `from` on; the length of the text if there is none. */
  first(text: string, from: number): number {
    for (let at = Math.max(from, text.length - SIGN_CHARS + 1); at < text.length; at++) {
      const shapes = signs.beginningAtEnd(text, at);
      let behinds = this.#behinds.get(shapes);
      if (behinds === undefined) this.#behinds.set(shapes, (behinds = this.#behindsOf(shapes, text.length - at)));
      for (const behind of behinds) if (fitsAt(behind, text, at)) return at;
    }
    return text.length;
  }

  #behindsOf(shapes: readonly number[], chars: number): readonly RegExp[] {
    const meant = shapes.map((shape) => detectors[shape]!).filter((detector) => this.#counts(detector, chars));
    const sources = new Set(meant.map(({ behind }) => behind));
    return (sources.has(ANYWHERE) ? [ANYWHERE] : [...sources]).map((source) => new RegExp(source, "y"));
  }
}

const endings = new Endings(() => true);
const secretEndings = new Endings(({ leastBefore }, chars) => leastBefore < chars);

/** The length of the longest match of any shape. */
export function longestShape(): number {
  return Math.max(...SHAPES.map((shape) => longestLength(partsOf(shape))));
}

/** Finds secrets of all known shapes. */
export const shapeFinder: Finder = {
  find(text, from) {
    let hit: Hit | undefined;
    signs.find(text, from, (at, shape) => {
      hit = detectors[shape]!.hitAt(text, at);
      return hit !== undefined;
    });
    return hit;
  },
  open(text, from) {
    const start = Math.max(from, text.length - REDACT_LIMITS.holdChars);
    const open = signs.find(text, start, (at, shape) => detectors[shape]!.isCutOff(text, at));
    return open < text.length ? open : endings.first(text, start);
  },
  certain(text, open) {
    const held = signs.find(text, open, (at, shape) => detectors[shape]!.isSecretCutOff(text, at));
    return held < text.length ? held : secretEndings.first(text, open);
  },
};
