import { REDACT_LIMITS } from "../limits.ts";
import { either, charRun, literal } from "./pattern.ts";
import type { Step } from "./pattern.ts";
import { runOf } from "./scan.ts";
import type { Tail } from "./scan.ts";
import { ANYWHERE } from "./shape.ts";
import type { Shape } from "./shape.ts";

/* Private keys in the files of OpenSSL, OpenSSH, PuTTY, minisign and JSON web keys. */

const BASE64 = "[A-Za-z0-9+/]";
const BASE64URL = "[A-Za-z0-9_-]";
/** A line end: plain, escaped in a JSON string, or escaped twice. */
const LINE_BREAK = either([charRun(String.raw`\s`, 1)], [charRun(String.raw`\\`, 1, 4), charRun("[nrt]", 1)]);

/** Prefixes of a line in the output of programs: indentation, a `diff` mark, a line number, or a file and a line number. */
const LINE_START: Step = either(
  [],
  [charRun("[ \\t+>|#*0-9:.-]", 1, 24), either([], [charRun(String.raw`\\`, 1, 4), ...literal("t")])],
  [
    charRun("[^\\s:\\\\]", 1, 96),
    charRun("[:-]", 1),
    charRun("[0-9]", 1, 6),
    charRun("[:-]", 1),
    charRun("[ \\t]", 0, 16),
  ],
);

/** Everything up to an end marker, which must come within `REDACT_LIMITS.privateKeyChars`. */
function tailUntil(end: RegExp, { endChars, isEndKept }: { endChars: number; isEndKept: boolean }): Tail {
  return {
    eat(text, from, { eaten, last }) {
      const limit = from + REDACT_LIMITS.privateKeyChars - eaten;
      const match = end.exec(text.slice(from, limit));
      if (match !== null) return { to: from + match.index + (isEndKept ? 0 : match[0].length), done: true };
      if (text.length >= limit) return { to: limit, done: true };
      return { to: last ? text.length : Math.max(from, text.length - endChars), done: false };
    },
  };
}

const PEM_END = /-----END [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----/;
const PEM_TAIL = tailUntil(PEM_END, { endChars: 64, isEndKept: false });

const PEM: readonly Shape[] = [
  {
    behind: ANYWHERE,
    secret: [
      ...literal("-----BEGIN "),
      charRun("[A-Z0-9 ]", 0, 32),
      ...literal("PRIVATE KEY"),
      either(literal("-----"), literal(" BLOCK-----")),
      LINE_BREAK,
      either([], [LINE_BREAK]),
      LINE_START,
      // The line after the marker must be key material or a header such as `Proc-Type: `; text about keys has neither.
      either([charRun(BASE64, 16)], [charRun("[A-Za-z-]", 4, 12), ...literal(": ")]),
    ],
    tail: PEM_TAIL,
  },
  // First bytes of a key without a marker line: RSA and DSA, PKCS #8, encrypted PKCS #8, EC, Ed25519, SSH.
  ...[
    [...literal("MII"), charRun("[A-P]", 1), charRun(BASE64, 1), charRun("[AQgw]", 1), ...literal("IBAAK")],
    [...literal("MII"), charRun("[A-P]", 1), charRun(BASE64, 1), charRun("[AQgw]", 1), ...literal("IBADAN")],
    [...literal("MII"), charRun(BASE64, 1, 6), ...literal("BgkqhkiG9w0BBQ")],
    literal("MHcCAQEEI"),
    [...literal("MIG"), charRun(BASE64, 1), ...literal("AgEBBD")],
    [...literal("MIG"), charRun(BASE64, 1), ...literal("AgEAMB")],
    literal("MC4CAQAwBQYDK2Vw"),
    literal("b3BlbnNzaC1rZXktdjE"),
  ].map((beginning) => ({
    secret: [...beginning, charRun(BASE64, 24)],
    tail: tailUntil(/[^A-Za-z0-9+/=\s\\]/, { endChars: 0, isEndKept: true }),
  })),
];

const QUOTE = [charRun(String.raw`\\`, 0, 3), charRun('"', 1)] as const;

/** Private keys in all formats that programs store them in. */
export const PRIVATE_KEY_SHAPES: readonly Shape[] = [
  ...PEM,
  {
    before: [...literal("Private-Lines: "), charRun("[0-9]", 1, 3), LINE_BREAK, either([], [LINE_BREAK])],
    secret: [charRun(BASE64, 16)],
    tail: tailUntil(/Private-(?:MAC|Hash)|[^A-Za-z0-9+/=\s\\-]/, { endChars: 16, isEndKept: true }),
  },
  {
    behind: ANYWHERE,
    before: [...literal("secret key"), LINE_BREAK, either([], [LINE_BREAK])],
    secret: [...literal("RW"), charRun(BASE64, 40)],
    tail: runOf("[A-Za-z0-9+/=]"),
  },
  // The private members of a JSON web key.
  {
    behind: ANYWHERE,
    before: [
      ...QUOTE,
      either(...["d", "p", "q", "dp", "dq", "qi", "k"].map((name) => literal(name))),
      ...QUOTE,
      charRun(" ", 0, 1),
      ...literal(":"),
      charRun(" ", 0, 1),
      ...QUOTE,
    ],
    unless: `(?=${BASE64URL}{0,40}[A-Z])(?=${BASE64URL}{0,40}[a-z])(?=${BASE64URL}{0,40}[0-9])`,
    secret: [charRun(BASE64URL, 40)],
    tail: runOf(BASE64URL),
  },
];
