import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { basename, join } from "node:path";
import { after, test } from "node:test";
import { openStore, STORES } from "../packages/brain/src/stores/stores.ts";
import type { StoreName } from "../packages/brain/src/stores/stores.ts";
import { assertOutcomes } from "./support/outcomes.ts";
import { makeWorkspace, readScenario, scriptedModel, transcriptOf, writeScenario } from "./support/scenario.ts";
import { startPostgres } from "./support/postgres-server.ts";
import { finishRun, openHand, openRuns, temporaryFolder } from "./support/local-runs.ts";

const server = await startPostgres();
after(() => server.close());

/** Where a store of that name lies. */
function placeOf(name: StoreName, folder: string): string {
  return name === "postgres"
    ? server.storeUrl(basename(folder).toLowerCase().replaceAll("-", "_"))
    : join(folder, "journal.db");
}

const scenarios = globSync(join(import.meta.dirname, "scenarios", "*.txt")).sort();

for (const path of scenarios) {
  for (const name of Object.keys(STORES) as StoreName[]) {
    test(`${basename(path, ".txt")} on the ${name} store gives its transcript`, async (t) => {
      const scenario = readScenario(path);
      const folder = temporaryFolder(t);
      const workspace = makeWorkspace(scenario, folder);
      const { journal } = await openStore(name, placeOf(name, folder));
      const hand = await openHand(folder, workspace);
      t.after(async () => {
        await hand.close();
        await journal.close();
      });
      const runs = openRuns({ journal, model: scriptedModel(scenario.replies), hand });
      const { run } = await runs.start({ task: scenario.task, workspace });
      const entries = await finishRun(runs, run.id, scenario.answers);
      assertOutcomes(entries);
      const transcript = transcriptOf(entries, workspace);
      if (process.env["UPDATE"] === "1") writeScenario(scenario, transcript);
      else assert.equal(transcript, scenario.transcript);
    });
  }
}
