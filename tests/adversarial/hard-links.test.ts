import assert from "node:assert/strict";
import { linkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { approved, judged, SECRET, target } from "./attack.fixture.ts";

test("a hard link to a file outside is not in the workspace, and one within it is", async (t) => {
  const at = await target(t);
  at.put("a.txt", "in the workspace\n");
  linkSync(join(at.workspace, "a.txt"), join(at.workspace, "b.txt"));
  linkSync(join(at.outside, "secret.txt"), join(at.workspace, "hard"));
  assert.match((await at.attempt("read_file", { file_path: "b.txt" })).text, /in the workspace/);
  for (const [tool, input] of [
    ["read_file", { file_path: "hard" }],
    ["file_diff", { path: "hard", want: "" }],
    ["search_text", { pattern: "kept", path: "hard" }],
  ] as const)
    assert.equal((await at.attempt(tool, input)).decision, "ask", tool);
  const { plan } = await judged(at.hand, "read_file", { file_path: "hard" });
  assert.ok(plan.kind === "file" && !plan.inWorkspace);
  const { text } = await at.attempt("search_text", { pattern: "kept-" });
  assert.ok(!text.includes(SECRET), "a search met it on its way");
  assert.match((await approved(at.hand, "read_file", { file_path: "hard" })).text, new RegExp(SECRET));
});
