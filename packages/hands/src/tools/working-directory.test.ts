import assert from "node:assert/strict";
import { test } from "node:test";
import type { FactsPlan } from "@vidro/core";
import { scratch, workOf } from "./files.fixture.ts";
import { workingDirectory } from "./working-directory.ts";

void test("the working directory is the workspace", async (t) => {
  const { bench } = scratch(t);
  const plan: FactsPlan = await workingDirectory.plan({}, bench);
  assert.deepEqual(plan, { kind: "facts", facts: "working_directory" });
  const work = workOf({ kind: "file", operation: "read", path: "/", inWorkspace: false }, bench);
  const outcome = await workingDirectory.run({}, { ...work, plan });
  assert.deepEqual(outcome, { kind: "value", text: bench.workspace, data: { path: bench.workspace } });
});
