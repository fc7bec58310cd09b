import assert from "node:assert/strict";
import { test } from "node:test";
import { asFault, Fault, FAULTS } from "./fault.ts";
import type { FaultCode } from "./fault.ts";
import { nextHealing } from "./run/heal.ts";
import { MODEL_LIMITS } from "./limits.ts";

test("invariant 11: every fault says what happened and what to do, and has an exit code of the command line", () => {
  for (const [code, row] of Object.entries(FAULTS)) {
    assert.match(row.says, /^[A-Z].*\.$/, code);
    assert.ok(row.next.length > 0, code);
    assert.ok(row.exit >= 1 && row.exit <= 9, code);
    assert.ok(row.http >= 400 && row.http < 600, code);
  }
});

test("a stranger's error becomes a fault with its words, ours stays as it is", () => {
  const ours = new Fault("NOT_FOUND", "no run x");
  assert.equal(asFault(ours), ours);
  const theirs = asFault(new RangeError("boom"));
  assert.deepEqual(theirs.report(), { code: "INTERNAL_ERROR", message: "boom" });
  assert.ok(theirs.cause instanceof RangeError);
});

test("only faults whose fate is to be retried are healed, and not for ever", () => {
  for (const code of Object.keys(FAULTS) as FaultCode[]) {
    const healing = nextHealing({ code, message: "x" }, 1, 0.5);
    assert.equal(healing !== undefined, FAULTS[code].fate === "retry", code);
    assert.equal(nextHealing({ code, message: "x" }, MODEL_LIMITS.attempts, 0.5), undefined, code);
  }
});

test("a server that says when to come back is obeyed, up to a bound", () => {
  const limited = { code: "MODEL_RATE_LIMITED", message: "slow down" } as const;
  assert.equal(nextHealing({ ...limited, retryAfterMs: 3000 }, 1, 0)?.delayMs, 3000);
  assert.equal(nextHealing({ ...limited, retryAfterMs: 3000 }, 1, 0)?.healing, "handle_rate_limit");
  assert.equal(nextHealing({ ...limited, retryAfterMs: 9e9 }, 1, 0)?.delayMs, MODEL_LIMITS.retryAfterCapMs);
});

test("rests grow, are capped, and chance spreads them", () => {
  const rest = (attempt: number, chance: number) =>
    nextHealing({ code: "MODEL_CUT", message: "x" }, attempt, chance)?.delayMs;
  assert.deepEqual([rest(1, 1), rest(2, 1), rest(3, 1)], [1000, 2000, 4000]);
  assert.deepEqual([rest(1, 0), rest(3, 0)], [500, 2000]);
});
