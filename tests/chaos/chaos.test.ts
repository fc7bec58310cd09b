import assert from "node:assert/strict";
import { test } from "node:test";
import { chaos } from "./chaos.ts";
import { FAULT_KINDS, planOf } from "./plan.ts";
import type { ChaosOptions } from "./plan.ts";
import { failureWords, summaryWords } from "./report.ts";

/* Half a minute of `npm run chaos`: a course that is always the same, and one that is new each time and names its seed. */

const FIXED: ChaosOptions = { seconds: 18, seed: 20_260_101, faults: FAULT_KINDS };
const RANDOM: ChaosOptions = { seconds: 12, seed: Math.floor(Math.random() * 2 ** 31), faults: FAULT_KINDS };

test("a seed stands for one course, and another seed for another one", () => {
  assert.deepEqual(planOf(FIXED), planOf(FIXED));
  assert.notDeepEqual(planOf(FIXED), planOf({ ...FIXED, seed: FIXED.seed + 1 }));
});

for (const [name, options] of Object.entries({ fixed: FIXED, random: RANDOM }))
  test(`G2 G3 G4 G5 G9 brain, hands and store fail at random while runs are aborted, answered and followed, and every promise is kept (${name} seed)`, async (t) => {
    const said: string[] = [];
    const report = await chaos(options, (line) => said.push(line));
    t.diagnostic(summaryWords(options, report));
    assert.equal(report.violations.length, 0, `${said.join("\n")}\n${failureWords(options, report)}`);
    const faults = FAULT_KINDS.reduce((sum, kind) => sum + (report.counts[kind] ?? 0), 0);
    assert.ok(
      (report.counts["effects"] ?? 0) > 0 && faults > 0,
      `something happened: ${JSON.stringify(report.counts)}`,
    );
  });
