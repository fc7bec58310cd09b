import { anyCase, either, charRun, literal } from "./pattern.ts";
import { EQUALS, MAYBE_QUOTE } from "./named-shapes.ts";
import { runOf } from "./scan.ts";
import { ANYWHERE, HAS_MIXED_CASE, hasDigit, NO_TAIL, VALUE_CHARS } from "./shape.ts";
import type { Shape } from "./shape.ts";

/* Secrets in headers and addresses. */

const CREDENTIAL = "[A-Za-z0-9._~+/=-]";
const COOKIE = "[^\\s\"'`\\\\]";
const COOKIES = "[^\\r\\n\"'`\\\\]";

const HEADERS: readonly Shape[] = [
  {
    before: [...anyCase("bearer"), charRun(" ", 1, 2)],
    unless: `(?:${hasDigit(CREDENTIAL)}|${HAS_MIXED_CASE})`,
    secret: [charRun(CREDENTIAL, 8, VALUE_CHARS)],
    tail: runOf(CREDENTIAL),
  },
  {
    behind: ANYWHERE,
    before: [...anyCase("authorization"), MAYBE_QUOTE, ...EQUALS, MAYBE_QUOTE, ...anyCase("basic"), charRun(" ", 1, 2)],
    secret: [charRun(CREDENTIAL, 4)],
    tail: runOf(CREDENTIAL),
  },
  {
    behind: ANYWHERE,
    before: [
      ...anyCase("authorization"),
      MAYBE_QUOTE,
      ...EQUALS,
      MAYBE_QUOTE,
      charRun("[A-Za-z0-9-]", 3, 20),
      charRun(" ", 1),
    ],
    unless: hasDigit(CREDENTIAL),
    secret: [charRun(CREDENTIAL, 8, VALUE_CHARS)],
    tail: runOf("[^\\r\\n\"'`\\\\]"),
  },
  {
    // The scheme of Okta's tokens, also without the name of the header.
    before: literal("SSWS "),
    unless: hasDigit("[A-Za-z0-9_-]"),
    secret: [charRun("[A-Za-z0-9_-]", 20)],
    tail: runOf("[A-Za-z0-9_-]"),
  },
  {
    // The response in a Digest header, which is derived from the password.
    behind: "(?<=[ ,])",
    before: [...literal("response="), MAYBE_QUOTE],
    unless: hasDigit("[A-Za-z0-9]"),
    secret: [charRun("[A-Za-z0-9]", 30)],
    tail: runOf("[A-Za-z0-9]"),
  },
  {
    // The name of the first cookie is shown, and of a `Set-Cookie` also its attributes.
    before: [
      ...anyCase("set-cookie"),
      MAYBE_QUOTE,
      ...EQUALS,
      MAYBE_QUOTE,
      charRun("[A-Za-z0-9_.-]", 1, 64),
      ...literal("="),
    ],
    secret: [charRun("[^\\s\"'`\\\\;]", 6)],
    tail: runOf("[^\\s\"'`\\\\;]"),
  },
  {
    before: [
      ...anyCase("cookie"),
      MAYBE_QUOTE,
      ...EQUALS,
      MAYBE_QUOTE,
      charRun("[A-Za-z0-9_.-]", 1, 64),
      ...literal("="),
    ],
    secret: [charRun(COOKIE, 1), charRun(COOKIES, 4)],
    tail: runOf(COOKIES),
  },
  {
    before: [
      ...literal("--cookie"),
      charRun("[ =]", 1),
      MAYBE_QUOTE,
      charRun("[A-Za-z0-9_.-]", 1, 64),
      ...literal("="),
    ],
    secret: [charRun(COOKIE, 6)],
    tail: runOf(COOKIES),
  },
];

const PATH = "[A-Za-z0-9_/@%.-]";
const PATH_TAIL = runOf("[A-Za-z0-9_/@%.?=&:-]");

