import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Fault, LONGEST_TIMER_MS, REGISTER_LIMITS, SOUTHBOUND_LIMITS } from "@vidro/core";
import { keepConnected, redialDelayMs } from "./redial.ts";

const QUICK = { redialMs: 1, redialCapMs: 4 };

test("004-21 the rest before another try doubles up to its cap, and any part of it may be taken", () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 7, 100].map((tries) => redialDelayMs(tries, 1)),
    [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000],
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000 }), fc.double({ min: 0, max: 1, noNaN: true }), (tries, chance) => {
      const rest = redialDelayMs(tries, chance);
      return rest >= 0 && rest <= REGISTER_LIMITS.redialCapMs && rest <= REGISTER_LIMITS.redialMs * 2 ** (tries - 1);
    }),
  );
});

test("004-21 the first connection is tried five times, and then the fault is final", async () => {
  let tries = 0;
  const rests: number[] = [];
  const over = keepConnected({
    dial: () => {
      tries += 1;
      return Promise.reject(new Fault("BRAIN_UNREACHABLE", `try ${tries}`));
    },
    down: (_, restMs) => rests.push(restMs),
    signal: new AbortController().signal,
    chance: () => 1,
    bounds: QUICK,
  });
  await assert.rejects(over, { code: "BRAIN_UNREACHABLE", message: "try 5" });
  assert.equal(tries, REGISTER_LIMITS.firstDials);
  assert.deepEqual(rests, [1, 2, 4, 4]);
});

test("004-21 a connection that stood once is dialled again without end", async () => {
  const ending = new AbortController();
  let tries = 0;
  const ups: number[] = [];
  await keepConnected({
    dial: async () => {
      tries += 1;
      if (tries > 1 && tries < 20) throw new Fault("BRAIN_UNREACHABLE");
      return { gone: Promise.resolve(new Fault("CONNECTION_LOST")) };
    },
    up: () => {
      ups.push(tries);
      if (ups.length === 2) ending.abort();
    },
    signal: ending.signal,
    chance: () => 0,
    bounds: QUICK,
  });
  assert.deepEqual(ups, [1, 20]);
});

test("a refusal is not tried again, before or after a connection stood", async () => {
  const refused = Promise.resolve(new Fault("INVALID_TOKEN"));
  const { signal } = new AbortController();
  await assert.rejects(keepConnected({ dial: async () => ({ gone: refused }), signal }), { code: "INVALID_TOKEN" });
  const dial = (): Promise<never> => Promise.reject(new Fault("FORBIDDEN"));
  await assert.rejects(keepConnected({ dial, signal }), { code: "FORBIDDEN" });
});

test("G9 what is wrong with the brain itself is not final, before or after a connection stood", async () => {
  for (const code of ["STORAGE_FULL", "STORE_BUSY", "STORE_FAILED", "COMMIT_UNKNOWN", "INTERNAL_ERROR"] as const) {
    const ending = new AbortController();
    const ups: number[] = [];
    let tries = 0;
    await keepConnected({
      dial: async () => {
        tries += 1;
        if (tries === 1 || tries === 3) throw new Fault(code);
        return { gone: Promise.resolve(new Fault(code)) };
      },
      up: () => {
        ups.push(tries);
        if (ups.length === 2) ending.abort();
      },
      signal: ending.signal,
      chance: () => 0,
      bounds: QUICK,
    });
    assert.deepEqual(ups, [2, 4], code);
  }
});

test("a brain that says when to come back is left alone until then; the end does not wait for that", async () => {
  const ending = new AbortController();
  const rests: number[] = [];
  await keepConnected({
    dial: () => Promise.reject(new Fault("SHUTTING_DOWN", undefined, { retryAfterMs: 50_000 })),
    down: (_, restMs) => {
      rests.push(restMs);
      setImmediate(() => ending.abort());
    },
    signal: ending.signal,
    bounds: QUICK,
  });
  assert.deepEqual(rests, [50_000]);
});

test("a delay that a brain asks for is heeded, and one that no timer can wait for is cut, so that it is not dialled at once", async () => {
  for (const [asked, heeded] of [
    [5000, 5000],
    [2 ** 31, SOUTHBOUND_LIMITS.rivalCapMs],
    [1e300, SOUTHBOUND_LIMITS.rivalCapMs],
    [Infinity, SOUTHBOUND_LIMITS.rivalCapMs],
    [-1e300, 4],
    [0, 4],
  ] as const) {
    const ending = new AbortController();
    const rests: number[] = [];
    await keepConnected({
      dial: async () => ({ gone: Promise.resolve(new Fault("RATE_LIMITED", "wait", { retryAfterMs: asked })) }),
      down: (_, restMs) => {
        rests.push(restMs);
        ending.abort();
      },
      signal: ending.signal,
      chance: () => 1,
      bounds: { redialMs: 4, redialCapMs: 4 },
    });
    assert.deepEqual(rests, [heeded], String(asked));
  }
  assert.ok(SOUTHBOUND_LIMITS.rivalCapMs <= LONGEST_TIMER_MS);
});
