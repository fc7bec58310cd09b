import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { truncateSync, utimesSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { HAND_LIMITS } from "@vidro/core";
import { Folder, readContent, readContentIfAny, decodeText, writeContent } from "./files.ts";
import { scratch } from "../tools/files.fixture.ts";

const ANY = { expected: "anything", make: false } as const;

void test("what was written is read back, and nothing else is left in the folder", async (t) => {
  const { at, names } = scratch(t);
  await writeContent(at("a"), "one\n", ANY);
  await writeContent(at("a"), "two\n", ANY);
  assert.equal(decodeText(await readContent(at("a")), "a"), "two\n");
  assert.deepEqual(names(), [".state", "a"]);
});

void test("a file keeps its mode, and a new one gets what the umask leaves", async (t) => {
  const { at } = scratch(t, { "run.sh": "" });
  chmodSync(at("run.sh"), 0o750);
  await writeContent(at("run.sh"), "new", ANY);
  await writeContent(at("fresh"), "new", ANY);
  assert.equal(statSync(at("run.sh")).mode & 0o7777, 0o750);
  assert.equal(statSync(at("fresh")).mode & 0o7777, 0o666 & ~process.umask());
});

void test("folders are made on the way only when that is asked for", async (t) => {
  const { at, text } = scratch(t);
  await assert.rejects(writeContent(at("x/y/z"), "", ANY), { code: "TOOL_FAILED" });
  await writeContent(at("x/y/z"), "deep", { ...ANY, make: true });
  assert.equal(text("x/y/z"), "deep");
});

void test("a link on the way or at the end is not followed, and nothing behind it is touched", async (t) => {
  const { at, outside } = scratch(t);
  symlinkSync(outside, at("folder"));
  symlinkSync(join(outside, "secret.txt"), at("file"));
  for (const path of [at("folder/secret.txt"), at("file")]) {
    await assert.rejects(readContent(path), { code: "PLAN_CHANGED" });
    await assert.rejects(writeContent(path, "evil", { ...ANY, make: true }), { code: "PLAN_CHANGED" });
  }
  assert.equal(readFileSync(join(outside, "secret.txt"), "utf8"), "secret");
  assert.deepEqual(readdirSync(outside), ["secret.txt"]);
});

void test("an open folder stays itself when its path is swapped for a link", async (t) => {
  const { at, outside, text } = scratch(t, { "folder/a": "mine" });
  await using folder = await Folder.open(at("folder"));
  renameSync(at("folder"), at("moved"));
  symlinkSync(outside, at("folder"));
  await folder.replace("a", Buffer.from("new"), "anything");
  assert.equal(text("moved/a"), "new");
  assert.deepEqual(readdirSync(outside), ["secret.txt"]);
});

void test("a name that is swapped for a link all the time never leads outside", async (t) => {
  const { at, outside } = scratch(t, { "real/a": "mine" });
  const secret = join(outside, "secret.txt");
  await using swapper = new Worker(SWAPPER, { eval: true, workerData: { real: at("real"), outside, secret } });
  await once(swapper, "message");
  let reads = 0;
  for (let round = 0; round < 300; round += 1) {
    for (const path of [at("real/a"), at("real/secret.txt")]) {
      const content = await readContent(path).catch(() => undefined);
      assert.notEqual(content?.bytes.toString(), "secret");
      if (content !== undefined) reads += 1;
    }
    if (round % 10 === 0) await writeContent(at("real/secret.txt"), "mine", ANY).catch(() => undefined);
  }
  assert.ok(reads > 0);
  assert.equal(readFileSync(secret, "utf8"), "secret");
});

/** Replaces a file, and the folder that holds it, by links to the outside and back, as fast as it can. */
const SWAPPER = `
  const { renameSync, rmSync, symlinkSync, writeFileSync } = require("node:fs");
  const { parentPort, workerData: { real, outside, secret } } = require("node:worker_threads");
  parentPort.postMessage("on");
  while (true) {
    symlinkSync(secret, real + "/link");
    renameSync(real + "/link", real + "/a");
    writeFileSync(real + "/file", "mine");
    renameSync(real + "/file", real + "/a");
    renameSync(real, real + "-away");
    symlinkSync(outside, real);
    rmSync(real);
    renameSync(real + "-away", real);
  }
`;

void test("a pipe, a socket and a folder are no files, and none of them is waited for", async (t) => {
  const { at } = scratch(t);
  execFileSync("mkfifo", [at("pipe")]);
  mkdirSync(at("folder"));
  const server = createServer().listen(at("socket"));
  t.after(() => server.close());
  await once(server, "listening");
  for (const name of ["pipe", "folder", "socket"]) {
    await assert.rejects(readContent(at(name)), { code: "TOOL_FAILED" });
    await assert.rejects(writeContent(at(name), "x", ANY), { code: "TOOL_FAILED" });
  }
  await assert.rejects(readContent("/"), { code: "TOOL_FAILED" });
});

void test("writing to one name of a hard-linked file leaves the other names as they were", async (t) => {
  const { at, outside, text } = scratch(t);
  linkSync(join(outside, "secret.txt"), at("same"));
  await writeContent(at("same"), "mine", ANY);
  assert.equal(text("same"), "mine");
  assert.equal(readFileSync(join(outside, "secret.txt"), "utf8"), "secret");
});

void test("a file beyond the bound is neither read nor written", async (t) => {
  const { at, names } = scratch(t, { big: "" });
  truncateSync(at("big"), HAND_LIMITS.fileBytes + 1);
  await assert.rejects(readContent(at("big")), { code: "PAYLOAD_TOO_LARGE" });
  await assert.rejects(writeContent(at("new"), "x".repeat(HAND_LIMITS.fileBytes + 1), ANY), {
    code: "PAYLOAD_TOO_LARGE",
  });
  assert.deepEqual(names(), [".state", "big"]);
});

void test("a file of exactly the bound is read whole", async (t) => {
  const { at } = scratch(t, { full: "" });
  truncateSync(at("full"), HAND_LIMITS.fileBytes);
  assert.equal((await readContent(at("full"))).bytes.length, HAND_LIMITS.fileBytes);
});

void test("a read-only file is not replaced", async (t) => {
  const { at, text } = scratch(t, { fixed: "old" });
  chmodSync(at("fixed"), 0o444);
  await assert.rejects(writeContent(at("fixed"), "new", ANY), /read-only/);
  assert.equal(text("fixed"), "old");
});

void test("a file that was changed since it was read is not overwritten", async (t) => {
  const { at, text, names } = scratch(t, { a: "old" });
  const { stat } = await readContent(at("a"));
  writeFileSync(at("a"), "theirs");
  await assert.rejects(writeContent(at("a"), "mine", { expected: stat, make: false }), { code: "CONFLICT" });
  await assert.rejects(writeContent(at("a"), "mine", { expected: "nothing", make: false }), { code: "CONFLICT" });
  assert.equal(text("a"), "theirs");
  assert.deepEqual(names(), [".state", "a"]);
});

void test("a file of the same size and time in the place of the one that was read is not overwritten", async (t) => {
  const { at, text } = scratch(t, { a: "old", b: "new" });
  for (const name of ["a", "b"]) utimesSync(at(name), 1, 1);
  const { stat } = await readContent(at("a"));
  renameSync(at("b"), at("a"));
  await assert.rejects(writeContent(at("a"), "mine", { expected: stat, make: false }), { code: "CONFLICT" });
  assert.equal(text("a"), "new");
});

void test("a file rewritten in place with the same size is not overwritten", async (t) => {
  const { at, text } = scratch(t, { a: "old" });
  utimesSync(at("a"), 1, 1);
  const { stat } = await readContent(at("a"));
  writeFileSync(at("a"), "new");
  await assert.rejects(writeContent(at("a"), "mine", { expected: stat, make: false }), { code: "CONFLICT" });
  assert.equal(text("a"), "new");
});

void test("a missing file is told from one that cannot be read", async (t) => {
  const { at } = scratch(t, { a: "" });
  assert.equal(await readContentIfAny(at("no/such/file")), undefined);
  await assert.rejects(readContentIfAny(at("a/b")), { code: "TOOL_FAILED", message: `${at("a")} is not a folder.` });
  await assert.rejects(readContent(at("none")), /There is no .*none; look around/);
});

void test("bytes that are not UTF-8, and a NUL, are no text; a byte order mark stays", async (t) => {
  const { at } = scratch(t, { latin: Buffer.from([0x63, 0xe9]), nul: "a\0b", bom: "\uFEFFa" });
  for (const name of ["latin", "nul"]) {
    const content = await readContent(at(name));
    assert.throws(() => decodeText(content, name), { code: "TOOL_FAILED" });
  }
  assert.equal(decodeText(await readContent(at("bom")), "bom"), "\uFEFFa");
});

void test("walking, reading and writing leave no descriptor open", async (t) => {
  const { at } = scratch(t, { a: "" });
  const before = readdirSync("/proc/self/fd").length;
  for (let round = 0; round < 20; round += 1) {
    await writeContent(at("a"), "x", ANY);
    await readContent(at("a"));
    await assert.rejects(readContent(at("a/b/c")));
    await assert.rejects(writeContent(at("none/c"), "", ANY));
  }
  rmSync(at("a"));
  assert.equal(readdirSync("/proc/self/fd").length, before);
});
