import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { doneLine, scriptedModel, shellLine } from "../scripted-model.fixture.ts";
import { lines, Stage } from "../stage.fixture.ts";

test("a run whose workspace is gone is refused by name, stays open, and goes on when it is back", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  await using model = await scriptedModel(shellLine("true", "read"), promise);
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  const project = join(stage.workspace, "project");
  await mkdir(project);
  const driver = stage.start("run", "--json", "--yes", "--workspace", project, "wait for it");
  for await (const line of createInterface({ input: driver.stdout })) {
    if (lines(line)[0]?.["event"] === "action.finished") break;
  }
  driver.kill("SIGKILL");
  await once(driver, "exit");
  await rm(project, { recursive: true });
  const gone = await stage.run("attach", "--last", "--json");
  assert.equal(gone.code, 3);
  assert.match(gone.stderr, new RegExp(`The workspace ${project} is no folder that can be entered: bring it back`));
  assert.doesNotMatch(gone.stderr, /trace|ENOENT/);
  assert.equal(lines((await stage.run("runs", "list", "--open", "--json")).stdout).length, 1);
  await mkdir(project);
  resolve(doneLine("at last"));
  const back = await stage.run("attach", "--last", "--json");
  assert.equal(back.code, 0);
  assert.equal(lines(back.stdout).at(-1)?.["data"], "at last");
});
