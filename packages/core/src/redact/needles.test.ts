import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { REDACT_LIMITS } from "../limits.ts";
import { needleFinder } from "./needles.ts";

const SECRET = "tr0ub4dor&3 ção";
const finder = needleFinder([SECRET]);

/** The text that a finder takes for a secret, without what its tail eats. */
function foundIn(text: string, by = finder): string | undefined {
  const hit = by.find(text, 0);
  return hit && text.slice(hit.from, hit.to);
}

const hexOf = (text: string): string => Buffer.from(text).toString("hex");

void test("a known secret is found plain and in each common encoding, wherever it stands", () => {
  const forms = [
    SECRET,
    JSON.stringify(SECRET).slice(1, -1),
    hexOf(SECRET),
    hexOf(SECRET).toUpperCase(),
    hexOf(SECRET).match(/../g)!.join(" "),
    hexOf(SECRET).match(/../g)!.join(":"),
    encodeURIComponent(SECRET),
    encodeURIComponent(SECRET).replaceAll("%20", "+"),
    encodeURIComponent(SECRET).replaceAll(/%../g, (code) => code.toLowerCase()),
  ];
  for (const form of forms)
    for (const [before, after] of [
      ["", ""],
      ["x", "y"],
      ["a long text before it: ", ", and one behind"],
    ] as const) {
      const hit = finder.find(before + form + after, 0);
      assert.equal(hit?.index, before.length, form);
    }
});

void test("a secret in base64 is found at each offset of the text around it, in both alphabets", () => {
  for (const before of ["", "u", "us", "user:", "another user:"])
    for (const after of ["", "!", "!!"]) {
      const text = Buffer.from(before + SECRET + after);
      assert.notEqual(foundIn(text.toString("base64")), undefined, `${before}…${after}`);
      assert.notEqual(foundIn(text.toString("base64url")), undefined, `${before}…${after}`);
    }
});

void test("other texts have no hit, and texts that share a beginning or an end with a secret neither", () => {
  for (const text of ["", "t", SECRET.slice(0, -1), SECRET.slice(1), SECRET.toUpperCase(), "x".repeat(10_000)])
    assert.equal(finder.find(text, 0), undefined, text.slice(0, 40));
});

void test("of several secrets the first in the text is found, and at one place the longest", () => {
  const many = needleFinder(["abcdefgh", "abcdefghijkl", "zyxwvuts"]);
  assert.equal(foundIn("… zyxwvuts abcdefgh", many), "zyxwvuts");
  assert.equal(foundIn("… abcdefghijkl", many), "abcdefghijkl");
  assert.equal(foundIn("… abcdefghijk", many), "abcdefgh");
  assert.equal(many.find("zyxwvuts abcdefgh", 1)?.index, 9, "a search begins where it is told");
});

void test("secrets that are too short to search for are left out, and without any nothing is found or held", () => {
  const short = "s".repeat(REDACT_LIMITS.secretChars - 1);
  for (const none of [needleFinder([]), needleFinder(["", short])]) {
    assert.equal(none.find(short.repeat(9), 0), undefined);
    assert.equal(none.open(short, 0), short.length);
  }
  assert.equal(foundIn(`a ${short}s b`, needleFinder([`${short}s`])), `${short}s`);
});

void test("the end of a text that may begin a secret is held back, from its first character on", () => {
  for (let length = 1; length < SECRET.length; length += 1) {
    const text = `said: ${SECRET.slice(0, length)}`;
    assert.equal(finder.open(text, 0), "said: ".length, text);
  }
  assert.equal(finder.open("said: nothing.", 0), "said: nothing.".length);
});

void test("wherever a stream is cut, a secret is found or its beginning is held", () => {
  const word = fc.string({ maxLength: 20 });
  const secret = fc.string({ minLength: REDACT_LIMITS.secretChars, maxLength: 24 });
  fc.assert(
    fc.property(word, secret, word, fc.nat(), (before, hidden, after, at) => {
      const by = needleFinder([hidden]);
      const text = before + hidden + after;
      const hit = by.find(text, 0);
      assert.ok(hit !== undefined && hit.index <= before.length);
      const cut = before.length + 1 + (at % (hidden.length - 1));
      const seen = text.slice(0, cut);
      const known = by.find(seen, 0);
      assert.ok(known !== undefined || by.open(seen, 0) <= before.length, JSON.stringify([text, cut]));
    }),
    { numRuns: 300 },
  );
});

void test("a secret longer than a stream holds back is eaten up to its end, over any number of pieces", () => {
  const long = Array.from({ length: REDACT_LIMITS.holdChars + 300 }, (_, at) => (at * 7919).toString(36))
    .join("")
    .slice(0, REDACT_LIMITS.holdChars + 100);
  const hit = needleFinder([long]).find(`${long} rest`, 0);
  assert.equal(hit?.to, REDACT_LIMITS.holdChars);
  const rest = long.slice(REDACT_LIMITS.holdChars);
  const first = hit.tail.eat(rest.slice(0, 40), 0, { eaten: 0, last: false });
  assert.deepEqual(first, { to: 40, done: false });
  assert.deepEqual(hit.tail.eat(`${rest.slice(40)} rest`, 0, { eaten: 40, last: false }), { to: 60, done: true });
  assert.deepEqual(hit.tail.eat("other", 0, { eaten: 40, last: false }), { to: 0, done: true });
});

void test("half of a surrogate pair in a secret breaks nothing", () => {
  const odd = `abcdefg\ud800hij`;
  assert.equal(foundIn(`x${odd}y`, needleFinder([odd])), odd);
});
