import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { Fault, MODEL_LIMITS } from "@vidro/core";
import { readConfig } from "../config.ts";
import { KeySource, keySourceOf } from "./key-source.ts";

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "vidro-key-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function sourceOf(settings: { readonly [name: string]: string }): KeySource {
  const source = keySourceOf(readConfig({ env: settings }));
  assert.ok(source);
  return source;
}

/** The words of a MODEL_KEY_MISSING. */
async function missing(reading: Promise<unknown>): Promise<string> {
  const thrown: unknown = await reading.then(
    () => assert.fail("there was a key"),
    (reason: unknown) => reason,
  );
  assert.ok(thrown instanceof Fault, String(thrown));
  assert.equal(thrown.code, "MODEL_KEY_MISSING");
  return thrown.message;
}

void test("a key in a file is read without the white space around it, at its first use and not before", async (t) => {
  const file = join(folder(t), "key");
  const source = sourceOf({ VIDRO_MODEL_KEY_FILE: file });
  assert.deepEqual(source.keys, []);
  writeFileSync(file, "  sk-one\n\n");
  assert.equal(await source.current(), "sk-one");
  writeFileSync(file, "sk-two");
  assert.equal(await source.current(), "sk-one", "a key that works is kept");
  assert.deepEqual(source.keys, ["sk-one"]);
});

void test("a key that is refused is read anew, and both stay known as secrets", async (t) => {
  const file = join(folder(t), "key");
  writeFileSync(file, "sk-one");
  const source = sourceOf({ VIDRO_MODEL_KEY_FILE: file });
  await source.current();
  assert.equal(await source.renew("sk-one"), false, "the file still has the same");
  writeFileSync(file, "sk-two");
  assert.equal(await source.renew("sk-one"), true);
  assert.equal(await source.current(), "sk-two");
  assert.deepEqual(source.keys, ["sk-one", "sk-two"]);
});

void test("runs that were refused together with one key read it again once", async () => {
  let reads = 0;
  const source = new KeySource("The test", () => Promise.resolve(`sk-${++reads}`));
  assert.equal(await source.current(), "sk-1");
  assert.deepEqual(await Promise.all([source.renew("sk-1"), source.current()]), [true, "sk-1"]);
  assert.equal(reads, 2);
  assert.deepEqual(await Promise.all([source.renew("sk-1"), source.renew("sk-1")]), [true, true]);
  assert.equal(reads, 2, "they have a newer key already");
});

void test("a failure to read is not kept: the next use reads again", async (t) => {
  const file = join(folder(t), "key");
  const source = sourceOf({ VIDRO_MODEL_KEY_FILE: file });
  assert.match(await missing(source.current()), /^The key file cannot be read: ENOENT/);
  writeFileSync(file, " \n\t\n");
  assert.match(await missing(source.current()), /gave no key: nothing is there\.$/);
  assert.deepEqual(source.keys, []);
  writeFileSync(file, "sk-late");
  assert.equal(await source.current(), "sk-late");
});

void test("known keys are bounded, and the newest stay", async () => {
  let reads = 0;
  const source = new KeySource("The test", () => Promise.resolve(`sk-${++reads}`));
  for (let at = 0; at < MODEL_LIMITS.readKeys + 5; at += 1) await source.renew(await source.current());
  assert.equal(source.keys.length, MODEL_LIMITS.readKeys);
  assert.equal(source.keys.at(-1), await source.current());
  assert.ok(!source.keys.includes("sk-1"));
});

void test("a pipe, a folder and a file beyond the bound are refused as key files and never waited for", async (t) => {
  const place = folder(t);
  const [pipe, below, large] = [join(place, "pipe"), join(place, "below"), join(place, "large")];
  mkdirSync(below);
  writeFileSync(large, "k".repeat(MODEL_LIMITS.keyBytes + 1));
  const refused = [below, large, "/dev/zero"];
  if (process.platform !== "win32") {
    execFileSync("mkfifo", [pipe]);
    refused.push(pipe);
  }
  for (const file of refused)
    assert.match(await missing(sourceOf({ VIDRO_MODEL_KEY_FILE: file }).current()), /must be a file of at most 65536/);
  writeFileSync(large, "k".repeat(MODEL_LIMITS.keyBytes));
  assert.equal((await sourceOf({ VIDRO_MODEL_KEY_FILE: large }).current()).length, MODEL_LIMITS.keyBytes);
});

void test("a command of the operator prints the key; a shell reads its line", async (t) => {
  const place = folder(t);
  writeFileSync(join(place, "k"), "sk-printed");
  const source = sourceOf({ VIDRO_MODEL_KEY_COMMAND: `cat '${place}/k' | tr a-z A-Z; echo` });
  assert.equal(await source.current(), "SK-PRINTED");
  assert.equal(source.words, "The command of model_key_command");
});

void test("a command that fails tells how it ended and the end of its complaint, and nothing of its output", async (t) => {
  const script = join(folder(t), "fails.sh");
  writeFileSync(script, `#!/bin/sh\necho sk-half\nprintf '%0400d' 0 >&2\necho locked >&2\nexit 7\n`);
  chmodSync(script, 0o700);
  const words = await missing(sourceOf({ VIDRO_MODEL_KEY_COMMAND: script }).current());
  assert.match(words, /^The command of model_key_command ended with 7: 0+locked$/);
  assert.ok(words.length < MODEL_LIMITS.keyErrorChars + 60, words);
  assert.ok(!words.includes("sk-half"));
  assert.match(await missing(sourceOf({ VIDRO_MODEL_KEY_COMMAND: "exit 3" }).current()), /ended with 3$/);
  assert.match(await missing(sourceOf({ VIDRO_MODEL_KEY_COMMAND: "true" }).current()), /nothing is there/);
});

void test("a configuration has one source, and none where a key is set or nothing names one", () => {
  const config = readConfig({ env: { VIDRO_MODEL_KEY_FILE: "/nowhere/key" } });
  assert.equal(keySourceOf(config), keySourceOf(config));
  assert.equal(keySourceOf(readConfig({ env: {} })), undefined);
  assert.equal(
    keySourceOf(readConfig({ env: { VIDRO_MODEL_KEY: "sk", VIDRO_MODEL_KEY_FILE: "/nowhere/key" } })),
    undefined,
  );
});
