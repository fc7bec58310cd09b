import assert from "node:assert/strict";
import { getEventListeners, once } from "node:events";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { Deadline } from "./call-deadline.ts";
import type { CallDeadlines } from "./call-deadline.ts";

const LONG: CallDeadlines = { firstTokenMs: 60_000, betweenTokensMs: 60_000 };
const never = (): Promise<never> => new Promise(() => undefined);

/** A deadline that is ended with its test, and the controller of its caller. */
function deadlineOf(t: TestContext, patience: CallDeadlines = LONG) {
  const caller = new AbortController();
  const deadline = new Deadline(caller.signal, patience);
  t.after(() => deadline.end());
  return { caller, deadline };
}

void test("work that succeeds or fails in time is passed on as it is", async (t) => {
  const { deadline } = deadlineOf(t);
  assert.equal(await deadline.wait(Promise.resolve(7)), 7);
  const own = new Error("own");
  await assert.rejects(deadline.wait(Promise.reject(own)), own);
  assert.equal(deadline.signal.aborted, false);
});

void test("silence before the first part ends the call with its own time in the words", async (t) => {
  const { deadline } = deadlineOf(t, { firstTokenMs: 5, betweenTokensMs: 60_000 });
  await assert.rejects(deadline.wait(never()), { code: "MODEL_TIMEOUT", message: "The model was silent for 5 ms." });
  assert.equal(deadline.signal.aborted, true);
  await assert.rejects(deadline.wait(never()), { code: "MODEL_TIMEOUT" }, "nothing is waited for after it");
});

void test("after the first part the silence between two parts counts", async (t) => {
  const { deadline } = deadlineOf(t, { firstTokenMs: 60_000, betweenTokensMs: 6 });
  await deadline.wait(Promise.resolve());
  deadline.sign();
  deadline.sign();
  await assert.rejects(deadline.wait(never()), { code: "MODEL_TIMEOUT", message: /6 ms/ });
});

void test("time in which nothing is waited for does not count", async (t) => {
  const { deadline } = deadlineOf(t, { firstTokenMs: 60_000, betweenTokensMs: 1 });
  deadline.sign();
  const alarm = Promise.withResolvers<void>();
  // Timers fire in their order, so the alarm of the deadline has fired before this one.
  setTimeout(alarm.resolve, 20);
  await alarm.promise;
  assert.equal(deadline.signal.aborted, false);
  assert.equal(await deadline.wait(Promise.resolve("read")), "read");
  await assert.rejects(deadline.wait(never()), { code: "MODEL_TIMEOUT" }, "the next wait has a deadline again");
});

void test("an abort of the caller ends a wait at once, and is told rather than what it breaks", async (t) => {
  const { caller, deadline } = deadlineOf(t);
  const { promise, reject } = Promise.withResolvers<never>();
  deadline.signal.addEventListener("abort", () => reject(new Error("socket hang up")));
  const waiting = deadline.wait(promise);
  caller.abort();
  await assert.rejects(waiting, { code: "MODEL_CUT", message: "The call was aborted." });
  assert.equal(deadline.signal.aborted, true);
});

void test("a call of a caller that has aborted already does not begin", async (t) => {
  const deadline = new Deadline(AbortSignal.abort(), LONG);
  t.after(() => deadline.end());
  assert.equal(deadline.signal.aborted, true);
  await assert.rejects(deadline.wait(never()), { code: "MODEL_CUT" });
});

void test("the end of a call aborts what is under way and leaves nothing at the caller's signal", async (t) => {
  const { caller, deadline } = deadlineOf(t);
  assert.equal(getEventListeners(caller.signal, "abort").length, 1);
  const aborted = once(deadline.signal, "abort");
  deadline.end();
  await aborted;
  assert.equal(getEventListeners(caller.signal, "abort").length, 0);
  deadline.end();
});
