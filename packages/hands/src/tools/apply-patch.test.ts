import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { outcomeText, type JsonObject } from "@vidro/core";
import { sha256 } from "../files/files.ts";
import { codeOf, endOf, handIn, orderFor, policyOf, scratch } from "../scratch.fixture.ts";

/** A hand with a few files, and what its tools make of orders. */
async function workshop(t: TestContext, files: { readonly [name: string]: string }) {
  const folder = scratch(t);
  const judged: string[] = [];
  const judge: ReturnType<typeof policyOf>["judge"] = (plan) => {
    const paths = plan.kind === "files" ? plan.files : plan.kind === "file" ? [plan] : [];
    judged.push(...paths.map(({ path, inWorkspace }) => `${inWorkspace ? "in" : "out"} ${path}`));
    const isSecret = paths.some(({ operation, path }) => operation === "read" && path.endsWith(".env"));
    const decision = isSecret || !paths.every(({ inWorkspace }) => inWorkspace) ? "deny" : "allow";
    return policyOf(decision).judge(plan);
  };
  const hand = await handIn(t, folder, { policy: { version: "test", judge } });
  const at = (name: string) => join(folder, "workspace", name);
  for (const [name, text] of Object.entries(files)) writeFileSync(at(name), text);
  let count = 0;
  const order = (tool: string, input: JsonObject, id = `act_${(count += 1)}`) =>
    endOf(hand, orderFor({ id, tool, input, callId: "call" }));
  const say = async (tool: string, input: JsonObject, id?: string) => {
    const ended = await order(tool, input, id);
    if (ended.type !== "finished") throw new Error(JSON.stringify(ended.fault));
    return outcomeText(ended.outcome);
  };
  const plan = async (tool: string, input: JsonObject) => {
    const judgement = await hand.judge({ id: "act_j", tool, input, callId: "call" });
    if (!("plan" in judgement) || judgement.plan.kind !== "files") throw new Error(JSON.stringify(judgement));
    return { patch: judgement.plan.patch, hash: judgement.hash };
  };
  return { folder, at, order, say, plan, judged, text: (name: string) => readFileSync(at(name), "utf8") };
}

const THREE = [
  "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n",
  "--- /dev/null\n+++ b/deep/new.txt\n@@ -0,0 +1 @@\n+fresh\n",
  "diff --git a/old.txt b/old.txt\ndeleted file mode 100644\n--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n",
].join("");

test("a patch changes, makes and removes files, and undo of the action puts them back", async (t) => {
  const { at, say, text, judged } = await workshop(t, { "a.txt": "one\ntwo\n", "old.txt": "gone\n" });
  assert.match(
    await say("apply_patch", { patch: THREE }, "act_p"),
    /^Applied the patch to a\.txt, deep\/new\.txt, old\.txt/,
  );
  assert.deepEqual([text("a.txt"), text("deep/new.txt"), existsSync(at("old.txt"))], ["one\nTWO\n", "fresh\n", false]);
  for (const name of ["a.txt", "deep/new.txt", "old.txt"]) assert.ok(judged.includes(`in ${at(name)}`), name);
  assert.equal(await say("apply_patch", { patch: THREE }), "Every file already has this change.");
  assert.match(await say("undo", { action: "act_p" }), /^Put back a\.txt, deep\/new\.txt, old\.txt/);
  assert.deepEqual([text("a.txt"), text("old.txt"), existsSync(at("deep/new.txt"))], ["one\ntwo\n", "gone\n", false]);
  assert.equal(await say("undo", { action: "act_p" }), "The files are as they were already.");
});

test("a patch of which one part does not fit, or whose base is another, changes no file", async (t) => {
  const { at, order, text } = await workshop(t, { "a.txt": "one\ntwo\n", "old.txt": "other\n" });
  const misfit = await order("apply_patch", { patch: THREE });
  assert.equal(codeOf(misfit), "CONFLICT");
  const bases = [{ path: "a.txt", base_sha256: sha256("another") }];
  const [first = ""] = THREE.split("--- /dev/null");
  assert.equal(codeOf(await order("apply_patch", { patch: first, bases })), "CONFLICT");
  assert.deepEqual([text("a.txt"), text("old.txt"), existsSync(at("deep"))], ["one\ntwo\n", "other\n", false]);
  const base = [{ path: "a.txt", base_sha256: sha256("one\ntwo\n") }];
  assert.equal((await order("apply_patch", { patch: first, bases: base })).type, "finished");
  assert.equal(
    codeOf(await order("apply_patch", { patch: first, bases: [{ ...base[0]!, path: "b" }] })),
    "BAD_ARGUMENTS",
  );
});

