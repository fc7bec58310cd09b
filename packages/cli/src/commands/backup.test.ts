import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { up } from "../daemon.fixture.ts";
import { startPostgres } from "../../../../tests/support/postgres-server.ts";
import { lines, Stage } from "../stage.fixture.ts";

/** The ids of all runs of a home. */
async function runIds(stage: Stage): Promise<readonly unknown[]> {
  const { stdout } = await stage.run("runs", "list", "--json");
  return lines(stdout).map((line) => line["run_id"]);
}

async function post(url: string, home: string, body: object): Promise<Response> {
  const authorization = `Bearer ${readFileSync(join(home, "token"), "utf8").trim()}`;
  const headers = { authorization, "content-type": "application/json" };
  return fetch(`${url}/v1/runs`, { method: "POST", headers, body: JSON.stringify(body) });
}

test("a backup of a daemon at work is restored with every run of its moment, and its chains and seals are sound", async () => {
  await using stage = await Stage.set();
  const folder = join(stage.workspace, "backup");
  {
    await using daemon = await up(stage);
    const { url } = daemon;
    await (await post(url, stage.home, { task: "how much disk is free?" })).json();
    // Runs go on being started while the files are copied.
    const done = new AbortController();
    const started: string[] = [];
    const load = (async () => {
      while (!done.signal.aborted) {
        const answer = await post(url, stage.home, { task: "what time is it?" });
        started.push(((await answer.json()) as { id: string }).id);
      }
    })();
    const { code, stderr } = await stage.run("backup", folder);
    done.abort();
    await load;
    assert.equal(code, 0, stderr);
    assert.match(stderr, /\d+ files of .*They hold keys and tokens/s);
    assert.ok(started.length > 0);
  }
  const names = readdirSync(folder);
  for (const name of ["journal.db", "audit-key", "token", "manifest.json"]) assert.ok(names.includes(name), name);
  assert.ok(!names.some((name) => /^daemon\.|-wal$|-shm$/.test(name)), names.join(" "));
  assert.equal(statSync(join(folder, "token")).mode & 0o077, 0);
  const before = await runIds(stage);
  await rename(stage.home, `${stage.home}.lost`);
  const restored = await stage.run("restore", folder);
  assert.equal(restored.code, 0, restored.stderr);
  const after = await runIds(stage);
  assert.ok(after.length > 0 && after.length <= before.length);
  assert.deepEqual(after, before.slice(-after.length), "the runs up to one moment");
  const audit = await stage.run("audit", "verify");
  assert.equal(audit.code, 0, audit.stdout + audit.stderr);
});

test("a home with state is replaced only when that is asked for, and is kept under another name", async () => {
  await using stage = await Stage.set();
  await stage.run("run", "how much disk is free?");
  const folder = join(stage.workspace, "backup");
  assert.equal((await stage.run("backup", folder)).code, 0);
  const refused = await stage.run("restore", folder);
  assert.deepEqual([refused.code, /--replace/.test(refused.stderr)], [6, true], refused.stderr);
  await stage.run("run", "what time is it?");
  const { code, stdout } = await stage.run("restore", folder, "--replace", "--json");
  assert.equal(code, 0);
  const moved = String(lines(stdout)[0]?.["moved"]);
  assert.ok(existsSync(join(moved, "journal.db")));
  assert.equal((await runIds(stage)).length, 1);
  const again = await stage.run("backup", folder);
  assert.deepEqual([again.code, /has files already/.test(again.stderr)], [6, true], again.stderr);
});

test("a backup that was altered, cut or is none is refused before anything changes", async () => {
  await using stage = await Stage.set();
  await stage.run("run", "how much disk is free?");
  const folder = join(stage.workspace, "backup");
  await stage.run("backup", folder);
  const refuse = async (reason: RegExp): Promise<void> => {
    const { code, stderr } = await stage.run("restore", folder, "--replace");
    assert.ok(code === 2 || code === 3, stderr);
    assert.match(stderr, reason);
    assert.equal((await runIds(stage)).length, 1);
  };
  const manifest = readFileSync(join(folder, "manifest.json"), "utf8");
  writeFileSync(join(folder, "manifest.json"), manifest.replace('"journal.db"', '"../journal.db"'));
  await refuse(/is not a manifest/);
  writeFileSync(join(folder, "manifest.json"), manifest);
  writeFileSync(join(folder, "audit-key"), Buffer.alloc(32));
  await refuse(/audit-key of the backup is not what was copied/);
  await rename(join(folder, "audit-key"), join(folder, "other"));
  await refuse(/audit-key of the backup is missing/);
  await rename(join(folder, "manifest.json"), join(folder, "m"));
  await refuse(/is no backup/);
  const inside = await stage.run("backup", join(stage.home, "b"));
  assert.equal(inside.code, 2, inside.stderr);
});

test("a home whose daemon runs is not replaced", async () => {
  await using stage = await Stage.set();
  await using _ = await up(stage);
  const folder = join(stage.workspace, "backup");
  assert.equal((await stage.run("backup", folder)).code, 0);
  const { code, stderr } = await stage.run("restore", folder, "--replace");
  assert.notEqual(code, 0);
  assert.match(stderr, /is the daemon of this home.*\n.*next: vidro stop/s);
});

test("a store in PostgreSQL is dumped with the home, and loaded into an empty database; an audit says that it has no seals", async () => {
  const server = await startPostgres();
  try {
    await using stage = await Stage.set({ VIDRO_STORE: server.storeUrl("vidro") });
    assert.equal((await stage.run("run", "how much disk is free?")).code, 0);
    const audit = await stage.run("audit", "verify");
    assert.match(audit.stdout, /every hash chain is whole.*\nThis store has no seals\. Not shown: /s);
    assert.equal(lines((await stage.run("audit", "verify", "--json")).stdout).at(-1)?.["sealed"], false);
    const folder = join(stage.workspace, "backup");
    const made = await stage.run("backup", folder);
    assert.equal(made.code, 0, made.stderr);
    const before = await runIds(stage);
    assert.equal(before.length, 1);
    const full = await stage.run("restore", folder, "--replace");
    assert.notEqual(full.code, 0, "the tables are there already");
    assert.match(full.stderr, /pg_restore of PostgreSQL .* failed/);
    await server.query("DROP SCHEMA vidro CASCADE");
    const restored = await stage.run("restore", folder, "--replace");
    assert.equal(restored.code, 0, restored.stderr);
    assert.match(restored.stderr, /vidro up --restored/);
    assert.deepEqual(await runIds(stage), before);
    const { code, stderr } = await stage.run("audit", "verify");
    assert.equal(code, 0, stderr);
  } finally {
    await server.close();
  }
});
