import assert from "node:assert/strict";
import test from "node:test";
import { fitItems, fitText } from "./fit-frame.ts";

test("items are cut where the next one would not fit, and it is said whether all are there", () => {
  const items = Array.from({ length: 100 }, (_, n) => ({ n, text: "x".repeat(100) }));
  const cut = fitItems(items, 4096);
  assert.equal(cut.all, false);
  assert.ok(cut.items.length > 0 && cut.items.length < 100);
  assert.ok(Buffer.byteLength(JSON.stringify(cut.items)) < 4096);
  assert.deepEqual(fitItems(items, 1_000_000), { items, all: true });
  assert.deepEqual(fitItems(items, 10), { items: [], all: false });
});

test("a text is cut by its bytes as JSON, in which quotes, line ends and letters beyond ASCII take more", () => {
  for (const text of ["plain", '"'.repeat(50), "\n".repeat(50), "ü".repeat(50), "🦊".repeat(50), ""]) {
    for (const maxBytes of [2, 7, 40, 1000]) {
      const cut = fitText(text, maxBytes);
      assert.ok(text.startsWith(cut));
      assert.ok(Buffer.byteLength(JSON.stringify(cut)) <= maxBytes, `${JSON.stringify(text.slice(0, 3))} ${maxBytes}`);
    }
    assert.equal(fitText(text, 1000), text);
  }
});
