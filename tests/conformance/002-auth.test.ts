import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, TCP_LIMITS } from "@vidro/core";
import { openPassingStore } from "../support/store-under-test.ts";
import { Tokens } from "../../packages/brain/src/auth/tokens.ts";
import { startTcpHand } from "../support/tcp-hand.ts";

const ACTS = ["PING", "GET_OS_INFO", "PS", "WATCH", "GET_WATCHES", "OS_CMD", "QUIT", "JUDGE", "RUN_TOOL", "ACK"];

test("002-14 002-38 AUTH is the only action without a session; others are AUTH_REQUIRED, known or not", async (t) => {
  const hand = await startTcpHand(t);
  const caller = await hand.caller();
  for (const act of [...ACTS, "NO_SUCH_ACT"]) {
    const { t: kind, act: repeated, code } = await caller.ask(act, { token: "x", path: "/", cmd: "true" });
    assert.deepEqual([kind, repeated, code], ["err", act, "AUTH_REQUIRED"]);
  }
  assert.equal((await caller.ask("AUTH", { token: await hand.token("ps") })).t, "res");
  assert.equal((await caller.ask("PING")).t, "res");
});

test("002-15 002-27 AUTH gives a session of this connection alone, with the token's scopes and end", async (t) => {
  const hand = await startTcpHand(t);
  const expiresAt = Date.now() + 60_000;
  const made = await hand.tokens.create({ owner: "ana", scopes: ["getosinfo", "ps"], expiresAt });
  const sessions = new Set<string>();
  for (let round = 0; round < 2; round += 1) {
    const caller = await hand.caller();
    const { t: kind, act, data } = await caller.ask("AUTH", { token: made.token });
    assert.deepEqual([kind, act], ["res", "AUTH"]);
    const { sessionId, scopes, expiresAt: end } = data;
    assert.deepEqual({ scopes, end }, { scopes: ["getosinfo", "ps"], end: expiresAt });
    assert.match(String(sessionId), /^S-/);
    sessions.add(String(sessionId));
  }
  assert.equal(sessions.size, 2);
  assert.equal((await (await hand.caller()).ask("PS")).code, "AUTH_REQUIRED");
});

test("002-16 002-19 002-39 a token that is wrong, unknown, revoked or no token at all is INVALID_TOKEN", async (t) => {
  const hand = await startTcpHand(t);
  const good = await hand.token("ps");
  const revoked = await hand.token("ps");
  await hand.tokens.revoke(revoked.split(".")[0] ?? "");
  const [id = "", secret = ""] = good.split(".");
  const unknown = `${"0".repeat(32)}.${secret}`;
  const wrong = `${id}.${secret.slice(0, -1)}${secret.endsWith("A") ? "B" : "A"}`;
  const caller = await hand.caller();
  for (const token of ["x", unknown, wrong, revoked, `${good}x`]) {
    const { id: asked, act, code, t: kind } = await caller.ask("AUTH", { token });
    assert.deepEqual([kind, act, code], ["err", "AUTH", "INVALID_TOKEN"]);
    assert.match(asked, /^t\d+$/);
  }
  assert.equal((await caller.ask("AUTH", { token: good })).t, "res");
});

test("002-40 a token that has expired is TOKEN_EXPIRED, and so is a session whose token expires", async (t) => {
  let now = Date.now();
  const store = await openPassingStore();
  const tokens = new Tokens(store.records, { now: () => now });
  t.after(() => (tokens.close(), store.close()));
  const hand = await startTcpHand(t, { verify: (token) => tokens.verify(token) });
  const short = await tokens.create({ owner: "ana", scopes: ["ps"], expiresAt: now + 1000 });
  now += 2000;
  assert.equal((await (await hand.caller()).ask("AUTH", { token: short.token })).code, "TOKEN_EXPIRED");
  const soon = await tokens.create({ owner: "ana", scopes: ["ps"], expiresAt: now + 1000 });
  now -= 5000;
  // For the clock of the store it is good; for that of the hand its end comes while the session is open.
  const caller = await hand.caller();
  assert.equal((await caller.ask("AUTH", { token: soon.token })).t, "res");
  const [last] = await caller.hearsAll();
  assert.deepEqual([last?.t, last?.id, last?.code], ["err", "0", "TOKEN_EXPIRED"]);
});

