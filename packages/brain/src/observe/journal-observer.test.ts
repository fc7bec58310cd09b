import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { describe, it } from "node:test";
import { Fault } from "@vidro/core";
import type { Entry, Event, Journal, Lease } from "@vidro/core";
import { observeJournal } from "./journal-observer.ts";
import { Metrics } from "./metrics.ts";

const LEASE = { run: "run_1", epoch: 1 } as unknown as Lease;
const STARTED = { type: "run.started", thread: "thread_1", hand: "local" } as unknown as Event;

/** An observed journal whose appends do as a test says. */
function observed() {
  const world = { append: async (): Promise<void> => undefined, wrote: [] as (string | undefined)[] };
  const logged: { event: string; [field: string]: unknown }[] = [];
  const metrics = new Metrics();
  const inner = {
    create: async () => ({ lease: LEASE }),
    append: () => world.append(),
    lease: async () => LEASE,
    renew: async () => undefined,
    release: async () => undefined,
    read: async () => [{ seq: 1, at: 0, event: STARTED }],
  } as unknown as Journal;
  const journal = observeJournal(inner, {
    metrics,
    log: (event, fields) => void logged.push({ event, ...fields }),
    wrote: (thrown) => void world.wrote.push((thrown as Fault | undefined)?.code),
  });
  const append = async (...events: readonly (readonly [number, object])[]): Promise<void> => {
    const entries = events.map(([at, event], index): Entry => ({ seq: index + 2, at, event: event as Event }));
    await journal.append(LEASE, entries);
    await turn();
  };
  const value = (line: string): number => {
    const found = metrics
      .text()
      .split("\n")
      .find((one) => one.startsWith(`${line} `));
    return Number(found?.slice(line.length + 1) ?? Number.NaN);
  };
  return { world, logged, journal, append, value };
}

describe("an observed journal", () => {
  it("counts and logs entries when they are durable, with the names of their run", async () => {
    const { journal, append, logged, value } = observed();
    await journal.create({ id: "run_1" } as never, [{ seq: 1, at: 0, event: STARTED }], {} as never);
    await turn();
    await append([5, { type: "run.finished", result: "x" }]);
    assert.deepEqual(logged, [
      { event: "run.started", run_id: "run_1", session_id: "thread_1", agent_id: "local" },
      { event: "run.finished", run_id: "run_1", session_id: "thread_1", agent_id: "local" },
    ]);
    assert.equal(value('vidro_runs_total{state="started"}'), 1);
    assert.equal(value('vidro_runs_total{state="finished"}'), 1);
  });

  it("counts nothing of entries that were not recorded, and tells of the failure", async () => {
    const { append, logged, world } = observed();
    world.append = async () => {
      throw new Fault("STORAGE_FULL", "full");
    };
    await assert.rejects(append([5, { type: "run.finished" }]), { code: "STORAGE_FULL" });
    assert.deepEqual([logged, world.wrote], [[], ["STORAGE_FULL"]]);
    world.append = async () => undefined;
    await append([5, { type: "run.finished" }]);
    assert.deepEqual(world.wrote, ["STORAGE_FULL", undefined]);
  });

  it("measures the time from an intent to its outcome by the times of their entries", async () => {
    const { journal, append, value } = observed();
    await journal.lease("run_1", {} as never);
    await append([1000, { type: "model.called" }]);
    await append([3000, { type: "model.replied", usage: { inputTokens: 1, outputTokens: 2 } }]);
    await append(
      [3000, { type: "action.started", action: "act_1" }],
      [3500, { type: "action.failed", action: "act_1", fault: { code: "TOOL_FAILED" } }],
    );
    assert.equal(value('vidro_model_call_seconds_sum{outcome="replied"}'), 2);
    assert.equal(value('vidro_action_seconds_sum{outcome="failed"}'), 0.5);
    assert.equal(value('vidro_model_tokens_total{direction="output"}'), 2);
  });

  it("measures nothing that began in another process", async () => {
    const { journal, append, value } = observed();
    await journal.lease("run_1", {} as never);
    await append([3000, { type: "model.replied", usage: { inputTokens: 1, outputTokens: 2 } }]);
    assert.ok(Number.isNaN(value('vidro_model_call_seconds_sum{outcome="replied"}')));
    assert.equal(value("vidro_steps_total"), 1);
  });

  it("says once that the lease of a run was lost, however many writes fail with it", async () => {
    const { journal, append, logged, world } = observed();
    await journal.lease("run_1", {} as never);
    world.append = async () => {
      throw new Fault("LEASE_LOST", "lost");
    };
    await Promise.allSettled([append([1, { type: "model.called" }]), append([1, { type: "model.called" }])]);
    assert.deepEqual(
      logged.map(({ event }) => event),
      ["run.lease_lost"],
    );
  });

  it("logs the code of a fault and the id of an action, and no content", async () => {
    const { append, logged } = observed();
    await append(
      [1, { type: "action.failed", action: "act_1", fault: { code: "TOOL_FAILED", message: "secret" } }],
      [
        2,
        {
          type: "model.replied",
          text: "secret",
          usage: { inputTokens: 0, outputTokens: 0 },
          action: { id: "act_2", input: { a: "secret" } },
        },
      ],
    );
    assert.deepEqual(
      logged.map(({ event, action_id, code }) => [event, action_id, code]),
      [
        ["action.failed", "act_1", "TOOL_FAILED"],
        ["model.replied", "act_2", undefined],
      ],
    );
    assert.doesNotMatch(JSON.stringify(logged), /secret/);
  });

  it("lets an outcome of a process count as good by its exit code", async () => {
    const { append, value } = observed();
    const outcome = (exitCode: number | null) => ({
      type: "action.finished",
      action: "a",
      outcome: { kind: "process", exitCode },
    });
    await append([1, outcome(0)], [2, outcome(1)], [3, outcome(null)]);
    await append([4, { type: "action.finished", action: "a", outcome: { kind: "value", text: "" } }]);
    assert.equal(value('vidro_actions_total{outcome="ok"}'), 2);
    assert.equal(value('vidro_actions_total{outcome="error"}'), 2);
  });
});
