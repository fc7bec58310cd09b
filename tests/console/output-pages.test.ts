import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { CONSOLE_LIMITS } from "@vidro/core";
import { pagesOf } from "../../packages/console/src/run/output-pages.ts";

test("the pages of an output are all of its lines, in order, and none has more than the bound", () => {
  const line = fc.stringMatching(/^[^\n\r]{0,3}$/);
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 3 * CONSOLE_LIMITS.outputLines }), (lines) => {
      const pages = pagesOf(`${lines.join("\n")}\n`);
      assert.deepEqual(
        pages.flatMap(({ text }) => text.split("\n")),
        lines,
      );
      let next = 1;
      for (const { from, to } of pages) {
        assert.ok(from === next && to >= from && to - from < CONSOLE_LIMITS.outputLines);
        next = to + 1;
      }
      assert.equal(next, lines.length + 1);
    }),
    { numRuns: 30 },
  );
});

test("an output without a line end at its end loses nothing, and an empty one is one empty page", () => {
  assert.deepEqual(pagesOf("a\n\nb"), [{ text: "a\n\nb", from: 1, to: 3 }]);
  assert.deepEqual(pagesOf(""), [{ text: "", from: 1, to: 1 }]);
});
