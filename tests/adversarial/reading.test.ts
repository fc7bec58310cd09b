import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { JsonObject } from "@vidro/core";
import { approved, judged, SECRET, STATE_SECRET, target } from "./attack.fixture.ts";
import type { Attempt, Target } from "./attack.fixture.ts";

/*
 * Ways to read what lies outside of the workspace (the class of CVE-2025-53109 and CVE-2025-53110): a project may come
 * with symlinks of any kind, and names may begin like the workspace's.
 */

/** A workspace with every sort of link that a project may bring along. */
async function linked(t: Parameters<typeof target>[0]): Promise<Target> {
  const made = await target(t);
  const { workspace, outside, state, put } = made;
  const link = (to: string, name: string): void => symlinkSync(to, join(workspace, name));
  put("a.txt", "in the workspace\n");
  mkdirSync(join(workspace, "one"));
  mkdirSync(join(workspace, "two"));
  link("a.txt", "inner");
  link(join(outside, "secret.txt"), "file");
  link(outside, "folder");
  link("../work-outside/secret.txt", "relative");
  link("file", "chain");
  link("folder/../vidro/token", "up");
  link(join(state, "token"), "token");
  link(state, "state");
  link("/etc/shadow", "shadow");
  link("/proc/self/root", "root");
  link("/proc/self/environ", "environ");
  link("/dev/zero", "zero");
  link(join(outside, "secret.txt"), "one/x");
  put("two/x", "");
  linkSync(join(state, "token"), join(workspace, "hard"));
  return made;
}

/** Paths to secrets; each is tried with every command and tool that reads. */
const WAYS = `
  file folder/secret.txt relative chain up token state/token shadow hard environ ./file one/../file one//x
  folder/./secret.txt folder/../vidro/token inner/../../vidro/token {outside}/secret.txt
  {workspace}-outside/secret.txt {workspace}/../vidro/token {state}/token root{outside}/secret.txt
  root{state}/token /proc/self/root{state}/token /proc/self/cwd/file /proc/self/environ /proc/1/environ
  /etc/shadow /etc//shadow /etc/ssl/../shadow //etc/shadow`
  .trim()
  .split(/\s+/);

const filled = (word: string, { outside, workspace, state }: Target): string =>
  word.replaceAll("{outside}", outside).replaceAll("{workspace}", workspace).replaceAll("{state}", state);

