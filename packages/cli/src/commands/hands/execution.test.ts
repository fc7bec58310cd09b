import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Fault, isTerminal } from "@vidro/core";
import type { Entry, Event, Outcome } from "@vidro/core";
import type { HandRecord, RunStreamItem } from "@vidro/client";
import type { BrainRuns } from "../../brain-api/brain-api.ts";
import { EXIT } from "../../program/exit-codes.ts";
import { Execution } from "./execution.ts";
import type { ExecutionOptions } from "./execution.ts";

/** A brain that gives these events for the one run, and what it was asked. */
function brainOf(events: readonly (Event | { readonly live: object })[], calls: string[] = []): BrainRuns {
  let seq = 0;
  const known: Partial<BrainRuns> = {
    start: async ({ hand, agent }) => {
      calls.push(`start ${agent} on ${hand}`);
      return { run: { id: "run_1" }, existed: false } as Awaited<ReturnType<BrainRuns["start"]>>;
    },
    async *follow(_run, _after, signal): AsyncGenerator<RunStreamItem> {
      for (const event of events) {
        if (signal.aborted) return;
        if ("live" in event) yield { live: event.live as never, after: seq };
        else {
          const entry: Entry = { seq: (seq += 1), at: 0, event };
          yield { entry };
          // What is asked is answered before the next entry comes.
          await new Promise(setImmediate);
          if (isTerminal(event)) return;
        }
      }
      if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    },
    answer: async (_, { text, question }) => void calls.push(`answer ${question}: ${text}`),
    abort: async (_, reason) => void calls.push(`abort ${reason}`),
  };
  return known as BrainRuns;
}

function carryOut(events: readonly (Event | { readonly live: object })[], more: Partial<ExecutionOptions> = {}) {
  const calls: string[] = [];
  const heard: string[] = [];
  const execution = new Execution({
    runs: brainOf(events, calls),
    hand: { id: "hand_1", name: "web-1" } as HandRecord,
    task: "x",
    workspace: "/",
    hear: ({ chunk }) => void heard.push(chunk),
    answer: async () => ({ text: "yes", by: "me" }),
    ...more,
  });
  return { execution, calls, heard };
}

const finished = { type: "run.finished", result: "" } as Event;
const fault = (code: string) => ({ code, message: "So it is." }) as never;
const ended = (about: Partial<Extract<Outcome, { kind: "process" }>>): Event => {
  const stream = { text: "", bytes: 0, truncated: false, sha256: "" };
  const outcome = {
    kind: "process",
    exitCode: 0,
    signal: null,
    timedOut: false,
    durationMs: 1,
    stdout: stream,
    stderr: stream,
  };
  return { type: "action.finished", action: "act_1", outcome: { ...outcome, ...about } } as Event;
};
const asked = (id: string): Event =>
  ({
    type: "question.asked",
    id,
    about: { kind: "approval" },
    text: "?",
    options: ["yes", "no"],
    expiresAt: 0,
  }) as unknown as Event;

describe("the exit code of a command on a hand", () => {
  const cases: readonly (readonly [title: string, events: readonly Event[], exit: number])[] = [
    ["is that of the command", [ended({ exitCode: 3 }), finished], 3],
    ["is 0 where it succeeded", [ended({}), finished], 0],
    [
      "is 124 where it took too long, whatever ended it",
      [ended({ exitCode: null, signal: "SIGKILL", timedOut: true }), finished],
      124,
    ],
    ["is 128 and the signal that ended it", [ended({ exitCode: null, signal: "SIGTERM" }), finished], 143],
    [
      "is 128 for a signal that this host does not know",
      [ended({ exitCode: null, signal: "SIGWEIRD" }), finished],
      128,
    ],
    ["is 1 where a hand tells neither", [ended({ exitCode: null }), finished], 1],
    [
      "is 5 where policy refused it",
      [{ type: "action.failed", action: "a", fault: fault("POLICY_DENIED") }, finished],
      5,
    ],
    [
      "is 9 where its outcome cannot be known",
      [{ type: "action.unknown", action: "a", fault: fault("OUTCOME_UNKNOWN") }, finished],
      9,
    ],
    ["is that of the fault of its run", [{ type: "run.failed", fault: fault("HAND_UNAVAILABLE") }], 7],
    ["is 1 for a fault that only a newer brain knows", [{ type: "run.failed", fault: fault("DREAM_LOST") }], 1],
    ["is 130 where the run was aborted", [{ type: "run.aborted", reason: "x" }], EXIT.aborted],
    ["is 1 where the run ended without having done anything", [finished], 1],
    [
      "is 0 for a tool that starts no process",
      [{ type: "action.finished", action: "a", outcome: { kind: "value", text: "x" } }, finished],
      0,
    ],
  ];
  for (const [title, events, exit] of cases)
    test(title, async () => {
      const result = await carryOut(events).execution.carryOut();
      assert.deepEqual([result.exit, result.run], [exit, "run_1"]);
      assert.equal(
        result.fault === undefined && result.outcome === undefined && result.value === undefined,
        exit === EXIT.aborted,
      );
    });
});

