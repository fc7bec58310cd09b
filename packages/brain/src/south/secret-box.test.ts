import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { folder } from "../stores/journal.fixture.ts";
import { handsSecret, SecretBox } from "./secret-box.ts";

const secret = randomBytes(32);
const box = new SecretBox(async () => secret);

test("what was encrypted is decrypted under the same name, whatever its bytes are", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string(), fc.uint8Array({ maxLength: 100 }), async (name, plain) => {
      assert.deepEqual(Buffer.from(await box.decrypt(name, await box.encrypt(name, plain))), Buffer.from(plain));
    }),
  );
});

test("the same secret twice has two ciphertexts", async () => {
  const plain = Buffer.from("root");
  assert.notEqual(await box.encrypt("n", plain), await box.encrypt("n", plain));
});

test("another name, another key, and every changed byte are refused with the name", async () => {
  const encrypted = await box.encrypt("h1/k1", Buffer.from("the root"));
  const unreadable = { code: "STORE_UNREADABLE", message: /h1\/k/ };
  await assert.rejects(box.decrypt("h1/k2", encrypted), unreadable);
  await assert.rejects(new SecretBox(async () => randomBytes(32)).decrypt("h1/k1", encrypted), unreadable);
  const bytes = Buffer.from(encrypted, "base64");
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    await assert.rejects(box.decrypt("h1/k1", changed.toString("base64")), unreadable, `byte ${at}`);
  }
});

test("a text that is cut short, empty or no base64 is refused, not read as an empty secret", async () => {
  const encrypted = await box.encrypt("n", Buffer.from("x"));
  const bytes = Buffer.from(encrypted, "base64");
  const broken = [0, 1, 11, 12, 27, 28].map((length) => bytes.subarray(0, length).toString("base64"));
  for (const text of [...broken, "", "***", "none"])
    await assert.rejects(box.decrypt("n", text), { code: "STORE_UNREADABLE" });
});

test("the key is a private file that is made at the first use", async () => {
  using place = folder();
  const [one, other] = [new SecretBox(handsSecret(place.path)), new SecretBox(handsSecret(place.path))];
  assert.throws(() => statSync(join(place.path, "hand-keys.secret")), { code: "ENOENT" });
  const encrypted = await one.encrypt("n", Buffer.from("x"));
  assert.equal(Buffer.from(await other.decrypt("n", encrypted)).toString(), "x");
  assert.equal(statSync(join(place.path, "hand-keys.secret")).mode & 0o777, 0o600);
});
