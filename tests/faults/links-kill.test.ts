import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { assertEffectsOnce, followRun } from "../support/follow-run.ts";
import { LINKS, LinkHarness, STEPS, taskOf } from "../support/link-harness.ts";
import type { LinkKind } from "../support/link-harness.ts";

/*
 * A brain and a hand in processes of their own, over each of the links there are: one of them, or both, are killed
 * again and again while a run goes on. Where they die is counted in what the run has told, kept or live.
 */

/** Who is killed, how often on each link, and after how many items of the run: one after the other, over and over. */
const DEATHS = [
  { victims: ["brain"], kills: 12, after: [1, 3, 2, 5, 4, 7] },
  { victims: ["hand"], kills: 12, after: [2, 3, 1, 4, 5, 2, 6] },
  { victims: ["brain", "hand"], kills: 4, after: [3, 8, 5] },
] as const;

/** What is counted over a whole link. */
interface Sum {
  kills: number;
  effects: number;
  unknown: number;
  runs: number;
}

/** One run, during which the victims die as often as is left. */
async function ranThrough(stand: LinkHarness, deaths: (typeof DEATHS)[number], sum: Sum): Promise<void> {
  const file = `r${sum.runs}`;
  sum.runs += 1;
  const run = await stand.kind.begin(stand, taskOf(file));
  let left: number = deaths.after[sum.kills % deaths.after.length] ?? 1;
  const entries = await followRun(stand, run, async () => {
    left -= 1;
    if (left > 0 || sum.kills >= deaths.kills) return;
    await Promise.all(deaths.victims.map((victim) => stand.kill(victim)));
    sum.kills += 1;
    left = deaths.after[sum.kills % deaths.after.length] ?? 1;
    for (const victim of deaths.victims) await stand.raise(victim);
  });
  const { effects, unknown } = assertEffectsOnce(stand, entries, file);
  assert.ok(effects.length >= STEPS - unknown, `${effects.length} effects, ${unknown} unknown`);
  sum.effects += effects.length;
  sum.unknown += unknown;
}

async function survives(t: TestContext, kind: LinkKind): Promise<void> {
  await using stand = await LinkHarness.set(kind);
  const runs = { runs: 0 };
  for (const deaths of DEATHS) {
    const sum: Sum = { kills: 0, effects: 0, unknown: 0, ...runs };
    while (sum.kills < deaths.kills) await ranThrough(stand, deaths, sum);
    t.diagnostic(
      `${kind.name}: ${sum.kills} kills of ${deaths.victims.join(" and ")} in ${sum.runs - runs.runs} runs, ` +
        `${sum.effects} effects, none twice, ${sum.unknown} outcomes unknown`,
    );
    runs.runs = sum.runs;
  }
  await stand.kill("hand");
  await stand.kill("brain");
  const audit = await stand.stage.run("audit", "verify");
  assert.equal(audit.code, 0, audit.stdout + audit.stderr);
}

/** As many links at once as a small machine can bear. */
const AT_ONCE = { concurrency: 2 } as const;

test(
  "F1 F5 F6 G2 G3 G4 G9 over every link a brain and a hand that are killed at any point go on, and no effect comes twice",
  AT_ONCE,
  async (t) => {
    await Promise.all(LINKS.map((kind) => t.test(kind.name, (inner) => survives(inner, kind))));
  },
);
