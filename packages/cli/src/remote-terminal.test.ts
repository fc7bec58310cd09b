import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";
import { up } from "./daemon.fixture.ts";
import { doneLine, scriptedModel, shellLine } from "./scripted-model.fixture.ts";
import { ended, lines, Stage } from "./stage.fixture.ts";

const CTRL_C = "\u0003";

/** A stage whose model wants one approval, and is done. */
async function askingStage(things: AsyncDisposableStack) {
  const model = things.use(await scriptedModel(shellLine("touch made"), doneLine("all is well")));
  const stage = things.use(await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url }));
  return { stage, made: join(stage.workspace, "made") };
}

test("an approval is asked on every terminal that watches, answered on one, and cleared on the other", async () => {
  await using things = new AsyncDisposableStack();
  const { stage, made } = await askingStage(things);
  things.use(await up(stage));
  const first = stage.terminal("run", "make a file");
  await first.sees("May this be done?");
  await first.sees("y yes");
  const second = stage.terminal("attach", "--last");
  await second.sees("touch made");
  await second.sees("y yes");
  assert.equal(existsSync(made), false);
  second.type("y");
  assert.deepEqual([await first.ends(), await second.ends()], [0, 0]);
  assert.equal(existsSync(made), true);
  assert.match(first.seen, /\n\nall is well\n\n {2}2 steps/);
  assert.match(second.seen, /\n\nall is well\n\n {2}2 steps/);
});

test("a watcher without a terminal does not answer in place of one with a terminal", async () => {
  await using things = new AsyncDisposableStack();
  const { stage, made } = await askingStage(things);
  things.use(await up(stage));
  const first = stage.terminal("run", "make a file");
  await first.sees("y yes");
  const second = stage.start("attach", "--last", "--json");
  const watched = ended(second);
  await once(second.stderr, "data");
  first.type("y");
  assert.equal(await first.ends(), 0);
  const { code, stdout, stderr } = await watched;
  assert.equal(code, 0);
  assert.match(stderr, /waits for an answer/);
  assert.equal(lines(stdout).at(-1)?.["data"], "all is well");
  assert.equal(existsSync(made), true);
});

test("a terminal that was taken away comes back to its question by attach, and Ctrl-C there leaves the run open", async () => {
  await using things = new AsyncDisposableStack();
  const { stage, made } = await askingStage(things);
  things.use(await up(stage));
  const first = stage.terminal("run", "make a file");
  await first.sees("y yes");
  await first.hangUp();
  const [head] = lines((await stage.run("runs", "list", "--json")).stdout);
  const second = stage.terminal("attach", "--last", "--after", String(head?.["seq"]));
  await second.sees("touch made");
  await second.sees("y yes");
  second.type(CTRL_C);
  assert.equal(await second.ends(), 130);
  assert.match(second.seen, /the run is left open/);
  const third = stage.terminal("attach", "--last");
  await third.sees("y yes");
  third.type("y");
  assert.equal(await third.ends(), 0);
  assert.equal(existsSync(made), true);
});

test("a run that another process drives is only looked on at through the daemon, until that process dies", async () => {
  await using things = new AsyncDisposableStack();
  const { stage, made } = await askingStage(things);
  const driver = stage.terminal("run", "make a file");
  await driver.sees("y yes");
  things.use(await up(stage));
  const second = stage.terminal("attach", "--last");
  await second.sees("Another process drives this run");
  await driver.hangUp();
  await second.sees("y yes");
  second.type("y");
  assert.equal(await second.ends(), 0);
  assert.equal(existsSync(made), true);
});

test("a brain that is lost is said while the run is watched, and that it is back", async () => {
  await using things = new AsyncDisposableStack();
  const { stage } = await askingStage(things);
  const daemon = await up(stage);
  const terminal = stage.terminal("run", "make a file");
  await terminal.sees(`brain: the daemon at ${daemon.url}`);
  await terminal.sees("y yes");
  await daemon.kill();
  await terminal.sees(`the brain at ${daemon.url} does not answer since `);
  await terminal.sees(", waiting");
  things.use(await up(stage, daemon.port));
  await terminal.sees("is back");
  terminal.type("y");
  assert.equal(await terminal.ends(), 0);
});
