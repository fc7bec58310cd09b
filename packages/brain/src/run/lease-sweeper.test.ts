import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Fault, RUN_LIMITS } from "@vidro/core";
import type { FaultCode } from "@vidro/core";
import { LeaseSweeper } from "./lease-sweeper.ts";

/** A sweeper over runs that a test names; resuming one that `faults` names fails. */
function sweeper() {
  const world = {
    undriven: [] as string[],
    faults: new Map<string, FaultCode>(),
    now: 1_000_000,
    resumed: [] as string[],
    logged: [] as string[],
  };
  const sweep = new LeaseSweeper({
    now: () => world.now,
    log: (event) => void world.logged.push(event),
    runs: {
      undriven: async () => {
        const code = world.faults.get("all");
        if (code !== undefined) throw new Fault(code, "x");
        return world.undriven;
      },
      resume: async (run: string) => {
        const code = world.faults.get(run);
        if (code !== undefined) throw new Fault(code, "x");
        world.resumed.push(run);
        world.undriven = world.undriven.filter((other) => other !== run);
      },
    },
  });
  return { world, sweep };
}

describe("runs that no process drives", () => {
  it("are all resumed, and one that fails keeps no other from it", async () => {
    const { world, sweep } = sweeper();
    world.undriven = ["a", "b", "c"];
    world.faults.set("b", "JOURNAL_CORRUPT");
    const { resumed, refused } = await sweep.sweep();
    assert.deepEqual([resumed, world.resumed], [2, ["a", "c"]]);
    assert.deepEqual(
      refused.map(({ run, fault }) => [run, fault.code]),
      [["b", "JOURNAL_CORRUPT"]],
    );
    assert.equal(sweep.withoutDriver, 1);
  });

  it("that cannot be resumed are tried again after growing times, up to a bound", async () => {
    const { world, sweep } = sweeper();
    world.undriven = ["a"];
    world.faults.set("a", "JOURNAL_CORRUPT");
    let tried = 0;
    const counting = world.faults;
    counting.get = (run: string) => {
      if (run !== "a") return undefined;
      tried += 1;
      return "JOURNAL_CORRUPT";
    };
    let restMs: number = RUN_LIMITS.refusedMs;
    for (let round = 0; round < 12; round += 1) {
      await sweep.sweep();
      assert.equal(tried, round + 1);
      world.now += restMs - 1;
      await sweep.sweep();
      assert.equal(tried, round + 1, "not before its time");
      world.now += 1;
      restMs = Math.min(restMs * 2, RUN_LIMITS.refusedCapMs);
    }
  });

  it("that fail in the same way are told of once, and again when the way is another", async () => {
    const { world, sweep } = sweeper();
    world.undriven = ["a"];
    const told: number[] = [];
    for (const code of ["STORE_BUSY", "STORE_BUSY", "JOURNAL_CORRUPT"] as const) {
      world.faults.set("a", code);
      told.push((await sweep.sweep()).refused.length);
      world.now += RUN_LIMITS.refusedCapMs;
    }
    assert.deepEqual(told, [1, 0, 1]);
  });

  it("that another process took first are no failure", async () => {
    const { world, sweep } = sweeper();
    world.undriven = ["a"];
    world.faults.set("a", "RUN_BUSY");
    assert.deepEqual(await sweep.sweep(), { resumed: 0, refused: [] });
    assert.equal(sweep.withoutDriver, 0);
  });

  it("are forgotten when they have a driver again, or have ended", async () => {
    const { world, sweep } = sweeper();
    world.undriven = ["a"];
    world.faults.set("a", "JOURNAL_CORRUPT");
    await sweep.sweep();
    world.undriven = [];
    await sweep.sweep();
    assert.equal(sweep.withoutDriver, 0);
  });

  it("wait for a client when a restart holds them, but later ones are resumed", async () => {
    const { world, sweep } = sweeper();
    world.undriven = ["old"];
    await sweep.start("hold");
    world.undriven.push("new");
    await sweep.sweep();
    assert.deepEqual(world.resumed, ["new"]);
    assert.equal(sweep.withoutDriver, 1);
    await sweep.close();
  });

  it("are resumed at once when a restart resumes them, and that is logged", async () => {
    const { world, sweep } = sweeper();
    world.undriven = ["a", "b"];
    world.faults.set("b", "JOURNAL_CORRUPT");
    await sweep.start("resume");
    assert.deepEqual(world.resumed, ["a"]);
    assert.deepEqual(world.logged, ["runs.resumed", "run.resume_failed"]);
    await sweep.close();
  });

  it("that cannot be looked for end nothing", async () => {
    const { world, sweep } = sweeper();
    world.faults.set("all", "STORE_UNREACHABLE");
    await sweep.start("resume");
    assert.deepEqual(world.logged, ["runs.search_failed"]);
    await sweep.close();
  });
});
