import assert from "node:assert/strict";
import { test } from "node:test";
import type { FactsPlan } from "@vidro/core";
import { scratch, executionOf } from "./files.fixture.ts";
import { workingDirectoryTool } from "./working-directory.ts";

void test("the working directory is the workspace", async (t) => {
  const { context } = scratch(t);
  const plan: FactsPlan = await workingDirectoryTool.plan({}, context);
  assert.deepEqual(plan, { kind: "facts", facts: "working_directory" });
  const execution = executionOf({ kind: "file", operation: "read", path: "/", inWorkspace: false }, context);
  const outcome = await workingDirectoryTool.run({}, { ...execution, plan });
  assert.deepEqual(outcome, { kind: "value", text: context.workspace, data: { path: context.workspace } });
});
