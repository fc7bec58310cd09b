import assert from "node:assert/strict";
import { cpSync, existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { assertEffectsOnce, followRun } from "../support/follow-run.ts";
import { until } from "../support/daemon-process.ts";
import { LINKS, LinkHarness, taskOf } from "../support/link-harness.ts";
import type { LinkKind } from "../support/link-harness.ts";
import { temporaryFolder } from "../support/local-runs.ts";

/*
 * A hand that comes back with another ledger than the one that knows what it did: over each of the links there are, it
 * is killed after the effect of an action and before anybody has heard of it, and its ledger does not know the action.
 */

/** Leaves its mark, and says nothing more while the file `hold` is there. */
const MARK = 'echo "$2" >> "$1"; while [ -e hold ]; do sleep 0.05; done; echo done\n';
const FILE = "r0";
const STEPS = 3;

/** Where the hand is, what it was before the action, and its ledger. */
interface Place {
  readonly home: string;
  readonly before: string;
  /** Path of the ledger in either. */
  readonly ledger: string;
}

/** What may become of a ledger while its hand is down. */
const LOSSES: { readonly [loss: string]: (place: Place) => void } = {
  deleted({ home, ledger }) {
    for (const file of globSync(`${join(home, ledger)}*`)) rmSync(file);
  },
  "rolled back in place"({ home, before, ledger }) {
    rmSync(`${join(home, ledger)}-shm`, { force: true });
    // Written over, so that the file is still the same one.
    for (const file of [ledger, `${ledger}-wal`]) writeFileSync(join(home, file), readFileSync(join(before, file)));
  },
  "copied with the whole state"({ home, before }) {
    renameSync(home, `${home}.former`);
    cpSync(before, home, { recursive: true });
  },
};

async function loses(t: TestContext, kind: LinkKind, lose: (place: Place) => void): Promise<void> {
  await using stand = await LinkHarness.set(kind);
  const { home, workspace } = stand.host;
  const hold = join(workspace, "hold");
  writeFileSync(join(workspace, "mark"), MARK);
  writeFileSync(hold, "");
  const run = await kind.begin(stand, taskOf(FILE, STEPS));
  const over = followRun(stand, run);
  const stopAfter = async (step: string): Promise<void> => {
    const marks = join(workspace, FILE);
    await until(`step ${step} is done`, () => existsSync(marks) && readFileSync(marks, "utf8").endsWith(`${step}\n`));
    await stand.kill("hand");
  };
  await stopAfter("1");
  const before = join(temporaryFolder(t), "before");
  cpSync(home, before, { recursive: true });
  await stand.raise("hand");
  await stopAfter("2");
  rmSync(hold);
  const [ledger = ""] = globSync("**/ledger.db", { cwd: home });
  lose({ home, before, ledger });
  await stand.raise("hand");
  const entries = await over;
  const { effects } = assertEffectsOnce(stand, entries, FILE);
  assert.deepEqual(effects, ["1", "2", "3"]);
  const unknown = entries.flatMap(({ event }) => (event.type === "action.unknown" ? [event.fault] : []));
  assert.deepEqual(
    unknown.map(({ code }) => code),
    ["OUTCOME_UNKNOWN", "OUTCOME_UNKNOWN"],
  );
  assert.match(unknown[1]?.message ?? "", /not the one that judged/u);
}

for (const kind of LINKS)
  for (const [loss, lose] of Object.entries(LOSSES))
    test(`F32 G3 G11 over ${kind.name} a hand whose ledger was ${loss} repeats no effect, and says that it is unknown`, (t) =>
      loses(t, kind, lose));
