import assert from "node:assert/strict";
import { test } from "node:test";
import { REGISTER_LIMITS } from "@vidro/core";
import type { ToolSpec } from "@vidro/core";
import { shareTools } from "./share-tools.ts";

function toolsOf(name: string): readonly ToolSpec[] {
  return [{ name, description: "Does it.", parameters: { type: "object" }, idempotent: true }];
}

test("hands that say the same of themselves share one list of tools", () => {
  const first = shareTools(toolsOf("look"));
  assert.equal(shareTools(toolsOf("look")), first);
  assert.deepEqual(shareTools(toolsOf("listen")), toolsOf("listen"));
});

test("lists that differ in anything are not shared, and no more of them are remembered than the bound", () => {
  const [first] = Array.from({ length: REGISTER_LIMITS.toolLists + 1 }, (_, index) =>
    shareTools(toolsOf(`tool_${index}`)),
  );
  const again = shareTools(toolsOf("tool_0"));
  assert.notEqual(again, first);
  assert.deepEqual(again, first);
});