function assertKept({ text }: Attempt, what: string): void {
  assert.ok(!text.includes(SECRET) && !text.includes(STATE_SECRET), `${what} gave a secret away`);
  assert.ok(!/root:[*!$x]:|PATH=\//.test(text), `${what} gave a password or an environment away`);
}

const READERS =
  "cat|head -c 99|tail -n 9|wc -c|sort|uniq|cut -c 1-99|grep -a .|grep -ra .|sha256sum|file -b|find|ls|stat|du -a";

for (const reader of READERS.split("|")) {
  test(`${reader} shows nothing from outside, whatever way the path takes`, async (t) => {
    const at = await linked(t);
    for (const way of WAYS) {
      const argv = [...reader.split(" "), filled(way, at)];
      const attempt = await at.run(...argv);
      assertKept(attempt, argv.join(" "));
      const showsContent = !/^(ls|stat|du)/.test(reader);
      if (showsContent) assert.notEqual(attempt.decision, "allow", argv.join(" "));
    }
  });
}

test("diff follows no link to a secret, in neither of the folders that it compares", async (t) => {
  const at = await linked(t);
  for (const argv of ["diff one two", "diff -rN one two", "diff file a.txt", "cmp a.txt file", "diff state two"])
    assertKept(await at.run(...argv.split(" ")), argv);
});

test("no command lists a folder of secrets by running in it", async (t) => {
  const at = await linked(t);
  for (const command of ["ls", "du", "find", "tree", "git"])
    for (const cwd of ["state", at.state, "root/etc/ssl/private"]) {
      const { text } = await at.attempt("command", { command, args: command === "git" ? ["status"] : [], cwd });
      assert.doesNotMatch(text, /token|ledger/, `${command} in ${cwd}`);
    }
});

test("links within the workspace, and links of the host, work as ever", async (t) => {
  const at = await linked(t);
  assert.deepEqual(await at.run("cat", "inner"), { decision: "allow", fault: undefined, text: "in the workspace\n" });
  for (const path of ["/etc/os-release", "/proc/mounts", "/proc/cpuinfo"])
    assert.equal((await at.run("head", "-1", path)).decision, "allow", path);
  assert.equal((await at.attempt("read_file", { file_path: "/etc/os-release" })).decision, "allow");
  assert.equal((await at.run("cat", "missing.txt")).decision, "allow");
});

const TOOLS: readonly (readonly [string, (path: string) => JsonObject])[] = [
  ["read_file", (path) => ({ file_path: path })],
  ["read_folder", (path) => ({ dir_path: path })],
  ["search_text", (path) => ({ pattern: "e", path })],
  ["find_files", (path) => ({ pattern: "**", path })],
  ["file_diff", (path) => ({ path, want: "x" })],
  ["edit", (path) => ({ file_path: path, old_string: "kept", new_string: "lost" })],
  ["file_apply", (path) => ({ path, patch: "@@ -1 +1 @@\n-x\n+y\n" })],
];

for (const [tool, input] of TOOLS) {
  test(`${tool} shows nothing from outside, whatever way the path takes`, async (t) => {
    const at = await linked(t);
    for (const way of WAYS) {
      const path = filled(way, at);
      assertKept(await at.attempt(tool, input(path)), `${tool} ${path}`);
      assert.equal(at.isHarmed(), false, `${tool} ${path}`);
    }
  });

  test(`${tool} never touches the hand's own state or the kernel's files, approved or not`, async (t) => {
    const at = await linked(t);
    const ways = ["token", "state/token", "hard", "up", "{state}/token", "root{state}/token", "/proc/self/environ"];
    for (const way of [
      ...ways,
      "environ",
      "zero",
      "/dev/zero",
      "/sys/kernel/uevent_helper",
      "/proc/self/root/etc/hosts",
    ]) {
      const { decision, fault } = await at.attempt(tool, input(filled(way, at)));
      assert.deepEqual([decision, fault], ["refused", "POLICY_DENIED"], `${tool} ${way}`);
    }
  });
}

test("a person who is asked about a link sees where it leads", async (t) => {
  const at = await linked(t);
  for (const way of ["file", "chain", "folder/secret.txt"]) {
    const { plan, verdict } = await judged(at.hand, "read_file", { file_path: way });
    assert.equal(verdict.decision, "ask");
    assert.ok(plan.kind === "file" && plan.path === join(at.outside, "secret.txt") && !plan.inWorkspace, way);
  }
});

test("a search finds nothing in files that policy keeps, where it may search and where a person let it", async (t) => {
  const at = await linked(t);
  const open = await at.attempt("search_text", { pattern: "root:", path: "/etc" });
  assert.equal(open.decision, "allow");
  assert.match(open.text, /passwd:1:root:x/);
  assert.doesNotMatch(open.text, /shadow-?:\d/);
  assertKept(await at.attempt("search_text", { pattern: "kept" }), "a search of the workspace");
  const wide = await approved(at.hand, "find_files", { pattern: "*shadow*", path: "/etc" });
  assert.doesNotMatch(wide.text, /etc\/g?shadow/);
  const above = await approved(at.hand, "search_text", { pattern: "kept-", path: join(at.workspace, "..") });
  assert.match(above.text, new RegExp(SECRET), "what a person let be searched is searched");
  assert.ok(!above.text.includes(STATE_SECRET));
});

test("pipes and devices hold nothing up", async (t) => {
  const at = await linked(t);
  execFileSync("mkfifo", [join(at.workspace, "pipe")]);
  const from = performance.now();
  for (const [tool, input] of TOOLS) await approved(at.hand, tool, input("pipe")).catch(() => undefined);
  for (const argv of ["cat zero", "head -c 9 /dev/zero", "wc /dev/zero", "sort zero", "file -b zero"])
    assert.notEqual((await at.run(...argv.split(" "))).decision, "allow", argv);
  const held = await at.attempt("command", { command: "cat", args: ["pipe"], timeout_ms: 200 });
  assert.match(held.text, /timed out/);
  assert.ok(performance.now() - from < 10_000);
});

test("names that are too long, empty, or hold a NUL are refused by every tool", async (t) => {
  const at = await linked(t);
  for (const [tool, input] of TOOLS)
    for (const path of [
      "",
      "a\0b",
      "x".repeat(5000),
      `${"a/".repeat(2500)}x`,
      "../vidro/token",
      "a/../../vidro/token",
    ]) {
      const { fault } = await at.attempt(tool, input(path));
      assert.equal(fault, "BAD_ARGUMENTS", `${tool} ${path.slice(0, 20)}`);
    }
});
