import { TOKEN_LIMITS } from "../limits.ts";
import { either, charRun, literal } from "./pattern.ts";
import type { Pattern } from "./pattern.ts";
import { runOf } from "./scan.ts";
import { ANYWHERE, NO_TAIL } from "./shape.ts";
import type { Shape } from "./shape.ts";

/*
 * Vidro's own tokens and invitations: an id in hexadecimal digits, a dot, and a secret in base64url. They are recognised
 * by this format, so that tokens of other brains are found too.
 */

const ID_CHARS = TOKEN_LIMITS.idBytes * 2;
const SECRET_CHARS = Math.ceil((TOKEN_LIMITS.secretBytes * 4) / 3);
const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE64_ANY = "[A-Za-z0-9+/_-]";

/*
 * The search starts at the dot between id and secret, because the id looks like any hash. The last digits of the id
 * before the dot are enough to recognise it.
 */

/** The dot and the secret, plain or percent-encoded. */
const PLAIN: Shape = {
  behind: "(?<=[0-9a-f]{15})",
  before: [either(literal("."), [...literal("%2"), charRun("[Ee]", 1)])],
  unless: "(?=[a-z0-9_-]{0,42}[A-Z])",
  secret: [charRun("[A-Za-z0-9_-]", SECRET_CHARS)],
  tail: runOf("[A-Za-z0-9_.-]"),
};

const HEX = "[0-9A-Fa-f]";

/** The characters as hexadecimal codes (`30` to `39` and `61` to `66` in the id): joined, separated, or percent-encoded. */
const HEXED: readonly Shape[] = [
  {
    behind: "(?<=(?:[36][0-9]){7})",
    before: [...literal("2"), charRun("[eE]", 1)],
    secret: [charRun(HEX, SECRET_CHARS * 2)],
    tail: runOf(HEX),
  },
  {
    behind: "(?<=(?:[36][0-9][ :]){5})",
    before: [...literal("2"), charRun("[eE]", 1)],
    secret: Array.from({ length: SECRET_CHARS }, () => [charRun("[ :]", 1), charRun(HEX, 2)]).flat(),
    tail: NO_TAIL,
  },
  {
    behind: "(?<=(?:%[36][0-9]){5})",
    before: [...literal("%2"), charRun("[eE]", 1)],
    secret: Array.from({ length: SECRET_CHARS }, () => [...literal("%"), charRun(HEX, 2)]).flat(),
    tail: NO_TAIL,
  },
];

const NO_BYTE: readonly number[] = [0];
/** The bytes that each character of an id may be. */
const ID_BYTES = bytesOf("0123456789abcdef");

/** A token in base64, at any offset in other bytes; the part with the id is shown. */
const ENCODED: readonly Shape[] = [0, 1, 2].map((offset) => ({
  behind: ANYWHERE,
  before: base64Of([...Array<readonly number[]>(ID_CHARS).fill(ID_BYTES), bytesOf(".")], offset),
  secret: [charRun(BASE64_ANY, 40)],
  tail: runOf("[A-Za-z0-9+/=_-]"),
}));

/** Tokens and invitations of a brain, plain and in common encodings. */
export const OWN_SHAPES: readonly Shape[] = [PLAIN, ...HEXED, ...ENCODED];

function bytesOf(letters: string): readonly number[] {
  return Array.from(letters, (letter) => letter.charCodeAt(0));
}

/** The base64 of bytes from given sets after `offset` unknown bytes: only the characters that do not depend on other bytes. */
function base64Of(bytes: readonly (readonly number[])[], offset: number): Pattern {
  const characters: Pattern[number][] = [];
  for (let bit = (6 - ((offset * 8) % 6)) % 6; bit + 6 <= bytes.length * 8; bit += 6) {
    const first = bytes[bit >> 3] ?? [];
    // A base64 character that starts at a byte's first bit has no bits of the next byte.
    const second = (bit & 7) > 2 ? (bytes[(bit >> 3) + 1] ?? NO_BYTE) : NO_BYTE;
    // Three bytes on, the same bytes give the same character.
    const [before, beforeSecond] = [bytes[(bit >> 3) - 3], (bit & 7) > 2 ? bytes[(bit >> 3) - 2] : NO_BYTE];
    const known = before === first && beforeSecond === second ? characters.at(-4) : undefined;
    if (known !== undefined) {
      characters.push(known);
      continue;
    }
    const values = new Set<number>();
    for (const high of first) for (const low of second) values.add((((high << 8) | low) >> (10 - (bit & 7))) & 63);
    characters.push(charRun(`[${[...values].map((value) => BASE64[value]).join("")}]`, 1));
  }
  return characters;
}
