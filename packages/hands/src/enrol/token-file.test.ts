import assert from "node:assert/strict";
import { argon2Sync, randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { TOKEN_LIMITS } from "@vidro/core";
import { scratch } from "../scratch.fixture.ts";
import { TokenFile } from "./token-file.ts";

/** A row of the token store, and the token it is for. */
function made(more: object = {}) {
  const [tokenId, secret, salt] = [
    randomBytes(16).toString("hex"),
    randomBytes(32).toString("base64url"),
    randomBytes(16),
  ];
  const cost = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 };
  const hash = argon2Sync("argon2id", { message: secret, nonce: salt, ...cost });
  const plain = (bytes: Buffer): string => bytes.toString("base64").replaceAll("=", "");
  const secretHash = `$argon2id$v=19$m=19456,t=2,p=1$${plain(salt)}$${plain(hash)}`;
  return {
    token: `${tokenId}.${secret}`,
    row: { tokenId, secretHash, scopes: ["ps"], expires_at: null, revoked: false, ...more },
  };
}

function written(t: TestContext, ...rows: readonly object[]): string {
  const path = join(scratch(t), "tokens.json");
  writeFileSync(path, JSON.stringify({ tokens: rows }), { mode: 0o600 });
  return path;
}

function opened(t: TestContext, path: string): TokenFile {
  const tokens = new TokenFile(path);
  t.after(() => tokens.close());
  return tokens;
}

test("a token of the file is let in with its scopes; wrong, unknown, expired and revoked ones are not", async (t) => {
  const [good, old, gone] = [made(), made({ expires_at: 1 }), made({ revoked: true })];
  const tokens = opened(t, written(t, good.row, old.row, gone.row));
  for (let round = 0; round < 2; round += 1) {
    const { tokenId, scopes, expiresAt } = await tokens.verify(good.token);
    assert.deepEqual([tokenId, [...scopes], expiresAt], [good.row.tokenId, ["ps"], null]);
  }
  await assert.rejects(tokens.verify(old.token), { code: "TOKEN_EXPIRED" });
  for (const token of [gone.token, made().token, "x", `${good.row.tokenId}.${"a".repeat(43)}`])
    await assert.rejects(tokens.verify(token), { code: "INVALID_TOKEN" });
});

test("a token that is revoked in the file ends its sessions, and so does a file that is gone", async (t) => {
  const [one, two] = [made(), made()];
  const path = written(t, one.row, two.row);
  const tokens = opened(t, path);
  const [first, second] = [await tokens.verify(one.token), await tokens.verify(two.token)];
  writeFileSync(`${path}.new`, JSON.stringify({ tokens: [{ ...one.row, revoked: true }, two.row] }), { mode: 0o600 });
  renameSync(`${path}.new`, path);
  await once(first.revoked, "abort");
  assert.ok(!second.revoked.aborted);
  await assert.rejects(tokens.verify(one.token), { code: "INVALID_TOKEN" });
  rmSync(path);
  await once(second.revoked, "abort");
  await assert.rejects(tokens.verify(two.token), { code: "INVALID_TOKEN" });
});

test("a file that others can read, or that is none of tokens, is refused", (t) => {
  const path = written(t, made().row);
  chmodSync(path, 0o644);
  assert.throws(() => new TokenFile(path), { code: "BAD_REQUEST", message: /chmod 600/ });
  for (const bad of [written(t, { tokenId: "x" }), join(scratch(t), "none")])
    assert.throws(() => new TokenFile(bad), { code: "BAD_REQUEST" });
});

test("too many tokens that wait to be checked are RATE_LIMITED", async (t) => {
  const { row } = made({ secretHash: `$argon2id$v=19$m=8,t=1,p=1$${"A".repeat(22)}$${"A".repeat(43)}` });
  const tokens = opened(t, written(t, row));
  const guesses = Array.from({ length: TOKEN_LIMITS.waiting + 6 }, () =>
    tokens.verify(`${row.tokenId}.${"a".repeat(43)}`),
  );
  const codes = (await Promise.allSettled(guesses)).map((one) =>
    one.status === "rejected" ? (one.reason as { code: string }).code : "",
  );
  assert.equal(codes.filter((code) => code === "RATE_LIMITED").length, 6);
  assert.equal(codes.filter((code) => code === "INVALID_TOKEN").length, TOKEN_LIMITS.waiting);
});

test("a change of what a token may do ends its sessions, and the next one has the new rights; others go on", async (t) => {
  const [one, other] = [made({ scopes: ["ps", "oscmd"] }), made()];
  const path = written(t, one.row, other.row);
  const tokens = opened(t, path);
  const put = (...rows: readonly object[]): void => {
    writeFileSync(`${path}.new`, JSON.stringify({ tokens: rows }), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  };
  const bystander = await tokens.verify(other.token);
  for (const change of [{ scopes: ["ps"] }, { scopes: ["ps"], expires_at: Date.now() + 3_600_000 }, { scopes: [] }]) {
    const before = await tokens.verify(one.token);
    // The order of fields, and fields that grant nothing, are no change.
    put({ note: "x", ...other.row }, { ...one.row, ...change });
    await once(before.revoked, "abort");
    const after = await tokens.verify(one.token);
    assert.deepEqual([...after.scopes], change.scopes);
    assert.equal(after.revoked.aborted, false);
  }
  assert.equal(bystander.revoked.aborted, false);
  // A token whose secret was changed is another one.
  const last = await tokens.verify(one.token);
  put({ ...one.row, secretHash: made().row.secretHash }, other.row);
  await once(last.revoked, "abort");
  await assert.rejects(tokens.verify(one.token), { code: "INVALID_TOKEN" });
});

test("rows of wrong types, and files of wrong forms, are refused as a whole", (t) => {
  const { row } = made();
  const rows: readonly unknown[] = [
    null,
    5,
    [],
    {},
    { ...row, tokenId: 5 },
    { ...row, secretHash: "plain" },
    { ...row, secretHash: row.secretHash.replace("argon2id", "argon2i") },
    { ...row, secretHash: `${row.secretHash}\n` },
    { ...row, scopes: "ps" },
    { ...row, scopes: [5] },
    { ...row, expires_at: "never" },
    { ...row, expires_at: undefined },
    { ...row, revoked: 0 },
  ];
  for (const bad of rows)
    assert.throws(() => new TokenFile(written(t, row, bad as object)), { code: "BAD_REQUEST" }, JSON.stringify(bad));
  for (const text of ["", "{", "[]", "{}", '{"tokens":{}}', '{"tokens":null}', '{"__proto__":{"tokens":[]}}']) {
    const path = join(scratch(t), "tokens.json");
    writeFileSync(path, text, { mode: 0o600 });
    assert.throws(() => new TokenFile(path), { code: "BAD_REQUEST" }, text);
  }
});

test("a token in another spelling is no token, and costs its check as a wrong one does", async (t) => {
  const { token, row } = made();
  const tokens = opened(t, written(t, row));
  const spellings = [
    ` ${token}`,
    `${token}\n`,
    token.toUpperCase(),
    token.replace(".", ".."),
    `${token}=`,
    `${token}\0`,
    "",
  ];
  for (const wrong of spellings)
    await assert.rejects(tokens.verify(wrong), { code: "INVALID_TOKEN" }, JSON.stringify(wrong));
  assert.equal((await tokens.verify(token)).tokenId, row.tokenId);
});
