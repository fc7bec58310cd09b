import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { linkSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import type { JsonObject } from "@vidro/core";
import { approved, judged, perform, SECRET, target } from "./attack.fixture.ts";

/* Attempts to write to a path that no approval named, mostly by replacing folders between the plan and the write. */

/** Deeds that are tried with each tool. */
const TRIES = 40;

/** Swaps a folder, and a file in another folder, for links to the outside and back, as fast as it can. */
const SWAPPER = `
  const { renameSync, rmSync, symlinkSync, writeFileSync } = require("node:fs");
  const { parentPort, workerData: { folder, file, outside } } = require("node:worker_threads");
  parentPort.postMessage("on");
  while (true) {
    renameSync(folder, folder + "-away");
    try {
      symlinkSync(outside, folder);
    } catch {
      // The attacker has just made the folder again.
    }
    while (true) {
      try {
        rmSync(folder, { recursive: true, force: true });
        renameSync(folder + "-away", folder);
        break;
      } catch {
        // And once more.
      }
    }
    symlinkSync(outside + "/secret.txt", file + "-link");
    renameSync(file + "-link", file);
    writeFileSync(file + "-plain", "mine\\n");
    renameSync(file + "-plain", file);
  }
`;

/** Swaps a folder and a file of the workspace for links to the outside, all the time. */
async function startSwapper({ workspace, outside, put }: Awaited<ReturnType<typeof target>>): Promise<Worker> {
  put("folder/secret.txt", "mine here\n");
  put("files/a.txt", "mine\n");
  const workerData = { folder: join(workspace, "folder"), file: join(workspace, "files/a.txt"), outside };
  const swapper = new Worker(SWAPPER, { eval: true, workerData });
  await once(swapper, "message");
  return swapper;
}

const WRITES: readonly (readonly [string, string, JsonObject])[] = [
  ["write_file", "below a folder", { file_path: "folder/secret.txt", content: "evil\n" }],
  ["write_file", "to a file", { file_path: "files/a.txt", content: "mine\n" }],
  ["write_file", "in folders to be made", { file_path: "folder/new/secret.txt", content: "evil\n" }],
  ["edit", "to a file", { file_path: "files/a.txt", old_string: "mine", new_string: "evil" }],
  ["edit", "below a folder", { file_path: "folder/secret.txt", old_string: "e", new_string: "E", replace_all: true }],
  ["file_apply", "below a folder", { path: "folder/mark", patch: "@@ -0,0 +1 @@\n+evil\n" }],
];

for (const [tool, where, input] of WRITES) {
  test(`${tool} ${where} that is swapped for a link all the time never writes outside`, async (t) => {
    const at = await target(t);
    await using swapper = await startSwapper(at);
    assert.ok(swapper.threadId > 0);
    for (let attempts = 0; attempts < TRIES;) {
      const judgement = await at.hand.judge({ id: "act", tool, input, callId: "c" });
      // The ground may move under the judgement itself, and a person who sees that a path leads outside says no.
      if ("code" in judgement || judgement.plan.kind !== "file" || !judgement.plan.inWorkspace) continue;
      attempts += 1;
      await perform(at.hand, tool, input, judgement.hash);
      assert.equal(at.isHarmed(), false);
    }
  });
}

test("a read through a folder that is swapped for a link all the time never shows the outside", async (t) => {
  const at = await target(t);
  await using swapper = await startSwapper(at);
  assert.ok(swapper.threadId > 0);
  const reads: readonly (readonly [string, JsonObject])[] = [
    ["read_file", { file_path: "folder/secret.txt" }],
    ["read_file", { file_path: "files/a.txt" }],
    ["search_text", { pattern: "kept" }],
    ["file_diff", { path: "folder/secret.txt", want: "" }],
  ];
  let shown = 0;
  for (let tried = 0; tried < TRIES; tried += 1) {
    for (const [tool, input] of reads) {
      const { text } = await at.attempt(tool, input);
      assert.ok(!text.includes(SECRET), tool);
      if (text.includes("mine")) shown += 1;
    }
  }
  assert.ok(shown > 0);
});

test("nothing is written unless a person was asked, and then only where they were told", async (t) => {
  const at = await target(t);
  at.put("a.txt", "mine\n");
  symlinkSync(at.outside, join(at.workspace, "folder"));
  symlinkSync(join(at.outside, "mark"), join(at.workspace, "dangling"));
  for (const path of [
    "a.txt",
    "new.txt",
    ".git/hooks/post-checkout",
    "folder/mark",
    "dangling",
    `${at.outside}/mark`,
  ]) {
    const input = { file_path: path, content: "evil\n" };
    assert.deepEqual((await at.attempt("write_file", input)).fault, "APPROVAL_DENIED", path);
    assert.equal(at.isHarmed(), false, path);
    const { plan } = await judged(at.hand, "write_file", input);
    const leadsOut = !["a.txt", "new.txt", ".git/hooks/post-checkout"].includes(path);
    assert.ok(plan.kind === "file" && plan.inWorkspace === !leadsOut, path);
    if (leadsOut) assert.equal(plan.path, join(at.outside, "mark"));
  }
  assert.equal(readFileSync(join(at.workspace, "a.txt"), "utf8"), "mine\n");
  const hook = await judged(at.hand, "write_file", { file_path: ".git/config", content: "" });
  assert.equal(hook.verdict.class, "code-exec");
});

test("an approval to write one text to one path is none for another text or path", async (t) => {
  const at = await target(t);
  const { hash } = await judged(at.hand, "write_file", { file_path: "a.txt", content: "good\n" });
  for (const input of [
    { file_path: "a.txt", content: "evil\n" },
    { file_path: "b.txt", content: "good\n" },
    { file_path: `${at.outside}/mark`, content: "good\n" },
  ])
    assert.equal((await perform(at.hand, "write_file", input, hash)).fault, "PLAN_CHANGED");
  assert.equal(at.isHarmed(), false);
});

test("a second name of a file outside is written under the name in the workspace only", async (t) => {
  const at = await target(t);
  const secret = join(at.outside, "secret.txt");
  for (const [index, [tool, input]] of (
    [
      ["write_file", { content: "evil\n" }],
      ["edit", { old_string: "kept", new_string: "evil" }],
    ] as const
  ).entries()) {
    linkSync(secret, join(at.workspace, `hard${index}`));
    const { fault } = await approved(at.hand, tool, { file_path: `hard${index}`, ...input });
    assert.equal(fault, undefined);
    assert.match(readFileSync(join(at.workspace, `hard${index}`), "utf8"), /evil/);
    assert.equal(at.isHarmed(), false);
  }
});

test("pipes, folders and devices are not written to, nor waited for", async (t) => {
  const at = await target(t);
  execFileSync("mkfifo", [join(at.workspace, "pipe")]);
  mkdirSync(join(at.workspace, "folder"));
  for (const path of ["pipe", "folder", "."])
    assert.equal((await approved(at.hand, "write_file", { file_path: path, content: "x" })).fault, "TOOL_FAILED", path);
  for (const path of ["/dev/null", "/proc/self/comm", "/sys/power/state"])
    assert.equal((await at.attempt("write_file", { file_path: path, content: "x" })).fault, "POLICY_DENIED", path);
});
