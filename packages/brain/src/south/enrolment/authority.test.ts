import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { openAuthority } from "./authority.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "vidro-ca-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** A request made by another program. */
function requestOf(folder: string, ...algorithm: readonly string[]): string {
  const files = ["-keyout", join(folder, "key"), "-subj", "/CN=root/O=Everything"];
  return execFileSync("openssl", ["req", "-new", "-nodes", ...algorithm, ...files], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
}

const P256 = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"];

test("an authority is made once, also by several at the same time, and is the same afterwards", async (t) => {
  const folder = folderOf(t);
  const all = await Promise.all(Array.from({ length: 4 }, () => openAuthority({ folder, now: Date.now })));
  const again = await openAuthority({ folder, now: Date.now });
  assert.deepEqual([...new Set(all.map(({ fingerprint }) => fingerprint))], [again.fingerprint]);
  assert.equal(statSync(join(folder, "authority.pem")).mode & 0o777, 0o600);
});

test("openssl finds the certificates good for what they are for, and for nothing else", async (t) => {
  const folder = folderOf(t);
  const authority = await openAuthority({ folder, now: Date.now });
  const { certificate } = await authority.forHand("hand-1", requestOf(folder, ...P256));
  const { cert } = await authority.forListener(["localhost", "127.0.0.1", "::1"]);
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const ca = file("ca.pem", authority.certificate);
  const isGood = (path: string, purpose: string): boolean => {
    try {
      const strict = ["-x509_strict", "-purpose", purpose, "-CAfile", ca];
      execFileSync("openssl", ["verify", ...strict, path], { stdio: "ignore" });
      return true;
    } catch {
      return false;
    }
  };
  const [hand, listener] = [file("hand.pem", certificate), file("listener.crt", cert)];
  assert.deepEqual([isGood(hand, "sslclient"), isGood(hand, "sslserver")], [true, false]);
  assert.deepEqual([isGood(listener, "sslclient"), isGood(listener, "sslserver")], [false, true]);
});

test("a hand's certificate names the hand and nothing that its request has asked for, and lives for a day", async (t) => {
  const folder = folderOf(t);
  const authority = await openAuthority({ folder, now: Date.now });
  const issued = await authority.forHand("hand-1", requestOf(folder, ...P256));
  const certificate = new X509Certificate(issued.certificate);
  assert.equal(certificate.subjectAltName, `URI:spiffe://${authority.brain}/hand/hand-1`);
  assert.equal(certificate.subject, "CN=hand-1");
  assert.equal(certificate.serialNumber, issued.serial);
  assert.ok(Math.abs(issued.expiresAt - Date.now() - DAY_MS) < 60_000);
  const another = await authority.forHand("hand-1", requestOf(folder, ...P256));
  assert.notEqual(another.serial, issued.serial);
});

test("a request that is none, is of another kind of key, or is not signed by its own key is refused", async (t) => {
  const folder = folderOf(t);
  const authority = await openAuthority({ folder, now: Date.now });
  const good = requestOf(folder, ...P256);
  const der = Buffer.from(good.replace(/-----[^-]+-----/g, ""), "base64");
  der[der.indexOf("root")] = 0x58;
  const forged = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString("base64")}\n-----END CERTIFICATE REQUEST-----`;
  const p384 = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-384"];
  for (const csr of ["", "rubbish", forged, requestOf(folder, "-newkey", "rsa:2048"), requestOf(folder, ...p384)])
    await assert.rejects(authority.forHand("hand-1", csr), { code: "BAD_REQUEST" });
});

test("a listener keeps its certificate while it fits, and gets another for other names or when it gets old", async (t) => {
  const folder = folderOf(t);
  let now = Date.now();
  const authority = await openAuthority({ folder, now: () => now });
  const names = ["localhost", "127.0.0.1"];
  const first = await authority.forListener(names);
  assert.deepEqual(await authority.forListener(names), first);
  const renamed = await authority.forListener([...names, "brain.example"]);
  assert.notEqual(renamed.cert, first.cert);
  assert.equal(new X509Certificate(renamed.cert).checkHost("brain.example"), "brain.example");
  now += 25 * DAY_MS;
  assert.notEqual((await authority.forListener([...names, "brain.example"])).cert, renamed.cert);
  writeFileSync(join(folder, "listener.pem"), "rubbish");
  assert.match((await authority.forListener(names)).cert, /BEGIN CERTIFICATE/);
});

test("an authority that is damaged is told about and never replaced, and its folder is closed again", async (t) => {
  const folder = folderOf(t);
  writeFileSync(join(folder, "authority.pem"), "rubbish");
  chmodSync(folder, 0o755);
  await assert.rejects(openAuthority({ folder, now: Date.now }), { code: "STORE_UNREADABLE" });
  assert.equal(statSync(folder).mode & 0o777, 0o700);
});
