import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { PassedOutput } from "./passed-output.ts";

test("what came live and what is printed at the end are the whole output, once, whatever was lost on the way", () => {
  const pieces = fc.array(fc.tuple(fc.string({ unit: "grapheme", maxLength: 5 }), fc.boolean()), { maxLength: 12 });
  fc.assert(
    fc.property(pieces, (sent) => {
      const whole = sent.map(([text]) => text).join("");
      const passed = new PassedOutput();
      let printed = "";
      let from = 0;
      for (const [text, isLost] of sent) {
        if (!isLost && passed.take(text, from)) printed += text;
        from += text.length;
      }
      assert.equal(printed + passed.rest(whole), whole);
      assert.equal(passed.bytes, Buffer.byteLength(printed));
    }),
  );
});

test("bytes are counted as bytes, so that an output of many scripts that came whole is not told as cut", () => {
  const passed = new PassedOutput();
  const output = "não é 日本 😀\n".repeat(1000);
  assert.equal(passed.take(output, 0), true);
  assert.equal(passed.bytes, Buffer.byteLength(output));
  // The journal keeps the head and the tail of a long output.
  assert.equal(passed.rest(`${output.slice(0, 100)}…${output.slice(-100)}`), undefined);
});

test("a piece without its place, from elsewhere or that came before is not printed", () => {
  const passed = new PassedOutput();
  assert.equal(passed.take("a", undefined), false);
  assert.equal(passed.take("a", 1), false);
  assert.equal(passed.take("ab", 0), true);
  assert.equal(passed.take("ab", 0), false);
  assert.equal(passed.take("", 2), true);
  assert.equal(passed.take("c", 2), true);
  assert.equal(passed.rest("abcd"), "d");
});

test("an output that is longer than what is kept for comparison is not printed a second time", () => {
  const passed = new PassedOutput();
  const chunk = "x".repeat(100_000);
  for (let at = 0; at < 10; at += 1) passed.take(chunk, at * chunk.length);
  assert.equal(passed.bytes, 1_000_000);
  assert.equal(passed.rest(chunk.repeat(10)), "");
});
