import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { up } from "../daemon.fixture.ts";
import { lines, Stage } from "../stage.fixture.ts";

/** Puts the last time of every schedule back, as if the daemon had been down since. */
function putBack(stage: Stage, ms: number): void {
  using database = new DatabaseSync(join(stage.home, "journal.db"));
  database
    .prepare(
      "UPDATE record SET body = json_set(body, '$.doneUpTo', json_extract(body, '$.doneUpTo') - ?) WHERE kind = 'schedule'",
    )
    .run(ms);
}

async function runTasks(stage: Stage): Promise<readonly unknown[]> {
  return lines((await stage.run("runs", "list", "--json")).stdout).map((line) => line["task"]);
}

test("a schedule that was due while the daemon was killed has one run, also when it is killed again at once", async () => {
  await using stage = await Stage.set();
  {
    await using daemon = await up(stage);
    const added = await stage.run("schedules", "add", "0 0 1 1 *", "what time is it?");
    assert.equal(added.code, 0, added.stderr);
    assert.match(added.stdout, /^schedule_/);
    assert.match(added.stderr, /It is due first at \d{4}-01-01 00:00:00\./);
    await daemon.kill();
  }
  putBack(stage, 2 * 366 * 24 * 3_600_000);
  for (let kill = 0; kill < 3; kill += 1) {
    await using daemon = await up(stage);
    while ((await runTasks(stage)).length === 0) await new Promise(setImmediate);
    await daemon.kill();
  }
  await using _ = await up(stage);
  assert.deepEqual(await runTasks(stage), ["what time is it?"]);
  const [row] = lines((await stage.run("schedules", "list", "--json")).stdout);
  assert.match(String(row?.["lastRun"]), /^run_/);
});

test("schedules are listed and removed by the end of their id, and what is wrong is named", async () => {
  await using stage = await Stage.set();
  const none = await stage.run("schedules", "list");
  assert.deepEqual([none.code, /only a daemon starts runs by a schedule/.test(none.stderr)], [7, true], none.stderr);
  await using _ = await up(stage);
  const wrong = await stage.run("schedules", "add", "61 * * * *", "look");
  assert.deepEqual([wrong.code, /minute of a schedule/.test(wrong.stderr)], [2, true], wrong.stderr);
  const nowhere = await stage.run("schedules", "add", "@daily", "look", "--on", "nope");
  assert.notEqual(nowhere.code, 0);
  const id = (await stage.run("schedules", "add", "@daily", "look around")).stdout.trim();
  const listed = await stage.run("schedules", "list");
  assert.match(listed.stdout, new RegExp(`${id.slice(-8)}  @daily .*look around`));
  assert.equal((await stage.run("schedules", "remove", id.slice(-8))).code, 0);
  assert.equal((await stage.run("schedules", "remove", id.slice(-8))).code, 3);
  assert.match((await stage.run("schedules", "list")).stderr, /There is no schedule/);
});
