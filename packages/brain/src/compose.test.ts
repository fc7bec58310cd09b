import assert from "node:assert/strict";
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openBrain } from "./compose.ts";

test("a workspace that is gone is told by name, and is good again once it is back", async (t) => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "vidro-brain-")));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const brain = await openBrain({ home: join(folder, "state"), env: {}, store: "memory" });
  t.after(() => brain.close());
  const workspace = join(folder, "project");
  await assert.rejects(brain.hand(workspace), { code: "NOT_FOUND", message: new RegExp(workspace) });
  await mkdir(workspace);
  assert.equal((await brain.hand(workspace)).workspace, workspace);
});
