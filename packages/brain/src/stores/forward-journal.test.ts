import assert from "node:assert/strict";
import { test } from "node:test";
import type { Journal } from "@vidro/core";
import { forwardJournal } from "./forward-journal.ts";

test("every call of a forwarded journal passes its arguments and its result on", () => {
  const calls: unknown[][] = [];
  const recorder = new Proxy({} as Journal, {
    get:
      (_, name) =>
      (...given: unknown[]) => {
        calls.push([name, ...given]);
        return `result of ${String(name)}`;
      },
  });
  const arity = { append: 3, close: 0, create: 3, head: 1, lease: 2, list: 1, read: 3, release: 1, renew: 1 };
  const all: Readonly<Record<string, number>> = { ...arity, undriven: 1, verify: 1, watch: 2 };
  const forwarded = forwardJournal(recorder) as unknown as Readonly<Record<string, (...given: unknown[]) => unknown>>;
  assert.deepEqual(Object.keys(forwarded).toSorted(), Object.keys(all).toSorted());
  for (const [name, count] of Object.entries(all)) {
    calls.length = 0;
    const given = ["first", "second", "third"].slice(0, count);
    assert.equal(forwarded[name]?.(...given), `result of ${name}`);
    assert.deepEqual(calls, [[name, ...given]]);
  }
});
