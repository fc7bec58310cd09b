import assert from "node:assert/strict";
import { SESSION_LIMITS } from "@vidro/core";
import { Sessions } from "./sessions.ts";
import { onTokens } from "./tokens.fixture.ts";

onTokens("a link opens one session, with the scopes of its token, and is refused the second time", async (scene) => {
  const { tokens, records, clock } = scene;
  const { tokenId } = await tokens.create({ owner: "ada", scopes: ["runs", "approve"] });
  const sessions = new Sessions(records, tokens, () => clock.now);
  const { code } = sessions.createLink(tokenId);
  const { secret } = await sessions.openByLink(code);
  const { owner, scopes, admin } = await sessions.verify(secret);
  assert.deepEqual({ owner, scopes: [...scopes], admin }, { owner: "ada", scopes: ["runs", "approve"], admin: false });
  await assert.rejects(sessions.openByLink(code), { code: "INVALID_TOKEN", message: /used already or has expired/ });
  const kept = await records.list("session", { limit: 9 });
  assert.ok(!JSON.stringify(kept).includes(secret), "the secret is kept only as its hash");
});

onTokens("a link expires, a session expires, and both end with their token", async ({ tokens, records, clock }) => {
  const { tokenId } = await tokens.create({ owner: "ada" });
  const sessions = new Sessions(records, tokens, () => clock.now);
  const late = sessions.createLink(tokenId);
  clock.now += SESSION_LIMITS.linkMs;
  await assert.rejects(sessions.openByLink(late.code), { code: "INVALID_TOKEN" });
  const { secret } = await sessions.open(tokenId);
  const { revoked } = await sessions.verify(secret);
  clock.now += SESSION_LIMITS.lifeMs;
  await assert.rejects(sessions.verify(secret), { code: "TOKEN_EXPIRED" });
  const other = await sessions.open(tokenId);
  const link = sessions.createLink(tokenId);
  await tokens.revoke(tokenId);
  await assert.rejects(sessions.verify(other.secret), { code: "INVALID_TOKEN" });
  await assert.rejects(sessions.openByLink(link.code), { code: "INVALID_TOKEN" });
  await new Promise<void>((resolve) =>
    revoked.aborted ? resolve() : revoked.addEventListener("abort", () => resolve(), { once: true }),
  );
});

onTokens("sessions outlive the process, end by themselves, and are bounded", async ({ tokens, records }) => {
  const { tokenId } = await tokens.create({ owner: "ada" });
  const sessions = new Sessions(records, tokens);
  const first = await sessions.open(tokenId);
  assert.equal((await new Sessions(records, tokens).verify(first.secret)).owner, "ada");
  for (let opened = 1; opened < SESSION_LIMITS.sessions; opened += 1) await sessions.open(tokenId);
  await sessions.verify(first.secret);
  const last = await sessions.open(tokenId);
  await assert.rejects(sessions.verify(first.secret), { code: "INVALID_TOKEN" });
  await sessions.end(last.secret);
  await assert.rejects(sessions.verify(last.secret), { code: "INVALID_TOKEN" });
});
