import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { doneLine, scriptedModel, shellLine } from "./scripted-model.fixture.ts";
import { lines, Stage } from "./stage.fixture.ts";

/** The replies of a run that has one helper, which writes a file. */
const REPLIES = [
  JSON.stringify({ action: "use_tool", name: "delegate", args: { task: "write the file" } }),
  shellLine("echo hi > made"),
  doneLine("it is written"),
  doneLine("all is well"),
];

test("a question of a helper is asked where its parent is watched, and both are seen as a tree", async () => {
  await using model = await scriptedModel(...REPLIES);
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  const terminal = stage.terminal("run", "have it done");
  await terminal.sees("asks:");
  await terminal.sees("May this be done?");
  await terminal.sees("shell     echo hi > made");
  await terminal.sees("y yes");
  terminal.type("y");
  await terminal.sees("✓ delegate write the file");
  assert.equal(await terminal.ends(), 0);
  assert.match(terminal.seen, /helper [0-9a-f]{8} asks:[^]*\n\nall is well\n/);
  assert.equal(await readFile(join(stage.workspace, "made"), "utf8"), "hi\n");

  const listed = lines((await stage.run("runs", "list", "--json")).stdout);
  const parent = listed.find(({ task }) => task === "have it done")?.["run_id"];
  assert.equal(listed.find(({ task }) => task === "write the file")?.["parent_run_id"], parent);
  assert.match((await stage.run("runs", "list")).stdout, /└ write the file\n/);
  const shown = await stage.run("runs", "show", String(parent));
  assert.match(shown.stdout, /\n└ [0-9a-f]{8} {2}finished {2}write the file\n$/);
});

test("without a person a helper is told that none could be asked, as its parent would be", async () => {
  await using model = await scriptedModel(...REPLIES);
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  const { code, stdout } = await stage.run("run", "--json", "have it done");
  assert.equal(code, 0);
  assert.ok(!existsSync(join(stage.workspace, "made")));
  const parent = lines(stdout).map(({ run_id }) => run_id)[0];
  assert.deepEqual(new Set(lines(stdout).map(({ run_id }) => run_id)), new Set([parent]));
  assert.match(model.calls[2] ?? "", /no person could be asked/);
});