/** Webhook URLs of chats: knowledge of the URL allows posting. */
const WEBHOOKS: readonly Shape[] = [
  ...[
    "hooks.slack.com/services/",
    "hooks.slack.com/workflows/",
    "hooks.slack.com/triggers/",
    "discord.com/api/webhooks/",
    "discordapp.com/api/webhooks/",
    "webhook.office.com/webhookb2/",
    "hooks.zapier.com/hooks/catch/",
    "hook.eu1.make.com/",
    "maker.ifttt.com/use/",
    "open.feishu.cn/open-apis/bot/v2/hook/",
    "outlook.office.com/webhook/",
  ].map((place) => ({
    before: literal(place),
    unless: hasDigit(PATH),
    secret: [charRun(PATH, 12, 48)],
    tail: PATH_TAIL,
  })),
  {
    before: [...literal(".webhook.office.com/webhookb2/")],
    behind: ANYWHERE,
    secret: [charRun(PATH, 20)],
    tail: PATH_TAIL,
  },
];

const RANDOM = "[A-Za-z0-9_-]";
/** A lookahead: the value has letters and digits. */
const IS_RANDOM = `${hasDigit(RANDOM)}(?=[a-z0-9_-]{0,40}[A-Z]|[A-Z0-9_-]{0,40}[a-z])`;

const SIGNATURE = "[A-Za-z0-9%+/=_-]";

const ADDRESSES: readonly Shape[] = [
  {
    behind: ANYWHERE,
    before: [...literal("://"), charRun("[^\\s:/?#@\"'`<>]", 0, 64), ...literal(":")],
    // Not a port and not an IPv6 address.
    unless: "(?![${[:]|[0-9]{1,5}(?:[/?#]|$))",
    secret: [charRun("[^\\s\"'`<>]", 1, 256)],
    after: literal("@"),
    tail: NO_TAIL,
  },
  {
    behind: ANYWHERE,
    before: literal(":"),
    secret: [charRun("[!#-&*-.0-9;=?A-Z^_a-z|~-]", 3, 64)],
    after: [...literal("@"), either(literal("tcp("), literal("unix("))],
    tail: NO_TAIL,
  },
  {
    // A token instead of a user name; its first letters are shown, so that a stream does not have to hold back a host.
    behind: ANYWHERE,
    before: [...literal("://"), charRun("[A-Za-z0-9_]", 11)],
    unless: IS_RANDOM,
    secret: [charRun("[A-Za-z0-9_]", 9, VALUE_CHARS)],
    after: literal("@"),
    tail: NO_TAIL,
  },
  {
    // API keys, and codes that are exchanged for tokens.
    behind: String.raw`(?<=[?&;]|%26|\\u0026)`,
    before: [either(literal("key"), literal("code")), either(literal("="), literal("%3D"), literal("\\u003d"))],
    unless: IS_RANDOM,
    secret: [charRun(RANDOM, 16, VALUE_CHARS)],
    tail: runOf(RANDOM),
  },
  {
    // Signed URLs of storage services: the signature grants access to the content.
    behind: String.raw`(?<=[?&;]|%26|\\u0026)`,
    before: [...literal("sig"), either(literal("="), literal("%3D"), literal("\\u003d"))],
    unless: hasDigit(SIGNATURE),
    secret: [charRun(SIGNATURE, 24, VALUE_CHARS)],
    tail: runOf(SIGNATURE),
  },
  {
    behind: ANYWHERE,
    before: [charRun("[Xx]", 1), ...literal("-"), either(literal("Amz"), literal("Goog")), ...literal("-Signature=")],
    secret: [charRun("[0-9a-fA-F]", 40)],
    tail: runOf("[0-9a-fA-F]"),
  },
];

/** Secrets in headers and addresses. */
export const WIRE_SHAPES: readonly Shape[] = [...HEADERS, ...ADDRESSES, ...WEBHOOKS];
