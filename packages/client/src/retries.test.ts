import assert from "node:assert/strict";
import { mock, test } from "node:test";
import type { TestContext } from "node:test";
import { CLIENT_LIMITS } from "@vidro/core";
import { faultField, refusalError } from "./refusal.ts";
import { Retries } from "./retries.ts";
import { isTransientError, VidroError } from "./vidro-error.ts";

const LOST = new VidroError("CONNECTION_LOST", "cut");

function timers(t: TestContext): void {
  mock.timers.enable({ apis: ["setTimeout"] });
  t.after(() => mock.timers.reset());
}

/** Whether a promise settles within so many milliseconds of the test's clock. */
async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let isSettled = false;
  const settle = (): void => void (isSettled = true);
  promise.then(settle, settle);
  mock.timers.tick(ms);
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  return isSettled;
}

test("a transient failure is tried again as often as allowed, then it is thrown as it was", async (t) => {
  timers(t);
  const retries = new Retries({ retries: 2, backoffMs: 10 }, undefined);
  for (let tries = 0; tries < 2; tries++) assert.ok(await settlesWithin(retries.backOff(LOST), 1000));
  await assert.rejects(retries.backOff(LOST), (thrown) => thrown === LOST);
});

test("progress starts the count again", async (t) => {
  timers(t);
  const retries = new Retries({ retries: 1, backoffMs: 10 }, undefined);
  for (let times = 0; times < 5; times++) {
    assert.ok(await settlesWithin(retries.backOff(LOST), 1000));
    retries.reset();
  }
});

test("what is not transient is thrown at once, also with tries left", async () => {
  const retries = new Retries({ retries: 5, backoffMs: 10 }, undefined);
  for (const thrown of [new VidroError("NOT_FOUND", "no"), new Error("bug"), "text", undefined])
    await assert.rejects(retries.backOff(thrown), (got) => got === thrown);
});

test("the brain's own wait is kept, up to a bound", async (t) => {
  timers(t);
  const wait = (retryAfterMs: number): Promise<void> =>
    new Retries({ retries: 1, backoffMs: 1 }, undefined).backOff(new VidroError("RATE_LIMITED", "", { retryAfterMs }));
  const waiting = wait(500);
  assert.ok(!(await settlesWithin(waiting, 499)));
  assert.ok(await settlesWithin(waiting, 1));
  assert.ok(await settlesWithin(wait(1e9), CLIENT_LIMITS.retryAfterCapMs));
});

test("delays have no more than the doubled bound, and their cap", async (t) => {
  timers(t);
  mock.method(Math, "random", () => 0.999_999);
  t.after(() => mock.restoreAll());
  const retries = new Retries({ retries: 100, backoffMs: 100 }, undefined);
  for (const bound of [100, 200, 400]) {
    const waiting = retries.backOff(LOST);
    assert.ok(!(await settlesWithin(waiting, bound / 2)), `${bound}`);
    assert.ok(await settlesWithin(waiting, bound / 2), `${bound}`);
  }
  for (let times = 0; times < 60; times++)
    assert.ok(await settlesWithin(retries.backOff(LOST), CLIENT_LIMITS.backoffCapMs));
});

test("aborting ends a wait with its reason, and no wait begins after it", async (t) => {
  timers(t);
  const abort = new AbortController();
  const retries = new Retries({ retries: 5, backoffMs: 1000 }, abort.signal);
  const waiting = retries.backOff(new VidroError("RATE_LIMITED", "", { retryAfterMs: 5000 }));
  const reason = new Error("enough");
  abort.abort(reason);
  await assert.rejects(waiting, (got) => got === reason);
  await assert.rejects(retries.backOff(LOST), (got) => got === reason);
});

test("only what may pass is transient: statuses count where no brain named a code", () => {
  for (const code of ["BRAIN_UNREACHABLE", "CONNECTION_LOST", "SHUTTING_DOWN", "RATE_LIMITED"])
    assert.ok(isTransientError(new VidroError(code, "")), code);
  for (const status of [408, 425, 429, 502, 503, 504])
    assert.ok(isTransientError(new VidroError("BAD_ANSWER", "", { status })), `${status}`);
  for (const status of [400, 401, 404, 409, 500, 501])
    assert.ok(!isTransientError(new VidroError("BAD_ANSWER", "", { status })), `${status}`);
  assert.ok(!isTransientError(new VidroError("STORE_FAILED", "", { status: 503 })), "the brain's own code decides");
  assert.ok(!isTransientError({ code: "CONNECTION_LOST" }));
});

test("an answer with an error status has the brain's code and sentence in each of its three shapes", () => {
  for (const body of [
    { code: "NOT_FOUND", message: "None." },
    { code: "NOT_FOUND", error: "None." },
    { error: { code: "NOT_FOUND", message: "None." } },
  ]) {
    const { code, message, status } = refusalError(new Response(null, { status: 404 }), JSON.stringify(body));
    assert.deepEqual([code, message, status], ["NOT_FOUND", "None.", 404]);
  }
});

test("a body of something else is shown in part, and a redirect is told as what it is", () => {
  const { code, message } = refusalError(new Response(null, { status: 502 }), "<html>".repeat(1000));
  assert.equal(code, "BAD_ANSWER");
  assert.ok(message.length < 400 && message.includes("502"));
  assert.match(refusalError(new Response(null, { status: 301 }), "").message, /points to another one/);
  for (const body of ["", "null", "[]", "5", '{"code":5}', '{"error":[]}', '{"error":{"error":{"code":5}}}'])
    assert.equal(refusalError(new Response(null, { status: 500 }), body).code, "BAD_ANSWER", body);
});

test("a wait is read in seconds only", () => {
  const waitOf = (header: string): number | undefined =>
    refusalError(new Response(null, { status: 429, headers: { "retry-after": header } }), "").retryAfterMs;
  assert.deepEqual(["0", "5", "120"].map(waitOf), [0, 5000, 120_000]);
  for (const header of ["-1", "1.5", "soon", "Wed, 21 Oct 2026 07:28:00 GMT", "9999999", "0x10"])
    assert.equal(waitOf(header), undefined, header);
});

test("fields of a fault are texts and nothing else", () => {
  assert.equal(faultField({ code: "A", message: 5 }, "message"), undefined);
  assert.equal(faultField({ error: "words" }, "code"), undefined);
  assert.equal(faultField(undefined, "code"), undefined);
});
