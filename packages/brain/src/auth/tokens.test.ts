import assert from "node:assert/strict";
import { argon2Sync } from "node:crypto";
import { readFileSync } from "node:fs";
import { TOKEN_LIMITS } from "@vidro/core";
import { rejects } from "../stores/journal.fixture.ts";
import { grants, ROLES } from "./scopes.ts";
import { onTokens } from "./tokens.fixture.ts";
import { Tokens } from "./tokens.ts";

const HOUR_MS = 3_600_000;

onTokens("002-20: a token is 16 bytes of id in hex and 32 bytes of secret in base64url", async ({ tokens }) => {
  const made = [await tokens.create({ owner: "me" }), await tokens.create({ owner: "me" })];
  for (const { token, tokenId } of made) {
    const [id = "", secret = "", ...more] = token.split(".");
    assert.deepEqual([id, more], [tokenId, []]);
    assert.equal(Buffer.from(id, "hex").toString("hex"), id);
    assert.equal(Buffer.from(id, "hex").length, 16);
    assert.equal(Buffer.from(secret, "base64url").toString("base64url"), secret);
    assert.equal(Buffer.from(secret, "base64url").length, 32);
  }
  assert.notEqual(made[0]?.token, made[1]?.token);
});

onTokens("002-21: only an Argon2id hash of the secret is stored", async ({ tokens, records, path }) => {
  const { token, tokenId } = await tokens.create({ owner: "me" });
  const [, secret = ""] = token.split(".");
  const kept = (await records.get("token", tokenId))?.body["secretHash"];
  assert.ok(typeof kept === "string");
  const [, algorithm, version, cost, salt = "", hash = ""] = kept.split("$");
  assert.deepEqual([algorithm, version, cost], ["argon2id", "v=19", "m=19456,t=2,p=1"]);
  const nonce = Buffer.from(salt, "base64");
  const parameters = { message: secret, nonce, memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 };
  assert.deepEqual(argon2Sync("argon2id", parameters), Buffer.from(hash, "base64"));
  for (const file of [path, `${path}-wal`]) assert.equal(readFileSync(file).includes(secret), false);
  assert.equal(JSON.stringify(await tokens.list()).includes(hash), false);
});

onTokens(
  "002-22: the row is tokenId, secretHash, scopes, expires_at and revoked",
  async ({ tokens, records, clock }) => {
    const expiresAt = clock.now + HOUR_MS;
    const { tokenId } = await tokens.create({ owner: "me", scopes: ["ps", "watch"], expiresAt });
    const record = await records.get("token", tokenId);
    assert.deepEqual(Object.keys(record?.body ?? {}), ["tokenId", "secretHash", "scopes", "expires_at", "revoked"]);
    const { secretHash: _, ...rest } = record?.body ?? {};
    assert.deepEqual(rest, { tokenId, scopes: ["ps", "watch"], expires_at: expiresAt, revoked: false });
    await tokens.revoke(tokenId);
    const [row] = await tokens.list();
    assert.deepEqual([row?.revoked, row?.version, row?.owner], [true, 2, "me"]);
  },
);

onTokens("002-24: a role chooses the scopes of a new token and is not kept", async ({ tokens, records }) => {
  const made = [
    await tokens.create({ owner: "me", role: "user" }),
    await tokens.create({ owner: "me", role: "admin" }),
  ];
  assert.deepEqual(
    made.map(({ scopes }) => scopes),
    [["runs", "getosinfo", "ps", "watch", "getwatches"], ["*"]],
  );
  for (const { tokenId } of made)
    assert.doesNotMatch(JSON.stringify(await records.get("token", tokenId)), /role|"user"|"admin"/);
});

onTokens("002-26: the scope * grants every scope, any other only itself", async ({ tokens }) => {
  const all = await tokens.verify((await tokens.create({ owner: "me", scopes: ["*"] })).token);
  const some = await tokens.verify((await tokens.create({ owner: "me", scopes: ["ps"] })).token);
  for (const scope of ["getosinfo", "watch", "getwatches", "ps", "oscmd", "runs", "admin", "not-yet-thought-of"]) {
    assert.equal(grants(all.scopes, scope), true);
    assert.equal(grants(some.scopes, scope), scope === "ps");
  }
  assert.deepEqual([all.admin, some.admin], [true, false]);
});