test("output is heard while the command runs, and nothing else that is live", async () => {
  const output = (chunk: string) => ({ live: { type: "action.output", action: "a", stream: "stdout", chunk } });
  const { execution, heard } = carryOut([
    output("a"),
    { live: { type: "model.delta", text: "no", from: 0 } },
    output("b"),
    ended({}),
    finished,
  ]);
  await execution.carryOut();
  assert.deepEqual(heard, ["a", "b"]);
});

describe("a question of a command", () => {
  test("is answered once, with the entries before it", async () => {
    const seen: number[] = [];
    const judged = { type: "policy.judged", action: "a", verdict: {}, plan: {} } as unknown as Event;
    const { execution, calls } = carryOut([judged, asked("q1"), ended({}), finished], {
      answer: async (_, entries) => {
        seen.push(entries.length);
        return { text: "yes", by: "me" };
      },
    });
    await execution.carryOut();
    assert.deepEqual([calls, seen], [["start direct on hand_1", "answer q1: yes"], [2]]);
  });

  test("that is closed meanwhile is no failure, and its asking ends", async () => {
    let closed: AbortSignal | undefined;
    const { execution, calls } = carryOut([asked("q1"), ended({}), finished], {
      answer: (_, __, signal) =>
        new Promise((_resolve, reject) => {
          closed = signal;
          signal.addEventListener("abort", () => reject(new Error("closed")));
        }),
    });
    assert.equal((await execution.carryOut()).exit, 0);
    assert.equal(closed?.aborted, true);
    assert.equal(calls.length, 1);
  });

  test("whose answer is refused because another came first is no failure; any other refusal is", async () => {
    const refuse = (code: "CONFLICT" | "INVALID_TOKEN") => {
      const events = [asked("q1"), ended({}), finished];
      const runs = { ...brainOf(events), answer: async () => Promise.reject(new Fault(code, "No.")) };
      return carryOut(events, { runs }).execution.carryOut();
    };
    assert.equal((await refuse("CONFLICT")).exit, 0);
    await assert.rejects(refuse("INVALID_TOKEN"), { code: "INVALID_TOKEN" });
  });
});

describe("a command that is interrupted", () => {
  test("before it has a run is left, and after that its run is aborted", async () => {
    const { execution, calls } = carryOut([ended({})]);
    await execution.abort("Ctrl-C");
    assert.deepEqual(calls, []);
    const running = carryOut([ended({})]);
    const over = running.execution.carryOut();
    await new Promise(setImmediate);
    await running.execution.abort("Ctrl-C");
    running.execution.leave();
    assert.equal((await over).exit, EXIT.aborted);
    assert.deepEqual(running.calls, ["start direct on hand_1", "abort Ctrl-C"]);
  });

  test("whose run has ended meanwhile is not told as a failure", async () => {
    const events = [ended({}), finished];
    const runs = { ...brainOf(events), abort: async () => Promise.reject(new Fault("CONFLICT", "It is over.")) };
    const { execution } = carryOut(events, { runs });
    await execution.carryOut();
    await execution.abort("Ctrl-C");
    const broken = { ...runs, abort: async () => Promise.reject(new Fault("BRAIN_UNREACHABLE", "Gone.")) };
    const other = carryOut(events, { runs: broken });
    await other.execution.carryOut();
    await assert.rejects(other.execution.abort("Ctrl-C"), { code: "BRAIN_UNREACHABLE" });
  });
});
