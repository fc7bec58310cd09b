import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TestContext } from "node:test";
import { EXIT } from "../program/exit-codes.ts";
import { isRunWatched, onInterrupt, onUncaught } from "./interrupts.ts";
import type { LeaveReason } from "./interrupts.ts";

/** A watcher that keeps what it is told; signals are given to the process's own listeners, and none ends it. */
function watched(t: TestContext) {
  const told: (string | LeaveReason)[] = [];
  const exits: unknown[] = [];
  t.mock.method(process, "exit", (code: unknown) => void exits.push(code));
  const stop = onInterrupt({ abort: () => told.push("abort"), leave: (leaving) => told.push(leaving) });
  t.after(stop);
  const strike = (signal: "SIGINT" | "SIGTERM" | "SIGHUP"): boolean => process.emit(signal);
  return { told, exits, stop, strike };
}

describe("signals to a command that watches a run", () => {
  it("abort the run at first, leave it at the second and end the process at the third", (t) => {
    const { told, exits, strike } = watched(t);
    strike("SIGINT");
    assert.deepEqual(told, ["abort"]);
    strike("SIGINT");
    assert.deepEqual(told.at(-1), { exit: EXIT.aborted, because: "Ctrl-C twice" });
    assert.deepEqual(exits, []);
    strike("SIGINT");
    assert.deepEqual([exits, told.length], [[EXIT.aborted], 2]);
  });

  it("leave the run when the process is asked to end or the terminal is gone", (t) => {
    const { told, strike } = watched(t);
    strike("SIGTERM");
    strike("SIGHUP");
    assert.deepEqual(told, [
      { exit: EXIT.terminated, because: "asked to end" },
      { exit: EXIT.hungUp, because: "the terminal is gone" },
    ]);
  });

  it("are the system's again when the run is not watched any more", (t) => {
    const before = process.listenerCount("SIGINT");
    const { told, stop, strike } = watched(t);
    assert.equal(isRunWatched(), true);
    assert.equal(process.listenerCount("SIGINT"), before + 1);
    stop();
    assert.equal(isRunWatched(), false);
    assert.equal(process.listenerCount("SIGINT"), before);
    strike("SIGHUP");
    assert.deepEqual(told, []);
  });

  it("begin anew with each run: an earlier Ctrl-C does not count for the next", (t) => {
    const first = watched(t);
    first.strike("SIGINT");
    first.stop();
    const told: string[] = [];
    const stop = onInterrupt({ abort: () => told.push("abort"), leave: () => told.push("leave") });
    t.after(stop);
    first.strike("SIGINT");
    assert.deepEqual(told, ["abort"]);
  });
});

describe("errors that nothing caught", () => {
  it("go to the handler that was set last, and to it alone", (t) => {
    const before = process.listeners("uncaughtException");
    t.after(() => {
      process.removeAllListeners("uncaughtException");
      for (const listener of before) process.on("uncaughtException", listener);
    });
    const heard: string[] = [];
    onUncaught(() => heard.push("first"));
    onUncaught((thrown) => heard.push(String(thrown)));
    process.emit("uncaughtException", new Error("lost"));
    assert.deepEqual(heard, ["Error: lost"]);
  });
});
