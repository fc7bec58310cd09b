import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { describe, it } from "node:test";
import { Fault } from "@vidro/core";
import type { BusCondition } from "@vidro/core";
import type { OpenRuns } from "../stores/store.ts";
import { HealthWatch } from "./health.ts";
import { Metrics } from "./metrics.ts";

/** A watch over parts that a test changes. */
function watched(holdsRuns = false) {
  const parts = {
    runs: async (): Promise<OpenRuns> => ({ running: 2, asking: 0, undriven: 0 }),
    damaged: 0,
    put: async (): Promise<unknown> => ({}),
    bus: undefined as BusCondition | undefined,
  };
  const logged: string[] = [];
  const metrics = new Metrics();
  const watch = new HealthWatch({
    home: tmpdir(),
    condition: {
      openRuns: () => parts.runs(),
      damaged: () => Array.from({ length: parts.damaged }, (_, index) => ({ run: `run_${index}` })) as never,
    },
    records: { put: () => parts.put() as never },
    metrics,
    log: (event, fields) => void logged.push(`${event} ${String(fields?.["thing"])}`),
    bus: { condition: () => parts.bus as BusCondition },
    holdsRuns,
  });
  return { parts, logged, metrics, watch };
}

const full = new Fault("STORAGE_FULL", "The disk is full.");

describe("the health of a brain", () => {
  it("is ok for every part when nothing is wrong, and nothing is logged then", async () => {
    const { watch, logged } = watched();
    await watch.look();
    assert.deepEqual(watch.checks(), { store: "ok", disk: "ok", descriptors: "ok", runs: "ok" });
    assert.deepEqual(watch.details(), {});
    assert.deepEqual(logged, []);
  });

  it("has a store that is down after a write that failed, until a write of its own succeeds", async () => {
    const { watch, logged, parts } = watched();
    parts.put = async () => {
      throw full;
    };
    watch.wrote(full);
    await watch.look();
    assert.equal(watch.checks()["store"], "down");
    assert.equal(watch.details()["store"], "The disk is full.");
    parts.put = async () => ({});
    await watch.look();
    assert.equal(watch.checks()["store"], "ok");
    assert.deepEqual(logged, ["health.lost store", "health.restored store"]);
  });

  it("has a store that is up again after the next write of a run", async () => {
    const { watch } = watched();
    watch.wrote(full);
    watch.wrote();
    await watch.look();
    assert.equal(watch.checks()["store"], "ok");
  });

  it("is not touched by a write that was refused for a reason of its own", async () => {
    const { watch } = watched();
    for (const code of ["LEASE_LOST", "CONFLICT", "RUN_BUSY"] as const) watch.wrote(new Fault(code, "x"));
    await watch.look();
    assert.equal(watch.checks()["store"], "ok");
  });

  it("has a store that is down when it cannot be read, and a damaged one is named", async () => {
    const { watch, parts } = watched();
    parts.runs = async () => {
      throw new Fault("STORE_UNREADABLE", "It cannot be read.");
    };
    await watch.look();
    assert.deepEqual([watch.checks()["store"], watch.details()["store"]], ["down", "It cannot be read."]);
    parts.runs = async () => ({ running: 2, asking: 0, undriven: 0 });
    parts.damaged = 2;
    await watch.look();
    assert.equal(watch.checks()["store"], "degraded");
    assert.match(watch.details()["store"] ?? "", /^2 runs cannot be read\. See which: vidro audit verify$/);
  });

  it("is degraded by open runs that nothing drives, unless they are held on purpose", async () => {
    for (const [holdsRuns, expected] of [
      [false, "degraded"],
      [true, "ok"],
    ] as const) {
      const { watch, parts } = watched(holdsRuns);
      parts.runs = async () => ({ running: 2, asking: 0, undriven: 1 });
      await watch.look();
      assert.equal(watch.checks()["runs"], expected);
    }
  });

  it("names the bus only where there is one, and says what goes on without it", async () => {
    const { watch, parts } = watched();
    parts.bus = { isUp: false, why: "redis://a is down", dropped: 1 };
    await watch.look();
    assert.equal(watch.checks()["bus"], "degraded");
    assert.match(watch.details()["bus"] ?? "", /^redis:\/\/a is down\. Until it is back, /);
    parts.bus = { isUp: true, why: "", dropped: 1 };
    await watch.look();
    assert.equal(watch.checks()["bus"], "ok");
  });

  it("logs a change once, not at each look", async () => {
    const { watch, parts, logged } = watched();
    parts.damaged = 1;
    for (let look = 0; look < 3; look += 1) await watch.look();
    assert.deepEqual(logged, ["health.degraded store"]);
  });

  it("looks once for all that ask at the same time", async () => {
    const { watch, parts } = watched();
    let looks = 0;
    const { runs } = parts;
    parts.runs = () => {
      looks += 1;
      return runs();
    };
    await Promise.all([watch.look(), watch.look(), watch.look()]);
    assert.equal(looks, 1);
  });
});