test("files that were changed before one that cannot be are put back", async (t) => {
  const { at, order, text } = await workshop(t, { "a.txt": "one\ntwo\n", "old.txt": "gone\n", deep: "a file\n" });
  assert.equal(codeOf(await order("apply_patch", { patch: THREE }, "act_f")), "TOOL_FAILED");
  assert.deepEqual([text("a.txt"), text("old.txt"), text("deep")], ["one\ntwo\n", "gone\n", "a file\n"]);
  assert.equal(codeOf(await order("undo", { action: "act_f" })), "NOT_FOUND");
  assert.ok(!existsSync(at("deep/new.txt")));
});

test("a patch that leaves the workspace is refused, whichever of its parts does", async (t) => {
  const { folder, at, order, text } = await workshop(t, { "a.txt": "one\ntwo\n", b: "b\n" });
  mkdirSync(join(folder, "outside"));
  symlinkSync(join(folder, "outside"), at("link"));
  const [inside = ""] = THREE.split("--- /dev/null");
  const astray = [
    "b/../outside/x",
    "b/link/x",
    join(folder, "outside/x"),
    "b/../state/x",
    join(folder, "state/x"),
    "/proc/x",
  ];
  for (const name of astray) {
    const part = `--- /dev/null\n+++ ${name}\n@@ -0,0 +1 @@\n+x\n`;
    const ended = await order("apply_patch", { patch: inside + part });
    assert.notEqual(ended.type, "finished", name);
    assert.equal(text("a.txt"), "one\ntwo\n", name);
    assert.ok(!existsSync(join(folder, "outside/x")) && !existsSync(join(folder, "state/x")), name);
  }
  const more = ["rename from b\nrename to c\n", "old mode 100644\nnew mode 100755\n", "new file mode 120000\n"];
  for (const header of more) {
    const patch = `diff --git a/b b/b\n${header}--- a/b\n+++ b/b\n@@ -1 +1 @@\n-b\n+c\n`;
    assert.equal(codeOf(await order("apply_patch", { patch })), "BAD_ARGUMENTS", header);
  }
  assert.equal(codeOf(await order("apply_patch", { patch: inside + inside })), "BAD_ARGUMENTS");
});

test("the plan of an undo shows what it puts back as a diff, but for files that policy keeps from readers", async (t) => {
  const { at, say, plan } = await workshop(t, { "a.txt": "one\ntwo\n", "old.txt": "gone\n", ".env": "A=1\n" });
  await say("apply_patch", { patch: THREE }, "act_p");
  const undo = { action: "act_p" };
  const before = await plan("undo", undo);
  for (const line of ["-TWO", "+two", "-fresh", "+gone"]) assert.ok(before.patch?.split("\n").includes(line), line);
  await say("write_file", { file_path: ".env", content: "A=2\n" }, "act_s");
  assert.match((await plan("undo", { action: "act_s" })).patch ?? "", /^\[.env is not shown: reading it needs/);
  await say("undo", undo);
  const after = await plan("undo", undo);
  assert.equal(after.patch, undefined);
  assert.equal(after.hash, before.hash, "an undo that is ordered again after a crash has the plan that was approved");
  writeFileSync(at("a.txt"), "by a person\n");
  assert.match((await plan("undo", undo)).patch ?? "", /a.txt is not shown: a.txt was changed otherwise/);
});

test("undo of a run puts back what all file tools changed, and not what was changed otherwise since", async (t) => {
  const { at, order, say, text } = await workshop(t, { "a.txt": "one\ntwo\n", b: "b\n" });
  await say("write_file", { file_path: "a.txt", content: "1\n" });
  await say("edit", { file_path: "a.txt", old_string: "1", new_string: "2" });
  await say("write_file", { file_path: "new", content: "n" });
  await say("file_apply", { path: "b", patch: "--- a/b\n+++ b/b\n@@ -1 +1 @@\n-b\n+c\n" });
  writeFileSync(at("b"), "by a person\n");
  const conflict = await order("undo", { run: "run_1" });
  assert.equal(codeOf(conflict), "CONFLICT");
  assert.deepEqual([text("a.txt"), text("new"), text("b")], ["2\n", "n", "by a person\n"]);
  writeFileSync(at("b"), "c\n");
  assert.match(await say("undo", { run: "run_1" }), /^Put back/);
  assert.deepEqual([text("a.txt"), existsSync(at("new")), text("b")], ["one\ntwo\n", false, "b\n"]);
  assert.equal(codeOf(await order("undo", { run: "run_2" })), "NOT_FOUND");
  assert.equal(codeOf(await order("undo", {})), "BAD_ARGUMENTS");
});
