import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { cutInto, sizes } from "../codec/chunks.fixture.ts";
import { REDACT_LIMITS } from "../limits.ts";
import { redactor } from "./redact.ts";
import type { Redactor } from "./redact.ts";
import { INNOCENT, SHAPED } from "./secrets.fixture.ts";

const LONG = Array.from({ length: 400 }, (_, at) => `${at};`).join("");
const KNOWN = ["s3cr3t-s3cr3t", "s3cr3t-s3cr3t-longer", "ünïcödé sécret", LONG];
const redact = redactor(KNOWN);

function streamed(from: Redactor, chunks: readonly string[]): string[] {
  const stream = from.stream();
  return [...chunks.map((chunk) => stream.push(chunk)), stream.end()];
}

test("F12: every secret in every cut in two gives what the whole gives", () => {
  const texts = [...SHAPED.map(({ text }) => text), ...KNOWN.map((known) => `a ${known} b`)].filter(
    (text) => text.length < 3000,
  );
  for (const text of texts) {
    const whole = redact.text(text);
    for (let at = 0; at <= text.length; at++) {
      assert.equal(streamed(redact, [text.slice(0, at), text.slice(at)]).join(""), whole);
    }
    assert.equal(streamed(redact, Array.from(text)).join(""), whole);
  }
});

test("F12: secrets, parts of secrets and innocent text give in any chunking what the whole gives", () => {
  const secret = fc.constantFrom(...KNOWN, ...SHAPED.map(({ text }) => text), ...SHAPED.map((shaped) => shaped.secret));
  const part = fc
    .tuple(secret, fc.nat(), fc.nat())
    .map(([text, from, to]) => text.slice(from % text.length, to % (text.length + 1)));
  const piece = fc.oneof(
    secret,
    part,
    fc.constantFrom(...INNOCENT),
    fc.string({ maxLength: 10 }),
    fc.constantFrom("=", ": ", '"', "\n", "token", " "),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), sizes, (pieces, cuts) => {
      const text = pieces.join("");
      assert.equal(streamed(redact, cutInto(text, cuts)).join(""), redact.text(text));
    }),
    { numRuns: 1000 },
  );
});

test("no piece that comes out has the beginning of a known secret", () => {
  fc.assert(
    fc.property(fc.constantFrom(...KNOWN), fc.nat(), (secret, at) => {
      const stream = redact.stream();
      const out = stream.push(`words, ${secret.slice(0, at % secret.length)}`);
      assert.ok(out === "words, " || out === "words, [redacted]", out);
    }),
  );
});

test("ordinary words come out at once", () => {
  const stream = redact.stream();
  assert.equal(stream.push("The disk is full. "), "The disk is full. ");
  assert.equal(stream.push("Remove /tmp/x?\n"), "Remove /tmp/x?\n");
});

test("a last word, and what stands before a secret, come out at once; the secret is held from its first character", () => {
  const plain = redactor([]);
  for (const text of [
    "I plan.",
    "Hello world",
    "Continue? [y/N]",
    "45%",
    "it is the token",
    "https://foo",
    "deadbeef",
    "user:",
  ])
    assert.equal(plain.stream().push(text), text);
  const stream = plain.stream();
  assert.equal(stream.push('api_key="'), 'api_key="');
  assert.equal(stream.push("abc123"), "");
  assert.equal(stream.push('def456", and\n'), '[redacted]", and\n');
  const key = plain.stream();
  assert.equal(key.push("see sk"), "see ");
  assert.equal(key.push("ies"), "skies");
});

test("a stream holds back no more than its bound, whatever comes", () => {
  const unit = fc.constantFrom(
    "eyJ",
    "a",
    "A1",
    "token",
    "=",
    "://",
    ":",
    " ",
    "-----BEGIN ",
    "s3cr3t-",
    "[",
    "bearer ",
    "\\",
    '"',
  );
  fc.assert(
    fc.property(fc.array(unit, { minLength: 500, maxLength: 1500 }), (units) => {
      const stream = redactor(KNOWN).stream();
      let held = "";
      for (const chunk of units) {
        const out = stream.push(chunk);
        if (out.includes("[redacted]")) return;
        held = (held + chunk).slice(out.length);
        // Both finders hold back, one behind the other.
        assert.ok(held.length <= 2 * REDACT_LIMITS.holdChars, `${held.length} held`);
      }
    }),
  );
});

test("a private key block without an end takes no more than its bound", () => {
  const line = `${"aB3d".repeat(16)}\n`;
  const text = `-----BEGIN PRIVATE KEY-----\n${line.repeat(400)}and then words`;
  const whole = redact.text(text);
  assert.ok(whole.startsWith("[redacted]") && whole.endsWith("and then words"));
  assert.ok(whole.length > text.length - REDACT_LIMITS.privateKeyChars - 100);
  assert.equal(streamed(redact, cutInto(text, [1000, 3])).join(""), whole);
});

test("the lines of a private key go without its first line, and lines of base64 that end otherwise stay", () => {
  const line = `${"aB3d".repeat(16)}\n`;
  const key = `${line.repeat(20)}aB3d==\n`;
  const shown = line.slice(0, 11);
  assert.equal(redact.text(`${key}-----END PRIVATE KEY-----\n`), `${shown}[redacted]-----END PRIVATE KEY-----\n`);
  for (const text of [key, `${key}-----END CERTIFICATE-----\n`, `word\n-----END PRIVATE KEY-----\n`])
    assert.equal(redact.text(text), text);
  const long = `${line.repeat(200)}-----END RSA PRIVATE KEY-----\n`;
  const whole = redact.text(long);
  assert.ok(long.length - whole.length > REDACT_LIMITS.keyBlockChars - 2 * line.length);
  for (const cuts of [[1000, 3], [1], [64, 1, 1]]) {
    assert.equal(streamed(redact, cutInto(long, cuts)).join(""), whole);
    assert.equal(streamed(redact, cutInto(JSON.stringify(long), cuts)).join(""), redact.text(JSON.stringify(long)));
  }
});
