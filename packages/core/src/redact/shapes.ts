import { REDACT } from "../limits.ts";
import { anyCase, cut, either, longest, run, whole, word } from "./pattern.ts";
import type { Pattern } from "./pattern.ts";
import { runOf } from "./scan.ts";
import type { Finder, Tail } from "./scan.ts";
import { SIGN_CHARS, signFinder } from "./signs.ts";

/** What a kind of secret looks like. */
interface Shape {
  /** Whether it may begin in the middle of a word. */
  readonly anywhere?: boolean;
  /** Stays, for it says what was there. */
  readonly before?: Pattern;
  /** The source of lookaheads that `secret` must pass; they see no farther than `secret` can reach. */
  readonly unless?: string;
  readonly secret: Pattern;
  readonly after?: Pattern;
  readonly tail: Tail;
}

const NAME_TAIL = runOf("[A-Za-z0-9_-]");
const NO_TAIL: Tail = { eat: (_text, from) => ({ to: from, done: true }) };

/** Where a word begins: behind anything but a letter, and behind escapes and colour codes, which end in letters. */
const WORD_BEGINS = String.raw`(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]|%[0-9A-Fa-f]{2}|\[[0-9;]{1,8}m))`;

const key = (prefix: string, set: string, chars: number): Shape => ({
  secret: [...word(prefix), run(set, chars)],
  tail: NAME_TAIL,
});

/** Keys that say by their first letters whose they are. */
const KEYS: readonly Shape[] = [
  key("sk-", "[A-Za-z0-9_-]", 20),
  ...["sk_live_", "sk_test_", "rk_live_", "rk_test_"].map((prefix) => key(prefix, "[A-Za-z0-9]", 16)),
  { secret: [...word("gh"), run("[opsur]", 1), ...word("_"), run("[A-Za-z0-9]", 20)], tail: NAME_TAIL },
  key("github_pat_", "[A-Za-z0-9_]", 20),
  key("glpat-", "[A-Za-z0-9_-]", 16),
  { secret: [...word("xox"), run("[a-z]", 1), ...word("-"), run("[A-Za-z0-9-]", 12)], tail: NAME_TAIL },
  key("AKIA", "[A-Z0-9]", 16),
  key("ASIA", "[A-Z0-9]", 16),
  key("AIza", "[A-Za-z0-9_-]", 30),
  key("npm_", "[A-Za-z0-9]", 30),
  key("hf_", "[A-Za-z0-9]", 30),
];

const BASE64URL = "[A-Za-z0-9_-]";
const JWT_TAIL = runOf("[A-Za-z0-9_.=-]");

/** Tokens of three base64url parts; a first part that begins with `{"alg":` needs no second to be known. */
const TOKENS: readonly Shape[] = [
  { secret: [...word("eyJhbGciOi"), run(BASE64URL, 16)], tail: JWT_TAIL },
  { secret: [...word("eyJ"), run(BASE64URL, 8, 256), ...word("."), run(BASE64URL, 8)], tail: JWT_TAIL },
];

