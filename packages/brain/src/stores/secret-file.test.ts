import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folder } from "./journal.fixture.ts";
import { SealMark } from "./seal-mark.ts";
import { digestOf, isSealSignature, sealKey, signSeal } from "./seal.ts";
import { secretFile } from "./secret-file.ts";
import { StoreMark } from "./store-mark.ts";

test("a secret is made once, is private, and is the same for all who ask at the same time", async () => {
  using place = folder();
  const file = join(place.path, "deep", "er", "secret");
  const all = await Promise.all(Array.from({ length: 20 }, () => secretFile(file, 32)));
  assert.equal(new Set(all.map((bytes) => Buffer.from(bytes).toString("hex"))).size, 1);
  assert.deepEqual(Buffer.from(await secretFile(file, 32)), readFileSync(file));
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(join(place.path, "deep", "er")), ["secret"], "no draft is left");
});

test("a secret that others could read is closed to them when it is read", async () => {
  using place = folder();
  const file = join(place.path, "secret");
  writeFileSync(file, Buffer.alloc(16, 1));
  chmodSync(file, 0o644);
  await secretFile(file, 16);
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test("a secret of another length is refused and left as it is", async () => {
  using place = folder();
  const file = join(place.path, "secret");
  for (const length of [0, 15, 17]) {
    writeFileSync(file, Buffer.alloc(length, 1));
    await assert.rejects(secretFile(file, 16), {
      code: "STORE_UNREADABLE",
      message: new RegExp(`has ${length} bytes`),
    });
    assert.equal(statSync(file).size, length);
  }
});

test("a folder in the place of the secret, or a link to nowhere, is a fault that names the file", async () => {
  using place = folder();
  const [dir, link] = [join(place.path, "dir"), join(place.path, "link")];
  mkdirSync(dir);
  symlinkSync(join(place.path, "nowhere"), link);
  for (const file of [dir, link])
    await assert.rejects(secretFile(file, 16), { code: "STORE_UNREADABLE", message: new RegExp(file) });
});

test("a seal verifies with the key of its file only, and only for its own text", async () => {
  using place = folder();
  const [key, other] = [await sealKey(join(place.path, "a")), await sealKey(join(place.path, "b"))];
  const signature = signSeal(key, "text");
  assert.ok(isSealSignature(await sealKey(join(place.path, "a")), "text", signature));
  assert.ok(!isSealSignature(key, "text ", signature));
  assert.ok(!isSealSignature(other, "text", signature));
  assert.ok(!isSealSignature(key, "text", new Uint8Array(64)));
  assert.ok(!isSealSignature(key, "text", new Uint8Array()));
  assert.match(key.fingerprint, /^[0-9a-f]{64}$/);
  assert.notEqual(key.fingerprint, other.fingerprint);
});

test("a digest covers where one text ends and the next begins", () => {
  const digests = [
    digestOf("ab", "c"),
    digestOf("a", "bc"),
    digestOf("abc"),
    digestOf("a", "b", "c"),
    digestOf('a","b', "c"),
  ];
  assert.equal(new Set(digests).size, digests.length);
  assert.notEqual(digestOf(1), digestOf("1"));
  assert.notEqual(digestOf(null), digestOf("null"));
});

test("the mark of the last seal is read back; what cannot be read counts as none", () => {
  using place = folder();
  const store = join(place.path, "store");
  const mark = new SealMark(store);
  assert.equal(mark.read(), undefined);
  mark.write({ number: 7, digest: "d" });
  mark.write({ number: 8, digest: "e" });
  assert.deepEqual(new SealMark(store).read(), { number: 8, digest: "e" });
  assert.deepEqual(readdirSync(place.path), ["store-seal"]);
  for (const text of ["", "{", "null", "[8]", '{"number":"8","digest":"e"}', '{"number":8}']) {
    writeFileSync(`${store}-seal`, text);
    assert.equal(mark.read(), undefined, text);
  }
});

test("the mark of entries belongs to one file; a shorter number leaves nothing of a longer one", () => {
  using place = folder();
  const store = join(place.path, "store");
  const mark = new StoreMark(store, "42");
  assert.equal(mark.read(), undefined);
  for (const entries of [123_456_789, 5]) {
    mark.write(entries);
    assert.equal(mark.read(), entries);
  }
  mark.close();
  mark.close();
  assert.equal(new StoreMark(store, "43").read(), "another file");
  for (const text of ["", "42", "42 x", "-42 5", "42 5 6"]) {
    writeFileSync(`${store}-mark`, text);
    assert.equal(new StoreMark(store, "42").read(), undefined, text);
  }
  const again = new StoreMark(store, "42");
  again.write(6);
  assert.equal(again.read(), 6);
  again.close();
});
