import assert from "node:assert/strict";
import { test } from "node:test";
import { Checklist } from "./checklist.ts";

const states = (list: Checklist): string =>
  list
    .rows(Infinity)
    .map(({ state }) => state[0])
    .join("");

test("each action that succeeds ticks a step, and only the end of the run ticks the last", () => {
  const list = new Checklist();
  list.begin(["one", "two", "three"]);
  assert.equal(states(list), "nll");
  list.take("done");
  assert.equal(states(list), "dnl");
  for (let more = 0; more < 5; more += 1) list.take("done");
  assert.equal(states(list), "ddn");
  list.finish();
  assert.equal(states(list), "ddd");
});

test("a long plan is shown around the step under way", () => {
  const list = new Checklist();
  list.begin(Array.from({ length: 50 }, (_, index) => `step ${index}`));
  for (let done = 0; done < 20; done += 1) list.take("done");
  const rows = list.rows(10);
  assert.equal(rows.length, 10);
  assert.equal(rows.find(({ state }) => state === "now")?.step, "step 20");
});

test("a step whose action was refused, failed or has an unknown outcome is never ticked", () => {
  const list = new Checklist();
  list.begin(["one", "two", "three", "four"]);
  list.take("refused");
  list.take("failed");
  assert.equal(states(list), "rfnl");
  list.take("done");
  list.take("unknown");
  list.finish();
  assert.equal(states(list), "rfdu");
});

test("a look for what is not there is done once the answer says so; what was refused stays refused", () => {
  for (const [fate, isTold, state] of [
    ["failed", true, "d"],
    ["failed", false, "f"],
    ["refused", true, "r"],
  ] as const) {
    const list = new Checklist();
    list.begin(["look"]);
    list.take(fate);
    list.finish(isTold);
    assert.equal(states(list), state);
  }
});

test("the answer ticks the last step alone, and only when all others had their action", () => {
  const told = new Checklist();
  told.begin(["look", "tell"]);
  told.take("done");
  told.finish();
  assert.equal(states(told), "dd");
  const leapt = new Checklist();
  leapt.begin(["one", "two", "three"]);
  leapt.take("done");
  leapt.finish();
  assert.equal(states(leapt), "dll");
});

test("a new plan begins anew, and without one there is nothing to show", () => {
  const list = new Checklist();
  list.take("done");
  assert.deepEqual(list.rows(5), []);
  list.begin(["a", "b"]);
  list.take("done");
  list.begin(["c"]);
  assert.equal(states(list), "n");
});
