import { REDACT_LIMITS } from "../limits.ts";
import { CONFIG_SHAPES } from "./config-shapes.ts";
import { KEY_SHAPES } from "./key-shapes.ts";
import { NAMED_SHAPES } from "./named-shapes.ts";
import { OWN_SHAPES } from "./own-shapes.ts";
import { PRIVATE_KEY_SHAPES } from "./private-key-shapes.ts";
import { beginningsOf, cutOffSource, longestLength, shortestLength, wholeSource } from "./pattern.ts";
import type { Pattern } from "./pattern.ts";
import type { Finder, Hit } from "./scan.ts";
import { BEFORE_WORD, NO_TAIL, WORD_BEGINS } from "./shape.ts";
import type { Shape } from "./shape.ts";
import { SIGN_CHARS, signsOf } from "./signs.ts";
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

/** A shape at a place, with a group for what stays before the secret. */
function expressionOf(shape: Shape): RegExp {
  const { before = [], unless = "", secret, after = [] } = shape;
  const source = `${beginningOf(shape)}(${wholeSource(before)})${unless}${wholeSource(secret)}(?=${wholeSource(after)})`;
  return new RegExp(source, "y");
}

/** Made when the first text needs them, once for all groups that the shape is in. */
const expressions = new Map<Shape, RegExp>();

function expressionFor(shape: Shape): RegExp {
  let expression = expressions.get(shape);
  if (expression === undefined) expressions.set(shape, (expression = expressionOf(shape)));
  return expression;
}

/** The beginning of any of some shapes, cut off by the end of the text. */
function cutOffOf(shapes: readonly Shape[]): RegExp {
  return new RegExp(shapes.map((shape) => beginningOf(shape) + cutOffSource(partsOf(shape))).join("|"), "y");
}

/** The same where the secret itself has begun; its prefix is not replaced. */
function secretCutOffOf(shapes: readonly Shape[]): RegExp {
  const sources = shapes.map((shape) => {
    const { before = [], secret, after = [] } = shape;
    return beginningOf(shape) + wholeSource(before) + cutOffSource([...secret, ...after]);
  });
  return new RegExp(sources.join("|"), "y");
}

/** Shapes that may begin with the same sign; their expressions are made when the first text needs them. */
class Group {
  readonly #shapes: readonly Shape[];
  #cutOff: RegExp | undefined;
  #secretCutOff: RegExp | undefined;

  constructor(shapes: readonly Shape[]) {
    this.#shapes = shapes;
  }

  hitAt(text: string, at: number): Hit | undefined {
    for (const shape of this.#shapes) {
      const expression = expressionFor(shape);
      expression.lastIndex = at;
      const match = expression.exec(text);
      if (match === null) continue;
      return { index: at, from: at + (match[1]?.length ?? 0), to: expression.lastIndex, tail: shape.tail ?? NO_TAIL };
    }
    return undefined;
  }

  isCutOff(text: string, at: number): boolean {
    this.#cutOff ??= cutOffOf(this.#shapes);
    this.#cutOff.lastIndex = at;
    return this.#cutOff.test(text);
  }

  isSecretCutOff(text: string, at: number): boolean {
    this.#secretCutOff ??= secretCutOffOf(this.#shapes);
    this.#secretCutOff.lastIndex = at;
    return this.#secretCutOff.test(text);
  }
}

const signs = signsOf(
  SHAPES.map((shape) => {
    const { behind, previous = behind === undefined ? BEFORE_WORD : ANY } = shape;
    return { pattern: partsOf(shape), previous };
  }),
);
const groups = signs.groups.map((members) => new Group(members.map((member) => SHAPES[member]!)));

/** The beginning of any shape in the last characters of a text, which are too few for a sign, from so many of them on. */
function cutShortFrom(least: (shape: Shape) => number): RegExp {
  const sources = SHAPES.flatMap((shape) =>
    beginningsOf(partsOf(shape), SIGN_CHARS - 1).flatMap(([first, second]) => {
      if (least(shape) <= 1) return [`${beginningOf(shape)}${first}(?:$|${second}$)`];
      return least(shape) < SIGN_CHARS ? [`${beginningOf(shape)}${first}${second}$`] : [];
    }),
  );
  return new RegExp([...new Set(sources)].join("|"), "y");
}

const cutShort = cutShortFrom(() => 1);
const secretCutShort = cutShortFrom(({ before = [] }) => shortestLength(before) + 1);

/** The first of the last characters of a text, too few for a sign, where the expression fits; the length if none is. */
function shortAt(expression: RegExp, text: string, from: number): number {
  for (let at = Math.max(from, text.length - SIGN_CHARS + 1); at < text.length; at++) {
    expression.lastIndex = at;
    if (expression.test(text)) return at;
  }
  return text.length;
}

/** The longest match of any shape. */
export const SHAPE_CHARS = Math.max(...SHAPES.map((shape) => longestLength(partsOf(shape))));

/** Finds secrets of all known shapes. */
export const shapeFinder: Finder = {
  find(text, from) {
    let hit: Hit | undefined;
    signs.find(text, from, (at, group) => {
      hit = groups[group]!.hitAt(text, at);
      return hit !== undefined;
    });
    return hit;
  },
  open(text, from) {
    const start = Math.max(from, text.length - REDACT_LIMITS.holdChars);
    const open = signs.find(text, start, (at, group) => groups[group]!.isCutOff(text, at));
    return open < text.length ? open : shortAt(cutShort, text, start);
  },
  certain(text, open) {
    const held = signs.find(text, open, (at, group) => groups[group]!.isSecretCutOff(text, at));
    return held < text.length ? held : shortAt(secretCutShort, text, open);
  },
};