onTokens("a token that was made is verified as its owner's, with its scopes and its end", async ({ tokens, clock }) => {
  const expiresAt = clock.now + HOUR_MS;
  const { token, tokenId } = await tokens.create({ owner: "ann", scopes: ["runs", "runs", "agents:write"], expiresAt });
  const { revoked, ...verified } = await tokens.verify(token);
  const scopes = new Set(["runs", "agents:write"]);
  assert.deepEqual(verified, { owner: "ann", tokenId, scopes, admin: false, expiresAt });
  assert.equal(revoked.aborted, false);
});

onTokens(
  "what is no token, is unknown, wrong or revoked is invalid; nothing at all asks for one",
  async ({ tokens }) => {
    const { token, tokenId } = await tokens.create({ owner: "me" });
    const [id = "", secret = ""] = token.split(".");
    const swapped = (secret.startsWith("A") ? "B" : "A") + secret.slice(1);
    const bad = ["x", `${id}.`, `.${secret}`, `${id}.${secret}.`, `${id}.${secret}x`, ` ${token}`, `${token}\n`];
    bad.push(`${"0".repeat(32)}.${secret}`, `${id}.${swapped}`, `${id.toUpperCase()}.${secret}`);
    bad.push("a.b.c", "x".repeat(TOKEN_LIMITS.chars + 1));
    for (const each of bad.filter((other) => other !== token)) await rejects(tokens.verify(each), "INVALID_TOKEN");
    await rejects(tokens.verify(""), "AUTH_REQUIRED");
    await tokens.verify(token);
    await tokens.revoke(tokenId);
    await tokens.revoke(tokenId);
    await rejects(tokens.verify(token), "INVALID_TOKEN");
    await rejects(tokens.revoke("0".repeat(32)), "NOT_FOUND");
  },
);

onTokens("a token expires to the millisecond, and only who has its secret is told so", async ({ tokens, clock }) => {
  const { token, tokenId } = await tokens.create({ owner: "me", expiresAt: clock.now + HOUR_MS });
  clock.now += HOUR_MS - 1;
  await tokens.verify(token);
  clock.now += 1;
  await rejects(tokens.verify(token), "TOKEN_EXPIRED");
  await rejects(tokens.verify(`${tokenId}.${"A".repeat(43)}`), "INVALID_TOKEN");
});

onTokens("a token that grants nothing or has expired is not made", async ({ tokens, clock }) => {
  const bad = [
    { owner: " " },
    { owner: "me", scopes: [] },
    { owner: "me", scopes: ["Runs"] },
    { owner: "me", scopes: ["runs now"] },
    { owner: "me", scopes: ["s".repeat(TOKEN_LIMITS.scopeChars + 1)] },
    { owner: "me", scopes: Array.from({ length: TOKEN_LIMITS.scopes + 1 }, (_, n) => `s${n}`) },
    { owner: "me", expiresAt: clock.now },
    { owner: "me", expiresAt: Number.NaN },
  ];
  for (const request of bad) await rejects(tokens.create(request), "BAD_REQUEST");
  await rejects(tokens.create({ owner: "o".repeat(1000) }), "PAYLOAD_TOO_LARGE");
  assert.deepEqual(await tokens.list(), []);
});

onTokens("tokens are listed oldest first, in every process", async ({ tokens, records }) => {
  const made = [await tokens.create({ owner: "ann" }), await tokens.create({ owner: "bob", role: "admin" })];
  const other = new Tokens(records);
  assert.deepEqual(
    (await other.list()).map(({ tokenId, owner, scopes, revoked }) => [tokenId, owner, scopes, revoked]),
    [
      [made[0]?.tokenId, "ann", ROLES.user, false],
      [made[1]?.tokenId, "bob", ["*"], false],
    ],
  );
});
