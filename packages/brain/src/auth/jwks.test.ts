import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { loadVerificationKeys } from "./jwks.ts";
import type { KeyOptions } from "./jwks.ts";

const PAIR = generateKeyPairSync("rsa", { modulusLength: 2048 });
const PEM = PAIR.publicKey.export({ type: "spki", format: "pem" });
const key = (kid: string): object => ({ ...PAIR.publicKey.export({ format: "jwk" }), kid, alg: "RS256", use: "sig" });
const TOKEN = { payload: "", signature: "", protected: "" };

/** Looks for the key of a token with this id. */
const find = async (options: KeyOptions, kid = "one"): Promise<unknown> =>
  loadVerificationKeys(options).find({ alg: "RS256", kid }, TOKEN);

function file(t: TestContext, content: string): string {
  const folder = mkdtempSync(join(tmpdir(), "vidro-keys-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "keys.json");
  writeFileSync(path, content);
  return path;
}

describe("keys of signed tokens", () => {
  it("are given in exactly one way", () => {
    assert.throws(() => loadVerificationKeys({}), { code: "BAD_REQUEST", message: /exactly one of/ });
    assert.throws(() => loadVerificationKeys({ secret: "x".repeat(32), publicKey: PEM }), { code: "BAD_REQUEST" });
  });

  it("fix the algorithm, so that a token cannot choose it", () => {
    assert.equal(loadVerificationKeys({ secret: "x".repeat(32) }).algorithm, "HS256");
    assert.equal(loadVerificationKeys({ publicKey: PEM }).algorithm, "RS256");
    assert.equal(loadVerificationKeys({ keySet: "/somewhere" }).algorithm, "RS256");
  });

  it("of a secret need as many bytes as the hash has", async () => {
    assert.throws(() => loadVerificationKeys({ secret: "x".repeat(31) }), { message: /at least 32 bytes/ });
    // Bytes count, not letters.
    assert.equal(loadVerificationKeys({ secret: "é".repeat(16) }).algorithm, "HS256");
  });

  it("that are no PEM are refused when they are loaded, not when a token comes", () => {
    for (const publicKey of ["", "key", PEM.slice(0, 60)])
      assert.throws(() => loadVerificationKeys({ publicKey }), { code: "BAD_REQUEST", message: /no key in PEM/ });
  });

  it("of a file are found by their id; a token of another key is the token's fault", async (t) => {
    const keySet = file(t, JSON.stringify({ keys: [key("one"), key("two")] }));
    assert.ok(await find({ keySet }));
    await assert.rejects(find({ keySet }, "three"), { code: "ERR_JWKS_NO_MATCHING_KEY" });
  });

  it("of a file that cannot be read are not available, which is no fault of the token", async (t) => {
    for (const keySet of ["/no/such/file", file(t, "{"), file(t, "{}")])
      await assert.rejects(find({ keySet }), (thrown: { code: string; retryAfterMs?: number; message: string }) => {
        assert.equal(thrown.code, "KEYS_UNAVAILABLE");
        assert.ok((thrown.retryAfterMs ?? 0) > 0);
        assert.ok(thrown.message.includes(keySet));
        return true;
      });
  });

  it("of an address come over https, but for this machine", async () => {
    assert.throws(() => loadVerificationKeys({ keySet: "http://issuer.example/keys" }), {
      code: "BAD_REQUEST",
      message: /over https/,
    });
    const server = createServer((_, response) => {
      response.setHeader("content-type", "application/json").end(JSON.stringify({ keys: [key("one")] }));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const keySet = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
    assert.ok(await find({ keySet }));
    server.closeAllConnections();
    server.close();
    await once(server, "close");
    await assert.rejects(find({ keySet }), { code: "KEYS_UNAVAILABLE" });
  });
});
