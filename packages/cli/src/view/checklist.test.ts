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
  list.tick();
  assert.equal(states(list), "dnl");
  for (let more = 0; more < 5; more += 1) list.tick();
  assert.equal(states(list), "ddn");
  list.finish();
  assert.equal(states(list), "ddd");
});

test("a long plan is shown around the step under way", () => {
  const list = new Checklist();
  list.begin(Array.from({ length: 50 }, (_, index) => `step ${index}`));
  for (let done = 0; done < 20; done += 1) list.tick();
  const rows = list.rows(10);
  assert.equal(rows.length, 10);
  assert.equal(rows.find(({ state }) => state === "now")?.step, "step 20");
});

test("a new plan begins anew, and without one there is nothing to show", () => {
  const list = new Checklist();
  list.tick();
  assert.deepEqual(list.rows(5), []);
  list.begin(["a", "b"]);
  list.tick();
  list.begin(["c"]);
  assert.equal(states(list), "n");
});
