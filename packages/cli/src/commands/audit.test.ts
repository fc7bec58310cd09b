import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { openBrain } from "@vidro/brain";
import { readConfig } from "@vidro/brain/config";
import { TERMINAL_LIMITS } from "@vidro/core";
import { entry, startedEvent } from "../../../brain/src/stores/journal.fixture.ts";
import { lines, Stage, wholeBody } from "../stage.fixture.ts";

const TASK = "how much disk is free?";

/** Makes a home with such runs, each a copy of one that was carried out, and such tokens; an audit finds nothing amiss. */
async function sealedHome(
  stage: Stage,
  runs: number,
  { tokens = [], entriesEach = 100 }: { readonly tokens?: readonly string[]; readonly entriesEach?: number } = {},
): Promise<string[]> {
  const model = String(lines((await stage.run("run", "--json", TASK)).stdout)[0]?.["run_id"]);
  const brain = await openBrain({ home: stage.home, config: readConfig({ env: {} }) });
  const entries = await brain.journal.read(model, 0, entriesEach);
  const holder = { host: "test", boot: "", pid: process.pid, started: "" };
  const ids = Array.from({ length: runs }, (_, at) => `run_${at}`);
  await Promise.all(ids.map((id) => brain.journal.create({ id, owner: "me", thread: "t" }, entries, holder)));
  for (const id of tokens) await brain.records.put({ kind: "token", id, owner: "me", body: { scopes: ["runs"] } });
  await brain.close();
  const sum = lines((await stage.run("audit", "verify", "--json")).stdout).at(-1);
  assert.deepEqual(
    [sum?.["ok"], sum?.["runs"], sum?.["altered"], sum?.["unsealed_entries"], sum?.["unsealed_records"]],
    [true, runs + 1, 0, 0, 0],
  );
  return ids;
}

/** Writes the entries of a run anew from one on, so that its hash chain is whole again. */
function rewrite(database: DatabaseSync, run: string, from: string, to: string): void {
  const number = database.prepare("SELECT number FROM run WHERE id = ?").get(run)?.["number"] ?? 0;
  let previous = "";
  for (const row of database.prepare("SELECT seq, at, body FROM entry WHERE run = ? ORDER BY seq").all(number)) {
    const body = wholeBody(database, row["body"]).replaceAll(from, to);
    previous = hash("sha256", `${previous}\n${run}\n${String(row["seq"])}\n${String(row["at"])}\n${body}`, "hex");
    database
      .prepare("UPDATE entry SET body = ?, hash = unhex(?) WHERE run = ? AND seq = ?")
      .run(body, previous, number, row["seq"] ?? 0);
  }
}

const NUMBER = "(SELECT number FROM run WHERE id = ?)";

test("an audit finds a run that was deleted, cut off, written anew or given to another, and what comes later does not hide it", async () => {
  await using stage = await Stage.set();
  const [deleted = "", cut = "", rewritten = "", stolen = "", whole = ""] = await sealedHome(stage, 5);
  {
    using database = new DatabaseSync(join(stage.home, "journal.db"));
    database.prepare(`DELETE FROM entry WHERE run = ${NUMBER}`).run(deleted);
    database.prepare("DELETE FROM run WHERE id = ?").run(deleted);
    database.prepare(`DELETE FROM entry WHERE run = ${NUMBER} AND seq > 2`).run(cut);
    database.prepare("UPDATE run SET status = 'running' WHERE id = ?").run(cut);
    rewrite(database, rewritten, "disk", "tape");
    database.prepare("UPDATE run SET owner = 'eve' WHERE id = ?").run(stolen);
  }
  for (const when of ["at once", "later"]) {
    const { code, stdout } = await stage.run("audit", "verify");
    assert.equal(code, 1, when);
    assert.match(stdout, new RegExp(`^altered run ${deleted} is missing, which seal \\d+ has$`, "m"));
    assert.match(stdout, new RegExp(`^altered run ${cut} ends before entry \\d+, which seal \\d+ has$`, "m"));
    assert.match(stdout, new RegExp(`^altered run ${rewritten} was written anew: `, "m"));
    assert.match(stdout, new RegExp(`^altered run ${stolen} has another owner`, "m"));
    assert.doesNotMatch(stdout, new RegExp(`altered run ${whole}|broken`));
    assert.match(stdout, /^fail \d runs checked, 4 things not as sealed\.$/m);
    if (when === "at once") assert.equal((await stage.run("run", "--json", TASK)).code, 0);
  }
});

