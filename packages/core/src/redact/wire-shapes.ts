import { anyCase, either, run, word } from "./pattern.ts";
import { EQUALS, MAYBE_QUOTE } from "./named-shapes.ts";
import { runOf } from "./scan.ts";
import { ANYWHERE, hasDigit, NO_TAIL, VALUE_CHARS } from "./shape.ts";
import type { Shape } from "./shape.ts";

/* Secrets in headers and addresses. */

const CREDENTIAL = "[A-Za-z0-9._~+/=-]";
const COOKIE = "[^\\s\"'`\\\\]";
const COOKIES = "[^\\r\\n\"'`\\\\]";

const HEADERS: readonly Shape[] = [
  {
    before: [...anyCase("bearer"), run(" ", 1, 2)],
    unless: hasDigit(CREDENTIAL),
    secret: [run(CREDENTIAL, 8, VALUE_CHARS)],
    tail: runOf(CREDENTIAL),
  },
  {
    behind: ANYWHERE,
    before: [...anyCase("authorization"), MAYBE_QUOTE, ...EQUALS, MAYBE_QUOTE, ...anyCase("basic"), run(" ", 1, 2)],
    secret: [run(CREDENTIAL, 4)],
    tail: runOf(CREDENTIAL),
  },
  {
    behind: ANYWHERE,
    before: [...anyCase("authorization"), MAYBE_QUOTE, ...EQUALS, MAYBE_QUOTE, run("[A-Za-z0-9-]", 3, 20), run(" ", 1)],
    unless: hasDigit(CREDENTIAL),
    secret: [run(CREDENTIAL, 8, VALUE_CHARS)],
    tail: runOf("[^\\r\\n\"'`\\\\]"),
  },
  {
    // The name of the first stays, and of one that is set also what it is good for.
    before: [...anyCase("set-cookie"), MAYBE_QUOTE, ...EQUALS, MAYBE_QUOTE, run("[A-Za-z0-9_.-]", 1, 64), ...word("=")],
    secret: [run("[^\\s\"'`\\\\;]", 6)],
    tail: runOf("[^\\s\"'`\\\\;]"),
  },
  {
    before: [...anyCase("cookie"), MAYBE_QUOTE, ...EQUALS, MAYBE_QUOTE, run("[A-Za-z0-9_.-]", 1, 64), ...word("=")],
    secret: [run(COOKIE, 1), run(COOKIES, 4)],
    tail: runOf(COOKIES),
  },
  {
    before: [...word("--cookie"), run("[ =]", 1), MAYBE_QUOTE, run("[A-Za-z0-9_.-]", 1, 64), ...word("=")],
    secret: [run(COOKIE, 6)],
    tail: runOf(COOKIES),
  },
];

const PATH = "[A-Za-z0-9_/@%.-]";
const PATH_TAIL = runOf("[A-Za-z0-9_/@%.?=&:-]");

/** Addresses that let write to a room of a chat to whom knows them. */
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
  ].map((place) => ({ before: word(place), unless: hasDigit(PATH), secret: [run(PATH, 12, 48)], tail: PATH_TAIL })),
  {
    before: [...word(".webhook.office.com/webhookb2/")],
    behind: ANYWHERE,
    secret: [run(PATH, 20)],
    tail: PATH_TAIL,
  },
];

const SIGNATURE = "[A-Za-z0-9%+/=_-]";

const ADDRESSES: readonly Shape[] = [
  {
    behind: ANYWHERE,
    before: [...word("://"), run("[^\\s:/?#@\"'`<>]", 0, 64), ...word(":")],
    // A port, and an address of version 6, are no password.
    unless: "(?![${[:]|[0-9]{1,5}(?:[/?#]|$))",
    secret: [run("[^\\s\"'`<>]", 1, 256)],
    after: word("@"),
    tail: NO_TAIL,
  },
  {
    behind: ANYWHERE,
    before: word(":"),
    secret: [run("[!#-&*-.0-9;=?A-Z^_a-z|~-]", 3, 64)],
    after: [...word("@"), either(word("tcp("), word("unix("))],
    tail: NO_TAIL,
  },
  {
    // Signed addresses of storage services: who has the signature has what is stored.
    behind: String.raw`(?<=[?&;]|%26|\\u0026)`,
    before: [...word("sig"), either(word("="), word("%3D"), word("\\u003d"))],
    unless: hasDigit(SIGNATURE),
    secret: [run(SIGNATURE, 24, VALUE_CHARS)],
    tail: runOf(SIGNATURE),
  },
  {
    behind: ANYWHERE,
    before: [run("[Xx]", 1), ...word("-"), either(word("Amz"), word("Goog")), ...word("-Signature=")],
    secret: [run("[0-9a-fA-F]", 40)],
    tail: runOf("[0-9a-fA-F]"),
  },
];

/** Secrets in headers and addresses. */
export const WIRE_SHAPES: readonly Shape[] = [...HEADERS, ...ADDRESSES, ...WEBHOOKS];
