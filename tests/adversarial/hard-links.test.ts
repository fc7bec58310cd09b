import assert from "node:assert/strict";
import { chmodSync, linkSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { approved, judged, SECRET, target } from "./attack.fixture.ts";
import { startAttackedHand } from "./attacked-hand.fixture.ts";

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

test("a program that goes through folders, and a line for the shell, do not read a hard link that they meet", async (t) => {
  const at = await target(t, { inSight: true });
  at.put("a.txt", "kept-open\n");
  at.put("deep/er/b.txt", "kept-open too\n");
  linkSync(join(at.workspace, "a.txt"), join(at.workspace, "deep/a2.txt"));
  linkSync(join(at.outside, "secret.txt"), join(at.workspace, "deep/er/hard"));
  for (const argv of [
    ["grep", "-r", "kept-", "."],
    ["grep", "-rs", "kept-", join(at.workspace, "deep")],
    ["rg", "-uuu", "kept-", "."],
    ["diff", "-r", "deep", "."],
  ]) {
    const { decision, text } = await at.run(...argv);
    assert.ok(!text.includes(SECRET), `${argv.join(" ")} was ${decision}: ${text}`);
    if (argv[0] === "grep") assert.match(text, /a2\.txt:kept-open[^]*b\.txt:kept-open too|b\.txt[^]*a2\.txt/);
  }
  for (const access of ["read", "workspace"]) {
    const input = { command: "cat deep/er/*; find . -type f -exec cat {} +; cp deep/er/hard x; cat x", access };
    const { text } = await (
      access === "read" ? at.attempt : (...of: Parameters<typeof at.attempt>) => approved(at.hand, ...of)
    )("shell", input);
    assert.ok(!text.includes(SECRET), text);
    assert.match(text, /kept-open too/);
  }
});

test("files that come of a store of packages are read, and those among them that are closed to others are not", async (t) => {
  const at = await target(t, { inSight: true });
  mkdirSync(join(at.workspace, "node_modules"));
  for (let index = 0; index < 300; index += 1) {
    const file = join(at.outside, `store${index}`);
    writeFileSync(file, `kept-package ${index}\n`);
    linkSync(file, join(at.workspace, "node_modules", `file${index}`));
  }
  chmodSync(join(at.outside, "secret.txt"), 0o600);
  linkSync(join(at.outside, "secret.txt"), join(at.workspace, "node_modules", "hard"));
  const { decision, text } = await at.attempt("shell", {
    command: "cat node_modules/* | sort | uniq -c",
    access: "read",
  });
  assert.equal(decision, "allow");
  assert.match(text, /kept-package 299/);
  assert.ok(!text.includes(SECRET));
});

test("another name in the workspace of a file there that policy calls secret is as secret", async (t) => {
  const hand = await startAttackedHand(t, { isHomeWorkspace: true });
  mkdirSync(join(hand.workspace, ".ssh"));
  mkdirSync(join(hand.workspace, "a"));
  const key = join(hand.workspace, ".ssh/id_rsa");
  writeFileSync(key, `${SECRET}\n`);
  writeFileSync(join(hand.workspace, "a/open"), "kept-open\n");
  linkSync(key, join(hand.workspace, "a/link"));
  linkSync(join(hand.workspace, "a/open"), join(hand.workspace, "open"));
  for (const [tool, input] of [
    ["read_file", { file_path: key }],
    ["read_file", { file_path: "a/link" }],
    ["search_text", { pattern: "kept-", path: "a" }],
    ["command", { command: "cat", args: ["a/link"] }],
    ["command", { command: "grep", args: ["-r", "kept-", "a"] }],
    ["shell", { command: "cat a/link; cat a/*; find . -type f -exec cat {} +", access: "read" }],
  ] as const) {
    const { text, decision } = await hand.attempt(tool, input);
    assert.doesNotMatch(text, new RegExp(SECRET), `${JSON.stringify(input)} was ${decision}`);
  }
  const { decision } = await hand.approve("write_file", { file_path: "a/link", content: "x" });
  assert.notEqual(decision, "allow");
  assert.match((await hand.attempt("read_file", { file_path: "open" })).text, /kept-open/);
  assert.match((await hand.attempt("shell", { command: "cat a/open", access: "read" })).text, /kept-open/);
});
