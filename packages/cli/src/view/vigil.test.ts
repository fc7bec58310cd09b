import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { TERMINAL_LIMITS } from "@vidro/core";
import type { BrainRuns, Obstacle } from "../brain-api/brain-api.ts";
import type { Screen } from "./screen.ts";
import { Vigil } from "./vigil.ts";

/** A vigil over a run whose obstacle the test names, and what it said so far. */
function keepVigil(t: TestContext) {
  t.mock.timers.enable({ apis: ["setInterval", "Date"], now: new Date(2030, 0, 1, 9, 5).getTime() });
  const said: string[] = [];
  const asked: string[] = [];
  let obstacle: () => Promise<Obstacle | undefined> = async () => undefined;
  const runs = {
    obstacle: (ids: string) => {
      asked.push(ids);
      return obstacle();
    },
  } as unknown as BrainRuns;
  const screen = { notice: (words: string) => said.push(words) } as unknown as Screen;
  const vigil = new Vigil({ runs, screen }, () => "web-1,db-1");
  t.after(() => vigil.end());
  return {
    said,
    asked,
    vigil,
    /** Lets the vigil look once, and find this. */
    look: async (found: Obstacle | undefined | Promise<Obstacle | undefined>): Promise<void> => {
      obstacle = async () => found;
      t.mock.timers.tick(TERMINAL_LIMITS.vigilMs);
      await new Promise(setImmediate);
    },
  };
}

const down: Obstacle = { who: "web-1", what: "is down", since: new Date(2030, 0, 1, 8, 3).getTime() };

test("an obstacle is told once with the time since when it holds, and once that it is over", async (t) => {
  const { look, said, asked } = keepVigil(t);
  await look(undefined);
  for (let times = 0; times < 3; times += 1) await look(down);
  await look(undefined);
  await look(undefined);
  assert.deepEqual(said, ["web-1 is down since 08:03, waiting", "web-1 is back"]);
  assert.equal(new Set(asked).size, 1);
});

test("an obstacle without a time holds since now, and another one is told in place of the first", async (t) => {
  const { look, said } = keepVigil(t);
  await look({ who: "the brain", what: "does not answer" });
  await look(down);
  assert.deepEqual(said, ["the brain does not answer since 09:05, waiting", "web-1 is down since 08:03, waiting"]);
});

test("a question that fails changes nothing of what was told", async (t) => {
  const { look, said } = keepVigil(t);
  await look(down);
  await look(Promise.reject(new Error("no answer")));
  assert.equal(said.length, 1);
  await look(undefined);
  assert.deepEqual(said.slice(1), ["web-1 is back"]);
});

test("no second question is asked while the first is not answered, and none after the end", async (t) => {
  const { look, said, asked, vigil } = keepVigil(t);
  const late = Promise.withResolvers<Obstacle | undefined>();
  await look(late.promise);
  await look(down);
  assert.equal(asked.length, 1);
  vigil.end();
  late.resolve(down);
  await look(down);
  assert.deepEqual([said, asked.length], [[], 1], "what is found after the end is not told");
});
