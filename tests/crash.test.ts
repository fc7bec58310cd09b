import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import type { Entry, Journal } from "@vidro/core";
import { openStore } from "../packages/brain/src/stores/stores.ts";
import { ProcessLife } from "./support/simulated-crash.ts";
import type { CrashPoint } from "./support/simulated-crash.ts";
import { assertOutcomes } from "./support/outcomes.ts";
import { makeWorkspace, readScenario, scriptedModel, transcriptOf } from "./support/scenario.ts";
import type { Scenario } from "./support/scenario.ts";
import { finishRun, openHand, openRuns, temporaryFolder } from "./support/local-runs.ts";

const scenarios = globSync(join(import.meta.dirname, "scenarios", "*.txt")).sort();

/** Plays a scenario through one crash and a second life; gives its journal and the effects that were left. */
async function playThrough(scenario: Scenario, folder: string, point?: CrashPoint): Promise<Played> {
  const workspace = makeWorkspace(scenario, folder);
  const { journal } = await openStore("memory", "");
  const first = new ProcessLife(point);
  const ended = await live(scenario, { folder, workspace, journal, life: first });
  const entries = ended ?? (await live(scenario, { folder, workspace, journal, life: new ProcessLife() }))!;
  const effects = join(workspace, "effects.txt");
  return {
    entries,
    workspace,
    effects: existsSync(effects) ? readFileSync(effects, "utf8").split("\n").filter(Boolean) : [],
    passed: first.passed,
    crashed: ended === undefined,
  };
}

interface Played {
  readonly entries: readonly Entry[];
  readonly workspace: string;
  readonly effects: readonly string[];
  readonly passed: ReadonlyMap<string, number>;
  readonly crashed: boolean;
}

interface World {
  readonly folder: string;
  readonly workspace: string;
  readonly journal: Journal;
  readonly life: ProcessLife;
}

/** One life: begins the run, or goes on with it; undefined when it crashed. */
async function live(scenario: Scenario, { folder, workspace, journal, life }: World): Promise<Entry[] | undefined> {
  const real = await openHand(folder, workspace, { probe: life.probe });
  const runs = openRuns({
    journal: life.journal(journal),
    model: scriptedModel(scenario.replies),
    hand: life.hand(real),
  });
  const lived = (async () => {
    // A person who got no answer asks again under the same key, and gets the same run.
    const { run } = await runs.start({ task: scenario.task, workspace, key: "asked-once" });
    await runs.resume(run.id);
    return finishRun(runs, run.id, scenario.answers);
  })();
  return Promise.race([lived, life.ended.then(() => undefined)]);
}

for (const path of scenarios) {
  test(`F1 F6 G2 G3 ${basename(path, ".txt")} gives one journal and one effect with a crash at every point`, async (t) => {
    const scenario = readScenario(path);
    const calm = await playThrough(scenario, temporaryFolder(t));
    const transcript = transcriptOf(calm.entries, calm.workspace);
    assert.equal(transcript, scenario.transcript);

    for (const point of pointsOf(calm.passed)) {
      const played = await playThrough(scenario, temporaryFolder(t), point);
      const where = JSON.stringify(point);
      assert.ok(played.crashed, `no crash at ${where}`);
      assertGapless(played.entries);
      assertOutcomes(played.entries, where);
      if (played.entries.some(({ event }) => event.type === "action.unknown")) {
        assert.ok(point.at === "hand" && point.point !== "before-started" && point.point !== "after-finished", where);
        assert.deepEqual(new Set(played.effects).size, played.effects.length, `an effect was doubled at ${where}`);
      } else {
        assert.equal(transcriptOf(played.entries, played.workspace), transcript, where);
        assert.deepEqual(played.effects, calm.effects, where);
      }
    }
  });
}

function pointsOf(passed: ReadonlyMap<string, number>): CrashPoint[] {
  const each = (name: string): number[] => Array.from({ length: passed.get(name) ?? 0 }, (_, index) => index + 1);
  const appends = each("append").flatMap((nth) =>
    (["before", "after"] as const).map((when): CrashPoint => ({ at: "append", nth, when })),
  );
  const points = (["before-started", "after-started", "before-finished", "after-finished"] as const).flatMap((point) =>
    each(point).map((nth): CrashPoint => ({ at: "hand", nth, point })),
  );
  return [...appends, ...points];
}

function assertGapless(entries: readonly Entry[]): void {
  assert.deepEqual(
    entries.map((entry) => entry.seq),
    entries.map((_, index) => index + 1),
  );
}
