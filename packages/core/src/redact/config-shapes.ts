import { EQUALS, MAYBE_QUOTE, NAMES, NO_ORDINARY_WORD, NO_TEMPLATE, QUOTE } from "./named-shapes.ts";
import { anyCase, charRun, either, literal } from "./pattern.ts";
import { runOf } from "./scan.ts";
import { ANYWHERE, HAS_MIXED_CASE, hasDigit, NO_TAIL, VALUE_CHARS } from "./shape.ts";
import type { Shape } from "./shape.ts";

/* Secrets whose name is not right before them: pairs of name and value, blocks of YAML, lists, command lines. */

const SPACES = charRun(String.raw`[ \t]`, 0, 4);
const LINE_BREAK = either([charRun("\\r", 0, 1), charRun("\\n", 1)], [charRun(String.raw`\\`, 1, 4), charRun("n", 1)]);
const VALUE = "[^\\s\"'`\\\\]";
const VALUE_TAIL = runOf(VALUE);
const LINE = "[^\\r\\n\"'`\\\\]";
const ARGUMENT = "[^\\s\"'`\\\\|;&]";
const LOOKS_RANDOM = (set: string): string => `(?:${hasDigit(set)}|${HAS_MIXED_CASE})`;

const PAIRS: readonly Shape[] = NAMES.flatMap((name) => [
  {
    // `name: DB_PASSWORD` followed by `value: …`, in YAML, JSON and XML.
    behind: ANYWHERE,
    before: [
      ...name,
      // The name must be a string or the last word of its line, so that the variable in `tokenValue =` does not match.
      either(
        [...QUOTE, SPACES, charRun(",", 0, 1), charRun(String.raw`\s`, 0, 24)],
        [LINE_BREAK, charRun(String.raw`\s`, 0, 24)],
      ),
      MAYBE_QUOTE,
      ...anyCase("value"),
      MAYBE_QUOTE,
      ...EQUALS,
      MAYBE_QUOTE,
    ],
    unless: NO_TEMPLATE + NO_ORDINARY_WORD,
    secret: [charRun(VALUE, 6, VALUE_CHARS)],
    tail: VALUE_TAIL,
  },
  {
    // `password: |` with the value in the next line.
    behind: ANYWHERE,
    before: [
      ...name,
      MAYBE_QUOTE,
      ...literal(":"),
      SPACES,
      charRun("[|>]", 1),
      charRun("[-+]", 0, 1),
      LINE_BREAK,
      charRun(" ", 1, 24),
    ],
    unless: NO_TEMPLATE,
    secret: [charRun(LINE, 6, VALUE_CHARS)],
    tail: runOf(LINE),
  },
  {
    // `["--password", "…"]` and `define('DB_PASSWORD', '…')`. The value must have a digit, unlike a list of names.
    behind: ANYWHERE,
    before: [...name, ...QUOTE, SPACES, ...literal(","), SPACES, ...QUOTE],
    unless: `${NO_TEMPLATE}(?![a-z]{2,12}[-_])${LOOKS_RANDOM(VALUE)}`,
    secret: [charRun(VALUE, 8, VALUE_CHARS)],
    tail: VALUE_TAIL,
  },
]);

/*
 * One-letter options with which a program takes a secret. The arguments between the program and the option are not
 * searched; they must not be able to contain another secret, because they are shown.
 */
const OPTIONS_OF_COMMANDS: readonly Shape[] = [
  {
    before: [
      ...literal("redis-cli "),
      either([], [...literal("-h "), charRun("[a-z0-9.]", 1, 15), ...literal(" ")]),
      ...literal("-a "),
      MAYBE_QUOTE,
    ],
    unless: NO_TEMPLATE,
    secret: [charRun(ARGUMENT, 6)],
    tail: runOf(ARGUMENT),
  },
  {
    before: [
      either(...["mysql", "mysqldump", "mysqladmin", "mariadb"].map((program) => literal(program))),
      ...literal(" -p"),
      MAYBE_QUOTE,
    ],
    unless: NO_TEMPLATE,
    secret: [charRun(ARGUMENT, 6)],
    tail: runOf(ARGUMENT),
  },
  {
    // `ldapsearch`: the password comes before the search base.
    before: [...literal("-w "), MAYBE_QUOTE],
    unless: NO_TEMPLATE + LOOKS_RANDOM(ARGUMENT),
    secret: [charRun(ARGUMENT, 6, VALUE_CHARS)],
    after: [MAYBE_QUOTE, ...literal(" -b ")],
    tail: NO_TAIL,
  },
  {
    before: [...literal("-b "), MAYBE_QUOTE, charRun("[A-Za-z0-9_.-]", 1, 64), ...literal("=")],
    unless: NO_TEMPLATE + hasDigit(VALUE),
    secret: [charRun(VALUE, 16, VALUE_CHARS)],
    tail: runOf(LINE),
  },
  {
    before: [...literal("echo "), either([], literal("-n ")), MAYBE_QUOTE],
    unless: NO_TEMPLATE,
    secret: [charRun(ARGUMENT, 6, VALUE_CHARS)],
    after: [MAYBE_QUOTE, ...literal(" | "), charRun("[a-z]", 3, 12), ...literal(" login")],
    tail: NO_TAIL,
  },
];

const BASE64 = "[A-Za-z0-9+/=]";

/** Secrets that are recognised by the format of a configuration file. */
export const CONFIG_SHAPES: readonly Shape[] = [
  ...PAIRS,
  ...OPTIONS_OF_COMMANDS,
  {
    // User name and password of a registry, in the file that `docker login` writes.
    behind: ANYWHERE,
    before: [...QUOTE, ...literal("auth"), ...QUOTE, ...EQUALS, ...QUOTE],
    unless: LOOKS_RANDOM(BASE64),
    secret: [charRun(BASE64, 12, VALUE_CHARS)],
    tail: runOf(BASE64),
  },
  {
    // The private key of a user in the configuration of Kubernetes, in base64.
    behind: ANYWHERE,
    before: [...literal("client-key-data"), MAYBE_QUOTE, ...EQUALS, MAYBE_QUOTE],
    secret: [charRun(BASE64, 40)],
    tail: runOf(BASE64),
  },
  ...["_pat", "_key", "-key"].map((name) => ({
    // Any `key` with a random value. Keys of caches and database tables match too, and are redacted.
    behind: "(?<!public|cache|primary|foreign|partition|sort|object|dempotency|Socket|group|lookup|host|PUBLIC|CACHE)",
    before: [...anyCase(name), MAYBE_QUOTE, ...EQUALS, MAYBE_QUOTE],
    unless: `(?=[a-z0-9+/_-]{0,40}[A-Z])(?=[A-Z0-9+/_-]{0,40}[a-z])(?=[A-Za-z+/_-]{0,30}[0-9][A-Za-z+/_-]{0,20}[0-9])(?![A-Za-z]{1,20}[-_/])`,
    secret: [charRun("[A-Za-z0-9+/_-]", 20, VALUE_CHARS)],
    tail: runOf("[A-Za-z0-9+/=_-]"),
  })),
  {
    // Azure DevOps: lower-case letters and digits only.
    behind: "(?<=[A-Za-z])",
    before: [charRun("[_-]", 1), ...anyCase("pat"), MAYBE_QUOTE, ...EQUALS, MAYBE_QUOTE],
    unless: hasDigit("[a-z2-7]"),
    secret: [charRun("[a-z2-7]", 52)],
    tail: runOf("[A-Za-z0-9]"),
  },
];