test("runs that were pruned are no finding, and another deleted run still is", async () => {
  await using stage = await Stage.set();
  const brain = await openBrain({ home: stage.home, config: readConfig({ env: {} }) });
  const old = [entry(1, startedEvent(TASK)), entry(2, { type: "run.aborted", reason: "done" })];
  const holder = { host: "test", boot: "", pid: process.pid, started: "" };
  for (const id of ["old_0", "old_1"]) await brain.journal.create({ id, owner: "me", thread: "t" }, old, holder);
  await brain.close();
  const kept = String(lines((await stage.run("run", "--json", TASK)).stdout)[0]?.["run_id"]);
  const said = async (...flags: readonly string[]): Promise<string> =>
    (await stage.run("runs", "prune", "--older-than", "30", ...flags)).stderr;
  assert.match(await said("--dry-run"), /2 ended runs older than 30 days\./);
  assert.match(await said("--export", join(stage.workspace, "out")), /2 ended runs older than 30 days deleted\./);
  const { code, stdout } = await stage.run("audit", "verify");
  assert.equal(code, 0, stdout);
  {
    using database = new DatabaseSync(join(stage.home, "journal.db"));
    database.prepare(`DELETE FROM entry WHERE run = ${NUMBER}`).run(kept);
    database.prepare("DELETE FROM run WHERE id = ?").run(kept);
  }
  assert.match((await stage.run("audit", "verify")).stdout, new RegExp(`altered run ${kept} is missing`));
});

test("an audit finds a token that was widened, deleted or put in", async () => {
  await using stage = await Stage.set();
  await sealedHome(stage, 1, { tokens: ["widened", "deleted", "kept"] });
  {
    using database = new DatabaseSync(join(stage.home, "journal.db"));
    database.exec("UPDATE record SET body = replace(body, '[', '[\"admin\",') WHERE id = 'widened'");
    database.exec("DELETE FROM record WHERE id = 'deleted'");
    database.exec(`INSERT INTO record (kind, id, owner, body, version, created, updated)
      SELECT kind, 'put-in', owner, body, version, created, updated FROM record WHERE id = 'kept'`);
  }
  const { code, stdout } = await stage.run("audit", "verify");
  assert.equal(code, 1);
  assert.deepEqual(
    stdout.split("\n").filter((line) => line.startsWith("altered")),
    [
      "altered record token widened is not what was sealed",
      "altered record token put-in was added behind the seals",
      "altered record token deleted is missing, which a seal has",
    ],
  );
});

test("an audit finds seals that were changed or cut off, a key that is missing, and a store that is", async () => {
  await using stage = await Stage.set();
  await sealedHome(stage, 1);
  const harm = (sql: string): void => {
    using database = new DatabaseSync(join(stage.home, "journal.db"));
    database.exec(sql);
  };
  const finds = async (finding: RegExp): Promise<void> => {
    const { code, stdout } = await stage.run("audit", "verify");
    assert.equal(code, 1);
    assert.match(stdout, finding);
  };
  harm("DELETE FROM seal WHERE number = (SELECT max(number) FROM seal)");
  const cutOff = /^altered seal \d+ is missing or another one: the store was rolled back, replaced or cut off$/m;
  await finds(cutOff);
  assert.equal((await stage.run("run", "--json", TASK)).code, 0);
  await finds(cutOff);
  harm("UPDATE seal SET body = replace(body, '\"seq\":', '\"seq\":1') WHERE number = 1");
  await finds(/^altered seal 1 is not signed with the key of this home/m);
  rmSync(join(stage.home, "audit-key"));
  await finds(/^altered seal 2 is not signed with the key of this home/m);
  for (const end of ["", "-wal", "-shm"]) rmSync(join(stage.home, `journal.db${end}`), { force: true });
  await finds(cutOff);
});

test("an audit says what it covers and what it cannot show, and checks every run however many there are", async () => {
  await using stage = await Stage.set();
  const runs = TERMINAL_LIMITS.auditedRuns + 3;
  await sealedHome(stage, runs, { entriesEach: 1 });
  const { code, stdout } = await stage.run("audit", "verify");
  assert.equal(code, 0, stdout);
  assert.match(stdout, new RegExp(`^ok ${runs + 1} runs checked, every hash chain is whole`));
  assert.match(
    stdout,
    /^\d+ seals?, the last of \S+, key SHA-256 [0-9a-f]{64}; 0 links and 0 records newer than the last\.$/m,
  );
  assert.match(stdout, /^Not shown: changes by a person who has the key of this home/m);
});
