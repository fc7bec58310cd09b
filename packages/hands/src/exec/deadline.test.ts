import assert from "node:assert/strict";
import { test } from "node:test";
import type { Outcome, ShellPlan } from "@vidro/core";
import { runWithDeadline } from "./deadline.ts";

const OUTCOME: Outcome = { kind: "value", text: "done" };
const shell = (timeoutMs: number, more: Partial<ShellPlan> = {}): ShellPlan => ({
  kind: "shell",
  command: "x",
  cwd: "/",
  env: {},
  timeoutMs,
  access: "all",
  sandboxed: false,
  ...more,
});

const options = (more: Partial<Parameters<typeof runWithDeadline>[1]> = {}) => ({
  tool: { name: "shell", idempotent: false },
  plan: shell(0),
  signal: new AbortController().signal,
  overdueMs: 0,
  ...more,
});

/** A tool that never ends, and what it was told. */
function deafTool(): { readonly run: (signal: AbortSignal) => Promise<Outcome>; readonly told: AbortSignal[] } {
  const told: AbortSignal[] = [];
  return {
    told,
    run: (signal) => {
      told.push(signal);
      return new Promise<Outcome>(() => undefined);
    },
  };
}

test("a tool that ends in time ends with its outcome, and is not told to stop", async () => {
  let told: AbortSignal | undefined;
  const ended = await runWithDeadline(
    async (signal) => {
      told = signal;
      return OUTCOME;
    },
    options({ plan: shell(60_000) }),
  );
  assert.deepEqual(ended, { type: "finished", outcome: OUTCOME });
  assert.equal(told?.aborted, false);
});

test("what a tool throws is thrown, at once or later, also when it is no error", async () => {
  const failures: readonly (() => Promise<Outcome>)[] = [
    () => Promise.reject(new Error("later")),
    () => {
      throw new Error("at once");
    },
    // oxlint-disable-next-line prefer-promise-reject-errors
    () => Promise.reject("a text"),
  ];
  for (const fail of failures)
    await assert.rejects(async () => runWithDeadline(fail, options({ plan: shell(60_000) })));
});

test("a tool that is deaf is told to stop when its time is over, and its end is unknown", async () => {
  const { run, told } = deafTool();
  const ended = await runWithDeadline(run, options());
  assert.equal(ended.type, "unknown");
  assert.ok(ended.type === "unknown" && ended.fault.code === "OUTCOME_UNKNOWN");
  assert.match(ended.fault.message, /The tool shell did not end/);
  assert.equal(told[0]?.aborted, true);
});

test("a deaf tool that can be repeated has failed, and that is settled", async () => {
  const ended = await runWithDeadline(deafTool().run, options({ tool: { name: "read_file", idempotent: true } }));
  assert.ok(ended.type === "failed" && ended.settled === true);
  assert.equal(ended.fault.code, "TOOL_FAILED");
});

test("a tool that stops only when its time is over has no outcome any more, and its late failure is no error", async () => {
  const stopped = Promise.withResolvers<void>();
  const ended = await runWithDeadline(
    (signal) =>
      new Promise<Outcome>((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          reject(new Error("stopped"));
          stopped.resolve();
        });
      }),
    options(),
  );
  await stopped.promise;
  assert.equal(ended.type, "unknown");
});

test("an abort of the caller reaches the tool, and the tool says how it ended", async () => {
  const caller = new AbortController();
  const running = runWithDeadline(
    (signal) =>
      new Promise<Outcome>((resolve) => {
        signal.addEventListener("abort", () => resolve({ kind: "value", text: String(signal.reason) }));
      }),
    options({ plan: shell(60_000), signal: caller.signal }),
  );
  caller.abort("by a person");
  assert.deepEqual(await running, { type: "finished", outcome: { kind: "value", text: "by a person" } });
});

test("a tool is told of an abort that came before it began", async () => {
  let wasAborted: boolean | undefined;
  await runWithDeadline(
    async (signal) => {
      wasAborted = signal.aborted;
      return OUTCOME;
    },
    options({ plan: shell(60_000), signal: AbortSignal.abort() }),
  );
  assert.equal(wasAborted, true);
});

test("the time of a plan counts only where its end is waited for: a process in the background has that of a command", async () => {
  const patient = Promise.withResolvers<Outcome>();
  const running = runWithDeadline(() => patient.promise, options({ plan: shell(0, { background: {} }) }));
  // The deadline of a plan that is waited for would have passed by now.
  await runWithDeadline(deafTool().run, options());
  patient.resolve(OUTCOME);
  assert.equal((await running).type, "finished");
});
