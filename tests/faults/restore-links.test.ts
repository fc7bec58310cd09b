import assert from "node:assert/strict";
import { cpSync, existsSync, globSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { Entry, JsonObject } from "@vidro/core";
import { until } from "../support/daemon-process.ts";
import { wholeBody } from "../../packages/cli/src/stage.fixture.ts";
import { LINKS, LinkHarness, taskOf } from "../support/link-harness.ts";
import type { LinkKind } from "../support/link-harness.ts";
import { Peer } from "../support/peer-process.ts";
import { SHORT_REDIALS_FLAGS } from "../support/preload-flags.ts";
import { temporaryFolder } from "../support/local-runs.ts";

/*
 * A brain that is put back to an earlier state while its hand, on another machine, has gone on: the hand has done what
 * the brain does not know of, and nothing of it is done again before a person says so.
 */

/** Leaves its mark, and ends when the file `hold` is gone. */
const MARK = 'echo "$2" >> "$1"; while [ -e hold ]; do sleep 0.05; done; echo done\n';
const FILE = "r0";
const DONE = ["1", "2", "3"];

function marksOf(stand: LinkHarness): readonly string[] {
  const file = join(stand.host.workspace, FILE);
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}

async function entriesOf(stand: LinkHarness, run: string): Promise<readonly Entry[]> {
  const database = new DatabaseSync(join(stand.stage.home, "journal.db"), { readOnly: true });
  const sql = "SELECT seq, at, body FROM entry JOIN run ON entry.run = run.number WHERE run.id = ? ORDER BY seq";
  const rows = database.prepare(sql).all(run);
  const entries = rows.map(({ seq, at, body }) => ({
    seq: Number(seq),
    at: Number(at),
    event: JSON.parse(wholeBody(database, body)),
  }));
  database.close();
  return entries;
}

/** Waits until the last thing that happened in a run is of that type, and gives it. */
async function comesTo(stand: LinkHarness, run: string, type: Entry["event"]["type"]): Promise<JsonObject> {
  let event: Entry["event"] | undefined;
  await until(`the run has come to ${type}`, async () => {
    event = (await entriesOf(stand, run)).at(-1)?.event;
    return event?.type === type;
  });
  return event as unknown as JsonObject;
}

async function answers(stand: LinkHarness, run: string, answer: string): Promise<void> {
  const { id, about } = await comesTo(stand, run, "question.asked");
  assert.equal((about as JsonObject)["kind"], "restored");
  const { status } = await stand.ask(`/v1/runs/${run}/answers`, { question: id ?? "", answer });
  assert.equal(status, 200);
}

async function statesOf(stand: LinkHarness): Promise<readonly unknown[]> {
  const { hands } = (await (await stand.ask("/v1/hands")).json()) as { hands: readonly JsonObject[] };
  return hands.map(({ state }) => state);
}

/** A run whose first step is under way; `finish` lets it come to its end. */
async function begun(t: TestContext, kind: LinkKind) {
  const stand = await LinkHarness.set(kind);
  t.after(() => stand[Symbol.asyncDispose]());
  const hold = join(stand.host.workspace, "hold");
  writeFileSync(join(stand.host.workspace, "mark"), MARK);
  writeFileSync(hold, "");
  const run = await kind.begin(stand, taskOf(FILE, DONE.length));
  await until("the first step is under way", () => marksOf(stand).length === 1);
  const finish = async (): Promise<void> => {
    rmSync(hold);
    await comesTo(stand, run, "run.finished");
    assert.deepEqual(marksOf(stand), DONE);
  };
  return { stand, run, finish };
}

for (const kind of LINKS)
  test(`F33 G3 G11 over ${kind.name} a brain that is put back to a backup repeats nothing, and asks`, async (t) => {
    const { stand, run, finish } = await begun(t, kind);
    const store = join(stand.stage.home, "journal.db");
    const database = new DatabaseSync(store);
    database.exec(`VACUUM INTO '${store}.backup'`);
    database.close();
    await finish();
    await stand.kill("brain");
    for (const file of globSync(`${store}-{wal,shm}`)) rmSync(file);
    writeFileSync(store, readFileSync(`${store}.backup`));
    await stand.raise("brain");
    await comesTo(stand, run, "question.asked");
    if (kind.name !== "executor-ws")
      await until("the hand, which stayed up, is back", async () => (await statesOf(stand)).includes("ok"));
    await answers(stand, run, "stop");
    const { fault } = await comesTo(stand, run, "run.failed");
    assert.equal((fault as JsonObject)["code"], "STORE_RESTORED");
    assert.deepEqual(marksOf(stand), DONE);
  });

/** Puts every file of a folder back in place, so that nothing in the folder tells that it was put back. */
function putBack(folder: string, from: string): void {
  for (const file of globSync("**/*", { cwd: folder }))
    if (!existsSync(join(from, file))) rmSync(join(folder, file), { recursive: true, force: true });
  for (const file of globSync("**/*", { cwd: from }))
    if (statSync(join(from, file)).isFile()) writeFileSync(join(folder, file), readFileSync(join(from, file)));
}

/** Starts the brain and says that its state came back. */
async function raiseRestored(stand: LinkHarness): Promise<void> {
  const { http, south } = stand.ports;
  const flags = ["--port", `${http}`, "--southbound-port", `${south}`, "--no-local-hand", "--restored"];
  const [program = "", ...rest] = stand.stage.command.argv;
  const argv = [program, ...SHORT_REDIALS_FLAGS, ...rest, "up", "--json", ...flags];
  stand.brain = await Peer.start({ argv, cwd: stand.stage.workspace, env: stand.stage.command.env });
}

for (const kind of LINKS.filter(({ name }) => name === "agent-ws" || name === "agent-http"))
  test(`F33 G8 G11 over ${kind.name} a hand obeys no older state of its brain until a person has said that it came back`, async (t) => {
    const { stand, run, finish } = await begun(t, kind);
    const before = join(temporaryFolder(t), "before");
    await stand.kill("brain");
    cpSync(stand.stage.home, before, { recursive: true });
    await stand.raise("brain");
    await finish();
    await stand.kill("brain");
    putBack(stand.stage.home, before);
    const { hand } = stand;
    await stand.raise("brain");
    await until("the hand has ended", () => hand?.isAlive === false);
    assert.equal(hand?.child.exitCode, 6, "with a conflict");
    await assert.rejects(stand.raise("hand"), /STALE_EPOCH.*--restored/su, "and so does each one after it");
    assert.deepEqual(marksOf(stand), DONE);
    await stand.kill("brain");
    await raiseRestored(stand);
    await stand.raise("hand");
    await answers(stand, run, "continue");
    await comesTo(stand, run, "run.finished");
    // The first step has its outcome in the ledger; the other two are done again, as a person wanted.
    assert.deepEqual(marksOf(stand), [...DONE, "2", "3"]);
  });
