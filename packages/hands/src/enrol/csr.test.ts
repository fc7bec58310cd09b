import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { newKeyAndRequest, requestFor } from "./csr.ts";

/** What openssl says on both its outputs. */
function openssl(...args: readonly string[]): (input: string) => string {
  return (input) => {
    const { stdout, stderr } = spawnSync("openssl", args, { input, encoding: "utf8" });
    return stderr + stdout;
  };
}

test("openssl reads a request, finds its signature good, and finds its name and key", () => {
  const { key, csr } = newKeyAndRequest("web-1");
  const text = openssl("req", "-noout", "-text", "-verify")(csr);
  assert.match(text, /verify OK/);
  assert.match(text, /Subject: CN = web-1/);
  assert.match(text, /NIST CURVE: P-256/);
  assert.match(text, /ecdsa-with-SHA256/);
  const [requested, own] = [openssl("req", "-noout", "-pubkey")(csr), openssl("pkey", "-pubout")(key)];
  assert.equal(requested, own);
});

test("names of every length and script come through", () => {
  for (const name of ["x", "é", "主机", "n".repeat(64)]) {
    const { csr } = newKeyAndRequest(name);
    const said = openssl("req", "-noout", "-subject", "-nameopt", "utf8,sep_multiline", "-verify")(csr);
    assert.ok(said.includes(`CN=${name}`), said);
  }
});

test("a request that was changed on its way is seen", () => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const csr = requestFor(privateKey.export({ type: "pkcs8", format: "pem" }), "web-1");
  const der = Buffer.from(csr.replace(/-----[^-]+-----/g, ""), "base64");
  der[der.indexOf("web-1")] = 0x58;
  const changed = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`;
  assert.match(openssl("req", "-noout", "-verify")(changed.replace(/(.{64})/g, "$1\n")), /verify failure/);
});
