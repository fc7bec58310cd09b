import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { deriveKeys, deriveNextRoot } from "@vidro/core/wire/agent-http";
import { scratch } from "../../scratch.fixture.ts";
import { KeyRing } from "./key-ring.ts";
import { nodeSignatureCrypto } from "./node-crypto.ts";

const ROOT = Buffer.alloc(32, 1).toString("base64");
const SALT = Buffer.alloc(16, 2).toString("base64");
const NEXT = { keyid: "h1/k2", from: "h1/k1", salt: SALT };

async function ringIn(t: TestContext): Promise<{ ring: KeyRing; file: string }> {
  const file = join(scratch(t), "state", "keys.json");
  return { ring: await KeyRing.create(file, { keyid: "h1/k1", root: ROOT }), file };
}

test("the first key is on disk, private to the user, and is read back", async (t) => {
  const { ring, file } = await ringIn(t);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(statSync(dirname(file)).mode & 0o777, 0o700);
  const read = await KeyRing.open(file);
  assert.deepEqual(read.current(), ring.current());
  assert.equal(read.hand, "h1");
  assert.deepEqual(ring.current().keys, deriveKeys(Buffer.from(ROOT, "base64"), "h1/k1", nodeSignatureCrypto));
});

test("the next key is derived as the brain derives it, and used from then on, also after a restart", async (t) => {
  const { ring, file } = await ringIn(t);
  await ring.add(NEXT);
  const root = deriveNextRoot(Buffer.from(ROOT, "base64"), Buffer.from(SALT, "base64"), {
    keyid: "h1/k2",
    crypto: nodeSignatureCrypto,
  });
  assert.deepEqual(ring.current(), { keyid: "h1/k2", keys: deriveKeys(root, "h1/k2", nodeSignatureCrypto) });
  assert.deepEqual((await KeyRing.open(file)).current(), ring.current());
});

test("until the brain has replied to the new key both are known; then the old one is gone from the file", async (t) => {
  const { ring, file } = await ringIn(t);
  await ring.add(NEXT);
  assert.notEqual(ring.find("h1/k1"), undefined);
  await ring.confirm("h1/k1");
  assert.notEqual(ring.find("h1/k1"), undefined, "a reply to the old key says nothing about the new one");
  await ring.confirm("h1/k2");
  assert.equal(ring.find("h1/k1"), undefined);
  assert.equal((await KeyRing.open(file)).find("h1/k1"), undefined);
  assert.ok(!readFileSync(file, "utf8").includes(ROOT), "the old root is not kept");
});

test("a rotation from an unknown key, or to a key that is known, changes nothing", async (t) => {
  const { ring, file } = await ringIn(t);
  await ring.add({ ...NEXT, from: "h1/k0" });
  assert.equal(ring.current().keyid, "h1/k1");
  await ring.add(NEXT);
  const before = readFileSync(file, "utf8");
  const { keys } = ring.current();
  await ring.add({ ...NEXT, salt: Buffer.alloc(16, 9).toString("base64") });
  assert.equal(readFileSync(file, "utf8"), before, "the same message with another salt would lock the hand out");
  assert.deepEqual(ring.current().keys, keys);
});

test("of a chain of rotations at most two keys are kept", async (t) => {
  const { ring, file } = await ringIn(t);
  for (let number = 2; number < 6; number++)
    await ring.add({ keyid: `h1/k${number}`, from: `h1/k${number - 1}`, salt: SALT });
  assert.equal(ring.current().keyid, "h1/k5");
  assert.notEqual(ring.find("h1/k4"), undefined);
  assert.equal(ring.find("h1/k3"), undefined);
  const { keys } = JSON.parse(readFileSync(file, "utf8")) as { keys: unknown[] };
  assert.equal(keys.length, 2);
});

test("a key that the brain does not accept gives way to the other one, and back again", async (t) => {
  const { ring } = await ringIn(t);
  ring.tryOther();
  assert.equal(ring.current().keyid, "h1/k1", "a single key has no other");
  await ring.add(NEXT);
  const used = Array.from({ length: 4 }, () => {
    const { keyid } = ring.current();
    ring.tryOther();
    return keyid;
  });
  assert.deepEqual(used, ["h1/k2", "h1/k1", "h1/k2", "h1/k1"]);
  ring.tryOther();
  await ring.confirm("h1/k2");
  assert.equal(ring.current().keyid, "h1/k2", "the one that is left is used, whichever was tried last");
});

test("a rotation that cannot be stored is not used: after a restart the hand would not know its key", async (t) => {
  const { ring, file } = await ringIn(t);
  const folder = dirname(file);
  rmSync(folder, { recursive: true });
  writeFileSync(folder, "in the way");
  await assert.rejects(ring.add(NEXT));
  assert.equal(ring.current().keyid, "h1/k1");
  assert.equal(ring.find("h1/k2"), undefined);
  rmSync(folder);
  mkdirSync(folder);
  await ring.add(NEXT);
  assert.equal((await KeyRing.open(file)).current().keyid, "h1/k2", "the same message, when it comes again, is taken");
});

test("the hand's id may have slashes; the key's id is behind the last one", async (t) => {
  const file = join(scratch(t), "keys.json");
  assert.equal((await KeyRing.create(file, { keyid: "a/b/k1", root: ROOT })).hand, "a/b");
});

test("a file that is missing, no JSON or without a usable key is unreadable, and is not replaced", async (t) => {
  const folder = scratch(t);
  const file = join(folder, "keys.json");
  await assert.rejects(KeyRing.open(file), { code: "STORE_UNREADABLE" });
  for (const text of [
    "",
    "{",
    "[]",
    "{}",
    '{"keys":[]}',
    '{"keys":{}}',
    '{"keys":[{"keyid":"h1/k1"}]}',
    '{"keys":[null,5]}',
  ]) {
    writeFileSync(file, text);
    await assert.rejects(KeyRing.open(file), { code: "STORE_UNREADABLE", message: /keys\.json/ }, text);
    assert.equal(readFileSync(file, "utf8"), text);
  }
});

test("a write leaves no draft behind", async (t) => {
  const { ring, file } = await ringIn(t);
  await ring.add(NEXT);
  await ring.confirm("h1/k2");
  assert.deepEqual(readdirSync(dirname(file)), ["keys.json"]);
});
