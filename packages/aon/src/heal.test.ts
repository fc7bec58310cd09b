import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import * as fc from "fast-check";
import type { HealingEvent, ProgressEvent } from "./event.ts";
import { healer } from "./heal.ts";
import type { HealerOptions } from "./heal.ts";
import { backoffMs } from "./heal/backoff.ts";
import { recoverDbConnection } from "./heal/database.ts";
import { beforeEffect, failureOf, retryAfterMs } from "./heal/failure.ts";
import { HealingFailedError } from "./heal/healing-failed-error.ts";
import type { Attempt, Heuristic, Operation } from "./heal/heuristic.ts";
import { refreshToken } from "./heal/token.ts";
import { HEALING_LIMITS } from "./limits.ts";
import { listen } from "./stage.fixture.ts";

/** Runs an operation and keeps what was told. */
async function treat<T>(operation: Operation<T>, options: HealerOptions = {}, signal = new AbortController().signal) {
  const events: ProgressEvent[] = [];
  const hidden: string[] = [];
  const emit = async (event: ProgressEvent): Promise<void> => void events.push(event);
  const hide = (...secrets: readonly string[]): void => void hidden.push(...secrets);
  const [outcome] = await Promise.allSettled([healer(options).run(operation, { emit, hide, signal })]);
  const healings = events.filter((event): event is HealingEvent => event.type === "healing");
  return { outcome, events, healings, hidden };
}

const failing = (fields: object): Error => Object.assign(new Error("It is broken."), fields);

/** A heuristic that always fits and does nothing. */
const own = (mend: Heuristic["mend"] = async () => ({})): Heuristic => ({
  action: "switch_model",
  severity: "medium",
  description: "Taking another model.",
  attempts: 1,
  fits: () => true,
  mend,
});

test("001-29, 001-14, 001-15: an expired token is really refreshed, and the request goes through with the new one", async () => {
  let token = "old-token-0123456789";
  const seen: (string | undefined)[] = [];
  await using server = await listen(
    createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(request.headers.authorization === "Bearer new-token-9876543210" ? 200 : 401).end();
    }),
  );
  const heuristics = [
    refreshToken({ current: () => token, refresh: async () => (token = "new-token-9876543210"), provider: "Auth0" }),
  ];
  const run = async ({ token: fresh }: Attempt): Promise<number> => {
    const response = await fetch(server.url, { headers: { authorization: `Bearer ${fresh ?? token}` } });
    if (!response.ok) throw failing({ status: response.status });
    return response.status;
  };
  const { outcome, healings, events, hidden } = await treat({ name: "list_users", run }, { heuristics });
  assert.deepEqual(outcome, { status: "fulfilled", value: 200 });
  assert.deepEqual(seen, ["Bearer old-token-0123456789", "Bearer new-token-9876543210"]);
  assert.deepEqual(hidden, ["old-token-0123456789", "new-token-9876543210"]);
  assert.deepEqual(
    healings.map(({ severity, action, metadata }) => [severity, action, metadata["success"]]),
    [
      ["high", "refresh_token", undefined],
      ["high", "refresh_token", undefined],
      ["low", "refresh_token", true],
    ],
  );
  assert.deepEqual(events[0], {
    type: "intent_analysis",
    original_intent: "list_users",
    detected_issue: "token_refused",
    decision: "refresh_token",
    metadata: { cause: "It is broken." },
  });
});

test("many operations that meet an expired token at once share one refresh", async () => {
  let refreshes = 0;
  const gate = Promise.withResolvers<string>();
  const heuristics = [refreshToken({ current: () => undefined, refresh: () => (refreshes++, gate.promise) })];
  const run = async ({ token }: Attempt): Promise<string> => {
    if (token === undefined) throw failing({ code: "TOKEN_EXPIRED" });
    return token;
  };
  const all = Promise.all([1, 2, 3].map(() => treat({ name: "read", run }, { heuristics })));
  gate.resolve("fresh-token");
  for (const { outcome } of await all) assert.deepEqual(outcome, { status: "fulfilled", value: "fresh-token" });
  assert.equal(refreshes, 1);
});