test("002-20 002-21 002-22 a token is 16 bytes hex and 32 bytes base64url; only an Argon2id hash of it is kept", async (t) => {
  const store = await openPassingStore();
  const { records } = store;
  const tokens = new Tokens(records);
  t.after(() => (tokens.close(), store.close()));
  const { token, tokenId } = await tokens.create({ owner: "ana", scopes: ["getosinfo"] });
  assert.match(token, /^[0-9a-f]{32}\.[\w-]{43}$/);
  const row = (await records.get("token", tokenId))?.body ?? {};
  assert.deepEqual(Object.keys(row).sort(), ["expires_at", "revoked", "scopes", "secretHash", "tokenId"]);
  assert.match(JSON.stringify(row["secretHash"]), /^"\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  assert.ok(!JSON.stringify(row).includes(token.split(".")[1] ?? ""));
});

test("002-23 002-25 002-41 each action takes its own scope, and says which one is missing", async (t) => {
  const hand = await startTcpHand(t);
  const needs = { GET_OS_INFO: "getosinfo", PS: "ps", WATCH: "watch", GET_WATCHES: "getwatches", OS_CMD: "oscmd" };
  const caller = await hand.session("runs");
  for (const [act, scope] of Object.entries(needs)) {
    const { code, msg } = await caller.ask(act, {});
    assert.deepEqual([code, msg], ["FORBIDDEN", `scope ${scope} required`]);
  }
  for (const [act, scope] of Object.entries(needs)) {
    const data = { path: ".", token: "W-none", cmd: "uname" };
    const { code } = await (await hand.session(scope)).ask(act, data);
    assert.ok(code === undefined || code === "BAD_REQUEST", `${act} with ${scope}: ${code}`);
  }
});

test("002-24 002-26 an administrator's token has the scope *, which grants everything", async (t) => {
  const hand = await startTcpHand(t);
  const { token, scopes } = await hand.tokens.create({ owner: "ana", role: "admin" });
  assert.deepEqual(scopes, ["*"]);
  const caller = await hand.caller();
  await caller.ask("AUTH", { token });
  for (const act of ["PING", "GET_OS_INFO", "PS"]) assert.equal((await caller.ask(act)).t, "res");
  const user = await hand.tokens.create({ owner: "ana", role: "user" });
  assert.ok(!user.scopes.includes("*"));
  const looking = await hand.caller();
  await looking.ask("AUTH", { token: user.token });
  for (const act of ["PING", "GET_OS_INFO", "PS"]) assert.equal((await looking.ask(act)).t, "res", act);
  assert.equal((await looking.ask("OS_CMD", { cmd: "true" })).code, "FORBIDDEN");
});

test("002-27 a session that is idle for too long is over", async (t) => {
  const hand = await startTcpHand(t, { bounds: { idleMs: 50, sweepMs: 10 } });
  const [last] = await (await hand.session("ps")).hearsAll();
  assert.deepEqual([last?.id, last?.code], ["0", "AUTH_REQUIRED"]);
});

test("002-48 revoking a token ends its live sessions within a second, and no others", async (t) => {
  const hand = await startTcpHand(t);
  const [doomed, other] = [await hand.token("oscmd"), await hand.session("ps")];
  const caller = await hand.caller();
  await caller.ask("AUTH", { token: doomed });
  caller.send("OS_CMD", { cmd: "sleep", args: ["30"], timeoutMs: 60_000, actionId: "nap" });
  const begun = performance.now();
  await hand.tokens.revoke(doomed.split(".")[0] ?? "");
  const last = (await caller.hearsAll()).at(-1);
  assert.ok(performance.now() - begun < 1000);
  assert.deepEqual([last?.id, last?.code], ["0", "INVALID_TOKEN"]);
  assert.equal((await other.ask("PING")).t, "res");
  const back = await hand.caller();
  assert.equal((await back.ask("AUTH", { token: doomed })).code, "INVALID_TOKEN");
});

test("002-45 what is our own fault is INTERNAL_ERROR with a trace id, and tells nothing else", async (t) => {
  const reports: [string, unknown][] = [];
  const hand = await startTcpHand(t, {
    verify: () => Promise.reject(new Error("the store at /secret/place burns")),
    report: (traceId, thrown) => reports.push([traceId, thrown]),
  });
  const caller = await hand.caller();
  const { code, msg } = await caller.ask("AUTH", { token: "x.y" });
  assert.equal(code, "INTERNAL_ERROR");
  assert.ok(!msg?.includes("secret"));
  const [[traceId, thrown] = ["", undefined]] = reports;
  assert.ok(msg?.includes(traceId) && thrown instanceof Error && thrown.message.includes("burns"));
  assert.equal((await caller.ask("PING")).code, "AUTH_REQUIRED");
});

test("002-49 too many tokens to check at once are RATE_LIMITED with a time to come back", async (t) => {
  const hand = await startTcpHand(t, {
    verify: () => Promise.reject(new Fault("RATE_LIMITED", "Too many tokens.", { retryAfterMs: 1000 })),
  });
  const { code, retryAfterMs } = await (await hand.caller()).ask("AUTH", { token: "x.y" });
  assert.deepEqual([code, retryAfterMs], ["RATE_LIMITED", 1000]);
});

test("an address that shows many wrong tokens waits, on whatever connection; a good one costs it nothing", async (t) => {
  const hand = await startTcpHand(t);
  const good = await hand.token("ps");
  for (let count = 0; count < TCP_LIMITS.authBurst + 5; count += 1)
    assert.equal((await (await hand.caller()).ask("AUTH", { token: good })).t, "res");
  const codes: unknown[] = [];
  for (let count = 0; count < 2 * TCP_LIMITS.authBurst && codes.at(-1) !== "RATE_LIMITED"; count += 1)
    codes.push((await (await hand.caller()).ask("AUTH", { token: "wrong" })).code);
  assert.ok(codes.length > TCP_LIMITS.authBurst, String(codes.length));
  const { code, retryAfterMs } = await (await hand.caller()).ask("AUTH", { token: good });
  assert.equal(code, "RATE_LIMITED");
  assert.ok((retryAfterMs ?? 0) > 0);
});
