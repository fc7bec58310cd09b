import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { openBus } from "../../bus/buses.ts";
import { AttemptLimit } from "./attempt-limit.ts";

const BOUNDS = { burst: 3, everyMs: 100, kept: 2 };

test("a few tries are free, then one more comes with time, and who waited long enough has all of them again", () => {
  let now = 0;
  const tries = new AttemptLimit(BOUNDS, () => now);
  const isRefused = (): boolean => {
    try {
      tries.takeAttempt("a");
      return false;
    } catch {
      return true;
    }
  };
  assert.deepEqual([isRefused(), isRefused(), isRefused(), isRefused()], [false, false, false, true]);
  now = 100;
  assert.deepEqual([isRefused(), isRefused()], [false, true]);
  now = 10_000;
  assert.deepEqual([isRefused(), isRefused(), isRefused(), isRefused()], [false, false, false, true]);
});

test("a refused attempt names the delay, after which it is allowed", () => {
  let now = 0;
  const tries = new AttemptLimit(BOUNDS, () => now);
  for (let tried = 0; tried < BOUNDS.burst; tried++) tries.takeAttempt("a");
  assert.throws(() => tries.takeAttempt("a"), { code: "RATE_LIMITED", retryAfterMs: 100 });
  now = 100;
  tries.takeAttempt("a");
});

test("names are counted apart, and the one that was quiet the longest is forgotten", () => {
  const tries = new AttemptLimit(BOUNDS, () => 0);
  for (let tried = 0; tried < BOUNDS.burst; tried++) tries.takeAttempt("a");
  tries.takeAttempt("b");
  assert.throws(() => tries.takeAttempt("a"));
  tries.takeAttempt("c");
  tries.takeAttempt("a");
});

test("no pattern of tries gets more than the burst and the rate allow", () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 250 }), { maxLength: 60 }), (rests) => {
      let now = 0;
      let passed = 0;
      const tries = new AttemptLimit(BOUNDS, () => now);
      for (const rest of rests) {
        now += rest;
        try {
          tries.takeAttempt("a");
          passed += 1;
        } catch {
          // Refused, and counted as nothing.
        }
      }
      assert.ok(passed <= BOUNDS.burst + Math.floor(now / BOUNDS.everyMs));
    }),
  );
});

test("attempts at one brain count at the others on its bus", async () => {
  const [one, two] = await Promise.all([openBus("memory:attempts"), openBus("memory:attempts")]);
  const clock = (): number => 0;
  const here = new AttemptLimit(BOUNDS, clock, { bus: one, what: "enrol" });
  const there = new AttemptLimit(BOUNDS, clock, { bus: two, what: "enrol" });
  const other = new AttemptLimit(BOUNDS, clock, { bus: two, what: "renew" });
  here.takeAttempt("a");
  there.takeAttempt("a");
  here.takeAttempt("a");
  await new Promise(setImmediate);
  for (const limit of [here, there]) assert.throws(() => limit.takeAttempt("a"), { code: "RATE_LIMITED" });
  other.takeAttempt("a");
  there.takeAttempt("b");
  await Promise.all([one.close(), two.close()]);
});