const KEY_END = /-----END [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----/;
const KEY_END_CHARS = 64;

/** Everything up to the line that ends a private key. */
const PRIVATE_KEY_TAIL: Tail = {
  eat(text, from, { eaten, last }) {
    const limit = from + REDACT.privateKeyChars - eaten;
    const end = KEY_END.exec(text.slice(from, limit));
    if (end !== null) return { to: from + end.index + end[0].length, done: true };
    if (text.length >= limit) return { to: limit, done: true };
    return { to: last ? text.length : Math.max(from, text.length - KEY_END_CHARS), done: false };
  },
};

const LINE_BREAK = either([run(String.raw`\s`, 1)], [...word("\\"), run("[nrt]", 1)]);

const PRIVATE_KEY: Shape = {
  anywhere: true,
  secret: [
    ...word("-----BEGIN "),
    run("[A-Z0-9 ]", 0, 32),
    ...word("PRIVATE KEY"),
    either(word("-----"), word(" BLOCK-----")),
    LINE_BREAK,
    either([], [LINE_BREAK]),
    // Words about keys have no such line behind the first: either the key itself, or a header as in `Proc-Type: `.
    either([run("[A-Za-z0-9+/]", 16)], [run("[A-Za-z-]", 4, 12), ...word(": ")]),
  ],
  tail: PRIVATE_KEY_TAIL,
};

const SPACE = String.raw`[ \t]`;
/** A quote, perhaps inside a string that is itself quoted. */
const QUOTE: Pattern = [run(String.raw`\\`, 0, 1), run("[\"'`]", 1)];
const MAYBE_QUOTE = either([], QUOTE);
const EQUALS: Pattern = [run(SPACE, 0, 4), either(word(":="), word("=>"), [run("[:=]", 1)]), run(SPACE, 0, 4)];

const NAMES = either(
  [...anyCase("passw"), either(anyCase("or"), []), ...anyCase("d")],
  anyCase("passphrase"),
  anyCase("secret"),
  anyCase("token"),
  [
    either(anyCase("api"), anyCase("access"), anyCase("private"), anyCase("secret")),
    run("[_-]", 0, 1),
    ...anyCase("key"),
  ],
  [...anyCase("credential"), run("[sS]", 0, 1)],
  anyCase("authorization"),
);

const BARE = "[A-Za-z0-9_~+/!@#%^*?-]";
const QUOTED = "[^\\s\"'`\\\\]";
const BARE_TAIL = runOf("[^\\s\"'`,;)\\]}&<>\\\\]");
/** How far the lookaheads below see, and so how far a stream waits for a value's end. */
const VALUE_CHARS = 64;

/** A number, a call or a member of something, and a variable named like what it is given to are no secrets. */
const CODE = String.raw`(?!\d{1,16}\b|\w{1,40}[.(\[]|\w{0,40}${whole([NAMES])}\b)`;
const HAS_DIGIT = (set: string): string => `(?=${set}{0,40}[0-9])`;

const ASSIGNMENTS: readonly Shape[] = [
  {
    anywhere: true,
    before: [NAMES, MAYBE_QUOTE, ...EQUALS, ...QUOTE],
    // A template or a blank to fill in is no secret; neither is a short word without a digit.
    unless: `(?![$<{[*%])(?:${HAS_DIGIT(QUOTED)}|(?=${QUOTED}{12}))`,
    secret: [run(QUOTED, 6, VALUE_CHARS)],
    tail: runOf(QUOTED),
  },
  {
    anywhere: true,
    before: [NAMES, MAYBE_QUOTE, ...EQUALS],
    unless: CODE + HAS_DIGIT(BARE),
    secret: [run(BARE, 7, VALUE_CHARS)],
    tail: BARE_TAIL,
  },
  {
    anywhere: true,
    before: [NAMES, ...word("=")],
    unless: CODE,
    secret: [run(BARE, 8, VALUE_CHARS)],
    tail: BARE_TAIL,
  },
];

const CREDENTIAL = "[A-Za-z0-9._~+/=-]";

const BASIC: Shape = {
  anywhere: true,
  before: [...anyCase("authorization"), MAYBE_QUOTE, ...EQUALS, MAYBE_QUOTE, ...anyCase("basic"), run(" ", 1, 2)],
  secret: [run(CREDENTIAL, 4)],
  tail: runOf(CREDENTIAL),
};

const BEARER: Shape = {
  before: [...anyCase("bearer"), run(" ", 1, 2)],
  unless: HAS_DIGIT(CREDENTIAL),
  secret: [run(CREDENTIAL, 8, VALUE_CHARS)],
  tail: runOf(CREDENTIAL),
};

const CONNECTION: Shape = {
  anywhere: true,
  before: [...word("://"), run("[^\\s:/?#@\"'`<>]", 0, 64), ...word(":")],
  unless: "(?![${[])",
  secret: [run("[^\\s/@\"'`<>]", 1, 256)],
  after: word("@"),
  tail: NO_TAIL,
};

const SHAPES: readonly Shape[] = [PRIVATE_KEY, BEARER, CONNECTION, ...KEYS, ...TOKENS, BASIC, ...ASSIGNMENTS];

const partsOf = ({ before = [], secret, after = [] }: Shape): Pattern => [...before, ...secret, ...after];
const beginningOf = (shape: Shape): string => (shape.anywhere ? "" : WORD_BEGINS);

/** Any of the shapes here, with a group for what stays: the one that is set tells which shape it was. */
const here = new RegExp(
  SHAPES.map((shape) => {
    const { before = [], unless = "", secret, after = [] } = shape;
    return `${beginningOf(shape)}(${whole(before)})${unless}${whole(secret)}(?=${whole(after)})`;
  }).join("|"),
  "y",
);
/** The beginning of any shape here, cut off by the end of the text. */
const cutOffHere = new RegExp(SHAPES.map((shape) => beginningOf(shape) + cut(partsOf(shape))).join("|"), "y");

const signFrom = signFinder(SHAPES.map(partsOf));

/** The most that has to be seen to know a secret by its shape. */
export const SHAPE_CHARS = Math.max(...SHAPES.map((shape) => longest(partsOf(shape))));

/** Finds what looks like a secret, whoever's it is. */
export const shapeFinder: Finder = {
  find(text, from) {
    for (let at = signFrom(text, from); at < text.length; at = signFrom(text, at + 1)) {
      here.lastIndex = at;
      const match = here.exec(text);
      if (match === null) continue;
      const which = match.findIndex((group, index) => index > 0 && group !== undefined);
      const tail = SHAPES[which - 1]?.tail ?? NO_TAIL;
      return { index: at, from: at + (match[which]?.length ?? 0), to: here.lastIndex, tail };
    }
    return undefined;
  },
  open(text, from) {
    const start = Math.max(from, text.length - REDACT.holdChars);
    // The last few characters are too few for a sign.
    const rest = Math.max(start, text.length - SIGN_CHARS + 1);
    for (let at = signFrom(text, start); at < text.length; at = signFrom(text, at + 1))
      if (isCutOff(text, at)) return at;
    for (let at = rest; at < text.length; at++) if (isCutOff(text, at)) return at;
    return text.length;
  },
};

function isCutOff(text: string, at: number): boolean {
  cutOffHere.lastIndex = at;
  return cutOffHere.test(text);
}
