import { TOKEN_LIMITS } from "../limits.ts";
import { either, charRun, literal } from "./pattern.ts";
import type { Pattern } from "./pattern.ts";
import { runOf } from "./scan.ts";
import { ANYWHERE, NO_TAIL } from "./shape.ts";
import type { Shape } from "./shape.ts";

/*
 * Vidro's own tokens and invitations: an id in hexadecimal digits, a dot, and a secret in base64url. They are known by
 * this form, so that also one is found which another brain gave out.
 */

const ID_CHARS = TOKEN_LIMITS.idBytes * 2;
const SECRET_CHARS = Math.ceil((TOKEN_LIMITS.secretBytes * 4) / 3);
const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE64_ANY = "[A-Za-z0-9+/_-]";

/*
 * Each is looked for at the dot between id and secret, which is rare, and not at the id, which begins like any hash: the
 * last digits of the id before the dot tell enough.
 */

/** The dot and the secret, as they are or in an address. */
const PLAIN: Shape = {
  behind: "(?<=[0-9a-f]{15})",
  before: [either(literal("."), [...literal("%2"), charRun("[Ee]", 1)])],
  unless: "(?=[a-z0-9_-]{0,42}[A-Z])",
  secret: [charRun("[A-Za-z0-9_-]", SECRET_CHARS)],
  tail: runOf("[A-Za-z0-9_.-]"),
};

const HEX = "[0-9A-Fa-f]";

/** The letters as hexadecimal digits, `30` to `39` and `61` to `66` for those of the id: in pairs, apart, as percent codes. */
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

/** A token in base64, behind any number of other bytes; its beginning stays, which is the id's. */
const ENCODED: readonly Shape[] = [0, 1, 2].map((offset) => ({
  behind: ANYWHERE,
  before: base64Of([...Array.from({ length: ID_CHARS }, () => bytesOf("0123456789abcdef")), bytesOf(".")], offset),
  secret: [charRun(BASE64_ANY, 40)],
  tail: runOf("[A-Za-z0-9+/=_-]"),
}));

/** Tokens and invitations of a brain, as they are and in the forms in which programs show them. */
export const OWN_SHAPES: readonly Shape[] = [PLAIN, ...HEXED, ...ENCODED];

function bytesOf(letters: string): readonly number[] {
  return Array.from(letters, (letter) => letter.charCodeAt(0));
}

/** The base64 of bytes of which each is one of some, behind `offset` unknown ones: what no neighbour changes. */
function base64Of(bytes: readonly (readonly number[])[], offset: number): Pattern {
  const characters: Pattern[number][] = [];
  for (let bit = (6 - ((offset * 8) % 6)) % 6; bit + 6 <= bytes.length * 8; bit += 6) {
    const first = bytes[bit >> 3] ?? [];
    // A character that begins with one of the first bits of a byte has none of the next.
    const second = (bit & 7) > 2 ? (bytes[(bit >> 3) + 1] ?? [0]) : [0];
    const values = new Set<number>();
    for (const high of first) for (const low of second) values.add((((high << 8) | low) >> (10 - (bit & 7))) & 63);
    characters.push(charRun(`[${[...values].map((value) => BASE64[value]).join("")}]`, 1));
  }
  return characters;
}
