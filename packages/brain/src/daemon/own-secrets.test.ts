import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { homeRedactor } from "./own-secrets.ts";

test("the administrator's token and the key of the seals are redacted in every form, also the secret half alone", async (t) => {
  const home = await mkdtemp(join(tmpdir(), "vidro-own-"));
  t.after(() => rm(home, { recursive: true }));
  const [secret, key] = [randomBytes(32), randomBytes(32)];
  const half = secret.toString("base64url");
  await writeFile(join(home, "token"), `${randomBytes(16).toString("hex")}.${half}\n`);
  await writeFile(join(home, "audit-key"), key);
  const redact = homeRedactor(home, []);
  const bytesOf = (text: string): readonly string[] => Array.from(Buffer.from(text), (byte) => byte.toString(16));
  for (const form of [
    half,
    Buffer.from(half).toString("base64"),
    Buffer.from(half).toString("hex"),
    bytesOf(half).join(" "),
    bytesOf(half).join(":"),
    bytesOf(half)
      .map((byte) => `%${byte.toUpperCase()}`)
      .join(""),
    secret.toString("hex"),
    key.toString("hex"),
    key.toString("base64"),
    Buffer.from(key.toString("hex")).toString("base64"),
  ])
    assert.match(redact.text(`found ${form} here`), /^found \[redacted\]={0,2} here$/, form);
});

test("secrets that are made or replaced later are known from then on, and the configured ones stay known", async (t) => {
  const home = await mkdtemp(join(tmpdir(), "vidro-own-"));
  t.after(() => rm(home, { recursive: true }));
  const redact = homeRedactor(home, ["configured-value-1"]);
  const halves = [randomBytes(32), randomBytes(32)].map((bytes) => bytes.toString("base64url"));
  for (const half of halves) {
    const text = `see ${half} and configured-value-1`;
    assert.equal(redact.value({ text }).text, `see ${half} and [redacted]`);
    await writeFile(join(home, "next"), `${randomBytes(16).toString("hex")}.${half}\n`);
    await rename(join(home, "next"), join(home, "token"));
    assert.equal(redact.value({ text }).text, "see [redacted] and [redacted]");
    assert.equal(redact.text(text), "see [redacted] and [redacted]");
  }
});

test("a home without its files redacts what was configured", () => {
  const redact = homeRedactor(join(tmpdir(), "vidro-no-such-home"), ["configured-value-1"]);
  assert.equal(redact.text("a configured-value-1"), "a [redacted]");
});

test("the files are read again only when one of them was made or replaced", async (t) => {
  const home = await mkdtemp(join(tmpdir(), "vidro-own-"));
  t.after(() => rm(home, { recursive: true }));
  await writeFile(join(home, "token"), "id.secret-of-the-token");
  const reads = t.mock.method(fs, "readFileSync");
  syncBuiltinESMExports();
  t.after(() => {
    reads.mock.restore();
    syncBuiltinESMExports();
  });
  const redact = homeRedactor(home, []);
  const atFirst = reads.mock.callCount();
  for (const line of ["one", "two", "three"]) redact.text(`line ${line} of the log`);
  assert.equal(reads.mock.callCount(), atFirst, "nothing has changed");
  await writeFile(join(home, "audit-key"), randomBytes(32));
  redact.text("line four of the log");
  assert.ok(reads.mock.callCount() > atFirst);
});