test("001-29: rests before retries grow as min(1000·2^(n−1), 5000) ms, less at most half by chance", () => {
  const chance = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 30 }), chance, (attempt, luck) => {
      const full = Math.min(1000 * 2 ** (attempt - 1), 5000);
      const ms = backoffMs(attempt, luck);
      assert.ok(ms <= full && ms >= full / 2 - 1);
    }),
  );
  assert.deepEqual(
    [1, 2, 3, 4, 5].map((attempt) => backoffMs(attempt, 0)),
    [1000, 2000, 4000, 5000, 5000],
  );
});

test("001-29, 001-16: an idempotent operation is tried again after a real rest that a status tells of", async () => {
  const startedAt = performance.now();
  const run = async ({ attempt }: Attempt): Promise<number> => {
    if (attempt === 1) throw failing({ code: "ECONNRESET" });
    return attempt;
  };
  const { outcome, events, healings } = await treat({ name: "read", run, idempotent: true });
  assert.deepEqual(outcome, { status: "fulfilled", value: 2 });
  const delay = events.flatMap((event) => (event.type === "status" ? (event.estimated_delay_ms ?? []) : []))[0] ?? 0;
  assert.ok(delay >= 500 && delay <= 1000 && performance.now() - startedAt >= delay - 5);
  assert.deepEqual(
    healings.map(({ severity }) => severity),
    ["medium", "medium", "low"],
  );
});

test("a rate limit is waited for exactly as long as Retry-After asks", async () => {
  const now = Date.parse("Thu, 01 Jan 2026 00:00:00 GMT");
  assert.equal(retryAfterMs("2", now), 2000);
  assert.equal(retryAfterMs("Thu, 01 Jan 2026 00:00:07 GMT", now), 7000);
  assert.equal(retryAfterMs("soon", now), undefined);
  const headers = new Headers({ "Retry-After": "0.05" });
  const run = async ({ attempt }: Attempt): Promise<string> => {
    if (attempt < 3) throw failing({ response: { status: 429, headers } });
    return "through";
  };
  const { outcome, events, healings } = await treat({ name: "read", run });
  assert.deepEqual(outcome, { status: "fulfilled", value: "through" });
  const delays = events.flatMap((event) => (event.type === "status" ? event.estimated_delay_ms : []));
  assert.deepEqual(delays, [50, 50]);
  assert.equal(healings.at(-1)?.action, "handle_rate_limit");
});

test("a wait that is longer than healing may take is not begun", async () => {
  const { outcome, healings } = await treat({
    name: "read",
    run: () => Promise.reject(failing({ status: 429, retryAfterMs: 3_600_000 })),
  });
  assert.equal(outcome.status, "rejected");
  assert.match(healings.at(-1)?.description ?? "", /longer than healing may take/);
});

test("001-29: a lost database is reconnected through the user's own function, critical until it works", async () => {
  let [isUp, reconnects] = [false, 0];
  const reconnect = async (): Promise<void> => {
    reconnects++;
    isUp = true;
  };
  const run = async (): Promise<string> => {
    if (!isUp) throw failing({ code: "ECONNREFUSED", port: 5432 });
    return "row";
  };
  const { outcome, healings } = await treat(
    { name: "query", run },
    { heuristics: [recoverDbConnection({ reconnect })] },
  );
  assert.deepEqual(outcome, { status: "fulfilled", value: "row" });
  assert.equal(reconnects, 1);
  assert.deepEqual(
    healings.map(({ severity, action }) => [severity, action]),
    [
      ["critical", "recover_db_connection"],
      ["low", "recover_db_connection"],
    ],
  );
});

test("001-29: an operation fails only after what fits was really tried, and says what that was", async () => {
  let [runs, refreshes] = [0, 0];
  const refresh = (): Promise<never> => {
    refreshes++;
    return Promise.reject(new Error("The provider is down."));
  };
  const run = (): Promise<never> => {
    runs++;
    return Promise.reject(failing({ code: "TOKEN_EXPIRED", status: 401 }));
  };
  const heuristics = [refreshToken({ current: () => undefined, refresh }), own()];
  const { outcome, healings } = await treat({ name: "query", run }, { heuristics });
  assert.ok(outcome.status === "rejected" && outcome.reason instanceof HealingFailedError);
  assert.deepEqual(outcome.reason.tried, ["refresh_token", "switch_model"]);
  assert.equal(outcome.reason.message, "query failed with TOKEN_EXPIRED. Tried: refresh_token, switch_model.");
  assert.deepEqual([outcome.reason.code, outcome.reason.status], ["TOKEN_EXPIRED", 503]);
  assert.deepEqual([runs, refreshes], [2, 1]);
  assert.ok(!JSON.stringify(healings).includes("The provider is down."));
  assert.deepEqual(
    healings.map(({ action, metadata }) => [action, metadata["success"]]),
    [
      ["refresh_token", undefined],
      ["refresh_token", false],
      ["switch_model", undefined],
    ],
  );
});

