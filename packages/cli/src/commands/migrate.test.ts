import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import { startPostgres } from "../../../../tests/support/postgres-server.ts";
import { up } from "../daemon.fixture.ts";
import { lines, Stage } from "../stage.fixture.ts";

const server = await startPostgres();
after(() => server.close());

/** Every line of every run, oldest run first, as `vidro runs export` writes it. */
async function exported(stage: Stage): Promise<readonly string[]> {
  const heads = lines((await stage.run("runs", "list", "--json")).stdout);
  const texts: string[] = [];
  for (const head of heads.toReversed()) texts.push((await stage.run("runs", "export", String(head["run_id"]))).stdout);
  return texts;
}

test("a home goes to PostgreSQL with every run, token and chain as it was, also when the copy is made twice", async () => {
  await using stage = await Stage.set();
  for (const task of ["how much disk is free?", "what time is it?"]) await stage.run("run", task);
  const token = lines((await stage.run("tokens", "create", "--json")).stdout)[0];
  for (const title of ["Older", "Newer"]) await stage.run("kb", "add", title, "kept");
  const before = await exported(stage);
  assert.equal(before.length, 2);
  const store = server.storeUrl("whole");
  for (const _ of [1, 2]) {
    const { code, stderr, stdout } = await stage.run("migrate", "--store", store, "--json");
    assert.equal(code, 0, stderr);
    assert.deepEqual([lines(stdout)[0]?.["runs"], lines(stdout)[0]?.["open"]], [2, 0]);
  }
  await using moved = await stageOn(stage, store);
  assert.deepEqual(await exported(moved), before);
  const audit = await moved.run("audit", "verify");
  assert.equal(audit.code, 0, audit.stdout + audit.stderr);
  assert.ok((await moved.run("tokens", "list", "--json")).stdout.includes(String(token?.["token_id"])));
  const known = lines((await moved.run("kb", "list", "--json")).stdout);
  assert.deepEqual(
    known.map(({ title }) => title),
    ["Newer", "Older"],
  );
  assert.equal((await moved.run("run", "how much disk is free?")).code, 0, "it goes on there");
  assert.equal((await exported(moved)).length, 3);
});

test("a broken run, a running daemon and a missing address are refused by name", async () => {
  await using stage = await Stage.set();
  await stage.run("run", "how much disk is free?");
  const none = await stage.run("migrate");
  assert.deepEqual([none.code, /VIDRO_STORE/.test(none.stderr)], [2, true], none.stderr);
  {
    await using _ = await up(stage);
    const busy = await stage.run("migrate", "--store", server.storeUrl("busy"));
    assert.match(busy.stderr, /is the daemon of this home/);
  }
  {
    using database = new DatabaseSync(join(stage.home, "journal.db"));
    database.exec("UPDATE entry SET body = replace(body, 'disk', 'tape') WHERE seq = 1");
  }
  const broken = await stage.run("migrate", "--store", server.storeUrl("broken"));
  assert.notEqual(broken.code, 0);
  assert.match(broken.stderr, /is broken at entry 1/);
});

/** The same home, whose store is the database. */
async function stageOn(stage: Stage, store: string): Promise<Stage> {
  return Stage.set({ VIDRO_HOME: stage.home, VIDRO_STORE: store });
}
