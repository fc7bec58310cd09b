import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { LOCAL_OWNER } from "./caller.ts";
import { rejects } from "../stores/journal.fixture.ts";
import { ensureFirstToken } from "./first-token.ts";
import { onTokens } from "./tokens.fixture.ts";

onTokens("the first token is the administrator's, in a file that only its owner can read", async ({ tokens, path }) => {
  const file = join(dirname(path), "deep", "token");
  const token = await ensureFirstToken(tokens, file);
  assert.equal(readFileSync(file, "utf8"), `${token}\n`);
  assert.deepEqual([statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777], [0o600, 0o700]);
  const { admin, owner, expiresAt } = await tokens.verify(token);
  assert.deepEqual([admin, owner, expiresAt], [true, LOCAL_OWNER, null]);
  assert.deepEqual(readdirSync(dirname(file)), ["token"]);
});

onTokens("the next start finds the first token again, and closes a file that was open to others", async (scene) => {
  const { tokens, path } = scene;
  const file = join(dirname(path), "token");
  const token = await ensureFirstToken(tokens, file);
  chmodSync(file, 0o644);
  assert.equal(await ensureFirstToken(tokens, file), token);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal((await tokens.list()).length, 1);
});

onTokens("starts at the same time agree on one token, and what the others made is void", async ({ tokens, path }) => {
  const file = join(dirname(path), "token");
  const found = await Promise.all([1, 2, 3].map(() => ensureFirstToken(tokens, file)));
  assert.equal(new Set(found).size, 1);
  assert.equal((await tokens.list()).filter(({ revoked }) => !revoked).length, 1);
  await tokens.verify(found[0] ?? "");
});

onTokens("a first token that was revoked, or a file that holds none, is replaced", async ({ tokens, path }) => {
  const file = join(dirname(path), "token");
  const old = await ensureFirstToken(tokens, file);
  await tokens.revoke(old.split(".")[0] ?? "");
  const next = await ensureFirstToken(tokens, file);
  assert.notEqual(next, old);
  writeFileSync(file, "");
  const last = await ensureFirstToken(tokens, file);
  assert.equal((await tokens.verify(last)).admin, true);
  assert.equal(readFileSync(file, "utf8").trim(), last);
});

onTokens("a place that cannot be written leaves no token behind", async ({ tokens, path }) => {
  const file = join(dirname(path), "folder");
  mkdirSync(file);
  await rejects(ensureFirstToken(tokens, file), "STORE_UNREADABLE");
  const nowhere = join(dirname(path), "nowhere");
  symlinkSync(join(dirname(path), "gone", "deep"), nowhere);
  await rejects(ensureFirstToken(tokens, join(nowhere, "token")), "STORE_UNREADABLE");
  assert.equal((await tokens.list()).length, 1);
  assert.equal((await tokens.list()).filter(({ revoked }) => !revoked).length, 0);
});
