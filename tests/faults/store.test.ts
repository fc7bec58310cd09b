import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { lines, Stage } from "../../packages/cli/src/stage.fixture.ts";
import type { Ended } from "../../packages/cli/src/stage.fixture.ts";

/* The store misbehaves, and the command says so by name: one line for programs, a sentence and the next step for people. */

function assertNamed(ended: Ended, code: string, exit: number): void {
  assert.equal(lines(ended.stdout).at(-1)?.["code"], code, ended.stderr);
  assert.equal(ended.code, exit);
  assert.match(ended.stderr, /^vidro: .+/m);
  assert.match(ended.stderr, /next: /);
  assert.doesNotMatch(ended.stderr, /\n\s+at /);
}

test("F2 a store that is no database is refused and left as it was", async () => {
  await using stage = await Stage.set();
  mkdirSync(stage.home, { recursive: true });
  writeFileSync(
    join(stage.home, "journal.db"),
    "this is no database, and it is longer than a header of one".repeat(40),
  );
  assertNamed(await stage.run("run", "--json", "uptime"), "STORE_UNREADABLE", 1);
});

test("F2 F26 a store of a newer version is refused with both versions", async () => {
  await using stage = await Stage.set();
  await stage.run("run", "--json", "uptime");
  const file = new DatabaseSync(join(stage.home, "journal.db"));
  file.exec("PRAGMA user_version = 99");
  file.close();
  const ended = await stage.run("run", "--json", "uptime");
  assertNamed(ended, "STORE_NEWER", 1);
  assert.match(ended.stderr, /99/);
});

test("F2 a run whose journal was altered is refused alone: others go on, and audit names the entry", async () => {
  await using stage = await Stage.set();
  const ids = [];
  for (const task of ["uptime", "uptime"])
    ids.push(lines((await stage.run("run", "--json", task)).stdout)[0]?.["run_id"]);
  const file = new DatabaseSync(join(stage.home, "journal.db"));
  file.exec("UPDATE entry SET body = replace(body, 'offline', 'onlinee') WHERE run = 1 AND seq = 3");
  file.close();
  const shown = await stage.run("attach", "--json", String(ids[0]));
  assert.equal(shown.code, 1);
  assert.match(shown.stderr, /altered or damaged|JOURNAL_CORRUPT|audit verify/);
  const other = await stage.run("attach", "--json", String(ids[1]));
  assert.equal(other.code, 0);
  assert.equal((await stage.run("run", "--json", "uptime")).code, 0);
  const audit = await stage.run("audit", "verify");
  assert.equal(audit.code, 1);
  assert.match(audit.stdout + audit.stderr, new RegExp(`${String(ids[0])}[\\s\\S]*3`));
});

test("F3 a full disk stops new work by name, keeps what there is readable, and is forgotten when there is room", async () => {
  await using stage = await Stage.set();
  mkdirSync(stage.home, { recursive: true });
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", stage.home], { encoding: "utf8" });
  assert.equal(mounted.status, 0, `a small disk needs the right to mount: ${mounted.stderr}`);
  try {
    assert.equal((await stage.run("run", "--json", "uptime")).code, 0);
    const filler = join(stage.home, "filler");
    spawnSync("dd", ["if=/dev/zero", `of=${filler}`, "bs=4096"]);
    const refused = await stage.run("run", "--json", "uptime");
    // The hand, which comes first, finds its own ledger on the same full disk.
    assertNamed(refused, "LEDGER_UNWRITABLE", 1);
    assert.equal((await stage.run("runs", "list", "--json")).code, 0);
    assert.equal(lines((await stage.run("attach", "--last", "--json")).stdout).at(-1)?.["event"], "run.finished");
    rmSync(filler);
    assert.equal((await stage.run("run", "--json", "uptime")).code, 0);
  } finally {
    spawnSync("umount", [stage.home]);
  }
});

test("a home that others may write to is told by doctor, and one that cannot be written is a clear fault", async () => {
  await using stage = await Stage.set();
  await stage.run("run", "--json", "uptime");
  chmodSync(stage.home, 0o777);
  const doctor = await stage.run("doctor", "--json");
  assert.match(doctor.stdout, /"(warn|fail)"/);
  assert.ok(existsSync(join(stage.home, "journal.db")));
});

test("F27 a process without descriptors sheds the work by name, and the next one works", async () => {
  await using stage = await Stage.set();
  await stage.run("run", "--json", "uptime");
  const { argv, env } = stage.command;
  const starved = spawnSync("sh", ["-c", 'ulimit -n 24; exec "$0" "$@"', ...argv, "run", "--json", "uptime"], {
    cwd: stage.workspace,
    env,
    encoding: "utf8",
  });
  assert.notEqual(starved.status, 0);
  assert.doesNotMatch(starved.stderr, /\n\s+at .*packages/);
  assert.equal((await stage.run("run", "--json", "uptime")).code, 0);
});
