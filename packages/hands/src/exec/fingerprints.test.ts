import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { HAND_LIMITS } from "@vidro/core";
import { scratch } from "../scratch.fixture.ts";
import { findProgram, fingerprintCommand, fingerprintLine, isSetIdProgram } from "./fingerprints.ts";
import { findImpliedRuns, runsGivenFiles } from "./implied-files.ts";

/** A folder with these files. */
function filesIn(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = scratch(t);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** The fingerprinted files of a line, relative to the folder. */
async function seen(line: string, folder: string): Promise<string[]> {
  const { digests } = await fingerprintLine(line, folder);
  return Object.keys(digests)
    .map((path) => path.replace(`${folder}/`, ""))
    .toSorted((a, b) => a.localeCompare(b));
}

test("a program is found in PATH order, executable files only, with links resolved", (t) => {
  const folder = filesIn(t, { "a/tool": "data", "b/tool": "#!/bin/sh", "c/tool": "#!/bin/sh" });
  chmodSync(join(folder, "b/tool"), 0o755);
  chmodSync(join(folder, "c/tool"), 0o755);
  mkdirSync(join(folder, "d"));
  symlinkSync(join(folder, "b/tool"), join(folder, "d/link"));
  const path = [
    join(folder, "a"),
    "",
    join(folder, "none"),
    join(folder, "b"),
    join(folder, "c"),
    join(folder, "d"),
  ].join(":");
  assert.equal(findProgram("tool", folder, path), join(folder, "b/tool"));
  assert.equal(findProgram("link", folder, path), join(folder, "b/tool"));
  assert.equal(findProgram("./b/tool", folder, path), join(folder, "b/tool"));
  assert.equal(findProgram("../c/tool", join(folder, "b"), ""), join(folder, "c/tool"));
  for (const word of ["missing", "./a/tool", "./a", "", "tool\0"])
    assert.throws(() => findProgram(word, folder, path), { code: "BAD_ARGUMENTS" }, JSON.stringify(word));
});

test("a name without a slash is never looked for in the working folder", (t) => {
  const folder = filesIn(t, { ls: "#!/bin/sh" });
  chmodSync(join(folder, "ls"), 0o755);
  assert.throws(() => findProgram("ls", folder, ""), { code: "BAD_ARGUMENTS" });
  assert.throws(() => findProgram("ls", folder, ":"), { code: "BAD_ARGUMENTS" });
});

test("programs with a set-id bit are recognised; a missing one has none", (t) => {
  const folder = filesIn(t, { plain: "", user: "", group: "" });
  chmodSync(join(folder, "user"), 0o4755);
  chmodSync(join(folder, "group"), 0o2755);
  assert.deepEqual(
    ["plain", "user", "group", "none"].map((name) => isSetIdProgram(join(folder, name))),
    [false, true, true, false],
  );
});

test("a changed script has another fingerprint, which is the sha256 of its text", async (t) => {
  const folder = filesIn(t, { "run.sh": "#!/bin/sh\necho 1\n" });
  const first = await fingerprintLine("sh run.sh", folder);
  assert.deepEqual(first.digests, {
    [join(folder, "run.sh")]: createHash("sha256").update("#!/bin/sh\necho 1\n").digest("hex"),
  });
  writeFileSync(join(folder, "run.sh"), "#!/bin/sh\necho 2\n");
  assert.notDeepEqual((await fingerprintLine("sh run.sh", folder)).digests, first.digests);
});

test("the words of a line are found behind every separator, option and quote", async (t) => {
  const folder = filesIn(t, { "a.sh": "x" });
  for (const line of [
    "sh a.sh",
    "sh<a.sh",
    "sh;bash a.sh",
    "X=1 sh './a.sh'",
    'sh "a.sh"',
    "sh $(a.sh)",
    "sh --rcfile=a.sh",
    "sh `a.sh`",
    "sh\ta.sh&",
  ])
    assert.deepEqual(await seen(line, folder), ["a.sh"], line);
});

test("data that is only read is no script; a script or an executable file is", async (t) => {
  const folder = filesIn(t, { "data.txt": "words", "tool.sh": "#!/bin/sh", bin: "ELF" });
  chmodSync(join(folder, "bin"), 0o755);
  assert.deepEqual(await seen("cat data.txt", folder), []);
  assert.deepEqual(await seen("cat data.txt tool.sh bin", folder), ["bin", "tool.sh"]);
});

test("a command's operands count when they are scripts, and all of them when it is an interpreter", async (t) => {
  const folder = filesIn(t, { "data.txt": "words", "tool.sh": "#!/bin/sh" });
  const argv = ["x", "data.txt", "tool.sh"];
  const plain = await fingerprintCommand("/usr/bin/cat", argv, folder);
  assert.deepEqual(Object.keys(plain.digests), [join(folder, "tool.sh")]);
  const interpreted = await fingerprintCommand("/usr/bin/python3", ["python3", ...argv.slice(1)], folder);
  assert.deepEqual(Object.keys(interpreted.digests), [join(folder, "data.txt"), join(folder, "tool.sh")]);
  assert.ok(interpreted.unseen?.includes("python3"));
});

test("a program of the system is not fingerprinted, one in the workspace is", async (t) => {
  const folder = filesIn(t, { tool: "x" });
  chmodSync(join(folder, "tool"), 0o755);
  assert.deepEqual((await fingerprintCommand("/usr/bin/ls", ["ls"], folder)).digests, {});
  assert.deepEqual(Object.keys((await fingerprintCommand(join(folder, "tool"), ["./tool"], folder)).digests), [
    join(folder, "tool"),
  ]);
});

test("pipes, devices and the kernel's files are not opened", async (t) => {
  const folder = filesIn(t, {});
  process.getBuiltinModule("node:child_process").execFileSync("mkfifo", [join(folder, "pipe")]);
  symlinkSync("/proc/self/status", join(folder, "status"));
  assert.deepEqual(await seen("sh pipe /dev/zero /dev/stdin status /proc/self/environ .", folder), []);
});

test("a file over the bound is known by its identity, so that a change is still seen", async (t) => {
  const folder = filesIn(t, { big: "#!" });
  const file = join(folder, "big");
  truncateSync(file, HAND_LIMITS.fileBytes + 1);
  const first = await fingerprintLine("sh big", folder);
  assert.deepEqual(await fingerprintLine("sh big", folder), first);
  truncateSync(file, HAND_LIMITS.fileBytes + 2);
  assert.notDeepEqual(await fingerprintLine("sh big", folder), first);
});

test("make and its kin run files that the line does not name, also in a named folder", async (t) => {
  const folder = filesIn(t, { Makefile: "all:", "sub/makefile": "all:", justfile: "a:" });
  assert.deepEqual(await seen("make all", folder), ["Makefile"]);
  assert.deepEqual(await seen("make -C sub", folder), ["Makefile", "sub/makefile"]);
  assert.deepEqual(await seen("make -Csub", folder), ["Makefile", "sub/makefile"]);
  assert.deepEqual(await seen("echo make", folder), ["Makefile"], "words are not parsed: rather one file too many");
  assert.ok((await fingerprintLine("make", folder)).unseen?.includes("make"));
});

test("npm scripts are followed, with their hooks, short names and the scripts that they run", async (t) => {
  const scripts = { pretest: "sh pre.sh", test: "npm run deep", deep: "node deep.js", other: "sh other.sh" };
  const files = { "pre.sh": "x", "deep.js": "x", "other.sh": "x" };
  const folder = filesIn(t, { ...files, "package.json": JSON.stringify({ scripts }), "src/x": "" });
  for (const line of ["npm test", "npm t", "yarn test", "npm run test"])
    assert.deepEqual(await seen(line, folder), ["deep.js", "package.json", "pre.sh"], line);
  const below = Object.keys((await fingerprintLine("npm test", join(folder, "src"))).digests);
  assert.ok(below.includes(join(folder, "pre.sh")), "the package of a folder above is found");
  assert.deepEqual(
    await seen(
      "npm install",
      filesIn(t, { "package.json": JSON.stringify({ scripts: { postinstall: "sh a" } }), a: "" }),
    ),
    ["a", "package.json"],
  );
});

test("scripts that run each other, or very many, are followed in bounded time", async (t) => {
  const names = Array.from({ length: 300 }, (_, index) => `s${index}`);
  const scripts = Object.fromEntries(names.map((name) => [name, `npm run ${names.join(" ")}`]));
  const folder = filesIn(t, { "package.json": JSON.stringify({ scripts }) });
  const before = performance.now();
  const { unseen } = await fingerprintLine("npm run s0", folder);
  assert.ok(performance.now() - before < 20_000, "three hundred to the power of four would take days");
  assert.ok(unseen?.includes("npm"), "what was not followed is said to be unseen");
});

test("a package.json that is broken, huge or has odd scripts is no failure", async (t) => {
  for (const text of ["", "{", "[]", '{"scripts":5}', '{"scripts":{"test":5}}', '{"scripts":{"__proto__":"sh x"}}'])
    assert.deepEqual(await seen("npm test", filesIn(t, { "package.json": text })), ["package.json"], text);
  const { lines } = findImpliedRuns(
    ["npm", "constructor", "toString"],
    filesIn(t, { "package.json": '{"scripts":{}}' }),
  );
  assert.deepEqual(lines, []);
});

test("a Python module is found by its name, with the packages around it", async (t) => {
  const folder = filesIn(t, { "a/__init__.py": "", "a/b.py": "", "a/c/__main__.py": "", "x.py": "" });
  assert.deepEqual(await seen("python -m a.b", folder), ["a/__init__.py", "a/b.py"]);
  assert.deepEqual(await seen("python3.12 -ma.c", folder), ["a/__init__.py", "a/c/__main__.py"]);
  assert.deepEqual(await seen("python -m ../x", folder), []);
});

test("programs that run what they are given are known by name and version", () => {
  for (const name of ["sh", "bash", "python3.12", "psql", "make", "source", "."]) assert.ok(runsGivenFiles(name), name);
  for (const name of ["ls", "cat", "grep", "constructor", "toString"]) assert.ok(!runsGivenFiles(name), name);
});

test("words that no file can have are passed over", async (t) => {
  const folder = filesIn(t, {});
  assert.deepEqual(await seen(`sh ${"x".repeat(300)} ${"y/".repeat(3000)} a\0b`, folder), []);
});