test("a healing never repeats an effect: what may have happened is not run again unless it is idempotent", async () => {
  for (const fields of [{ code: "ECONNRESET" }, { code: "ETIMEDOUT" }, { status: 500 }, { status: 503 }, {}]) {
    let effects = 0;
    const run = (): Promise<never> => {
      effects++;
      return Promise.reject(failing(fields));
    };
    const { outcome, healings } = await treat({ name: "pay", run }, { heuristics: [own()] });
    assert.equal(outcome.status, "rejected");
    assert.equal(effects, 1);
    assert.deepEqual(healings, []);
  }
});

test("what certainly failed before any effect is run again, whatever the operation", async () => {
  const declared = beforeEffect(new Error("The queue was full."));
  for (const error of [
    declared,
    failing({ status: 401 }),
    failing({ code: "ENOTFOUND" }),
    new Error("x", { cause: failing({ code: "ECONNREFUSED" }) }),
  ]) {
    assert.equal(failureOf(error).isBeforeEffect, true);
    const run = async ({ attempt }: Attempt): Promise<number> => (attempt === 1 ? Promise.reject(error) : attempt);
    const { outcome } = await treat({ name: "pay", run }, { heuristics: [own()] });
    assert.deepEqual(outcome, { status: "fulfilled", value: 2 });
  }
});

test("001-32: healing stops at its timeout, and a marker says so", async () => {
  const heuristics = [own(() => new Promise(() => undefined))];
  const run = (): Promise<never> => Promise.reject(failing({ status: 422 }));
  // The timer of an AbortSignal alone does not keep a process alive.
  const alive = setTimeout(() => undefined, 5000);
  const { outcome, healings } = await treat({ name: "read", run }, { heuristics, healingTimeoutMs: 30 });
  clearTimeout(alive);
  assert.equal(outcome.status, "rejected");
  assert.deepEqual(healings.at(-1)?.metadata, { attempt: 1, success: false, timed_out: true });
  assert.match(healings.at(-1)?.description ?? "", /stopped after 30 ms/);
  assert.equal(HEALING_LIMITS.totalMs, 30_000);
});

test("001-14: only the healing that helped is told as a success", async () => {
  const run = async ({ attempt }: Attempt): Promise<string> => {
    if (attempt < 3) throw failing({ code: "TOKEN_EXPIRED" });
    return "done";
  };
  const heuristics = [refreshToken({ current: () => undefined, refresh: async () => "useless-token" }), own()];
  const { outcome, healings } = await treat({ name: "read", run }, { heuristics });
  assert.equal(outcome.status, "fulfilled");
  const praised = healings.filter(({ metadata }) => metadata["success"] === true);
  assert.deepEqual(
    praised.map(({ action }) => action),
    ["switch_model"],
  );
});

test("own heuristics can be registered and are asked first; an operation is never run without end", async () => {
  let runs = 0;
  const mine = healer();
  mine.register({ ...own(), attempts: Number.POSITIVE_INFINITY });
  const run = (): Promise<never> => {
    runs++;
    return Promise.reject(failing({ status: 400 }));
  };
  const witness = { emit: async () => undefined, hide: () => undefined, signal: new AbortController().signal };
  await assert.rejects(mine.run({ name: "loop", run }, witness), HealingFailedError);
  assert.equal(runs, HEALING_LIMITS.runs);
});

test("nothing is healed for a client that has disconnected", async () => {
  const run = (): Promise<never> => Promise.reject(failing({ status: 401 }));
  const { outcome, healings } = await treat({ name: "read", run }, { heuristics: [own()] }, AbortSignal.abort());
  assert.equal(outcome.status, "rejected");
  assert.deepEqual(healings, []);
});
