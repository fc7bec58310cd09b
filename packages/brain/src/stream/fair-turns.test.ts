import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import { test } from "node:test";
import { STREAM_LIMITS } from "@vidro/core";
import { turns } from "./fair-turns.ts";

const HALF = STREAM_LIMITS.turnBytes / 2;

test("within the bound of a turn nothing waits; beyond it, in order of arrival", async () => {
  await nextTurn();
  await nextTurn();
  assert.equal(turns.take(HALF), undefined);
  assert.equal(turns.take(HALF), undefined);
  const order: number[] = [];
  const waits = [1, 2, 3].map((number) => turns.take(HALF)?.then(() => order.push(number)));
  assert.ok(waits.every((wait) => wait !== undefined));
  assert.deepEqual(order, []);
  await nextTurn();
  assert.deepEqual(order, [1, 2], "one turn later as many as fit");
  await nextTurn();
  assert.deepEqual(order, [1, 2, 3]);
});

test("a small write does not overtake one that waits", async () => {
  await nextTurn();
  await nextTurn();
  assert.equal(turns.take(STREAM_LIMITS.turnBytes), undefined);
  const big = turns.take(STREAM_LIMITS.turnBytes);
  const small = turns.take(1);
  assert.ok(big !== undefined && small !== undefined);
  let isBigDone = false;
  void big.then(() => (isBigDone = true));
  await small;
  assert.ok(isBigDone);
});

test("a write larger than a whole turn goes out, alone", async () => {
  await nextTurn();
  await nextTurn();
  assert.equal(turns.take(10 * STREAM_LIMITS.turnBytes), undefined);
  const next = turns.take(1);
  assert.ok(next !== undefined);
  await next;
});

test("other work gets its turn between the writes of a long queue", async () => {
  await nextTurn();
  const all = Array.from({ length: 50 }, () => turns.take(STREAM_LIMITS.turnBytes));
  let turnsOfOthers = 0;
  const count = (): void => {
    turnsOfOthers += 1;
    immediate = setImmediate(count);
  };
  let immediate = setImmediate(count);
  for (const wait of all) await wait;
  clearImmediate(immediate);
  assert.ok(turnsOfOthers >= 40, `${turnsOfOthers}`);
});
