import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, test } from "node:test";
import { SignJWT } from "jose";
import { HOOK_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { textOrEmpty } from "@vidro/core/wire/executor-ws";
import { webhookHeaders } from "../webhooks/signature.ts";
import { servedDaemon } from "./served-daemon.fixture.ts";
import type { ServedDaemon } from "./served-daemon.fixture.ts";

const JWT_SECRET = "a secret that signs the tokens of people elsewhere";
let daemon: ServedDaemon;
let [ana, bea] = ["", ""];

before(async () => {
  daemon = await servedDaemon({ env: { VIDRO_JWT_SECRET: JWT_SECRET } });
  [ana, bea] = [await daemon.tokenOf("ana"), await daemon.tokenOf("bea")];
});
after(() => daemon[Symbol.asyncDispose]());

/** A hook of ana, or of the token that is given. */
async function hook(input: JsonObject = {}, token = ana): Promise<{ id: string; secret: string }> {
  const { status, json } = await daemon.ask("POST", "/v1/hooks", { task: "what time is it?", ...input }, token);
  assert.equal(status, 201, JSON.stringify(json));
  return { id: textOrEmpty(json, "id"), secret: textOrEmpty(json, "secret") };
}

/** Calls a hook with the secret as a bearer token, and more headers. */
async function call(id: string, secret: string, body = "{}", headers: { readonly [name: string]: string } = {}) {
  const response = await fetch(`${daemon.url}/v1/hooks/${id}`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json", ...headers },
    body,
  });
  return { status: response.status, json: (await response.json()) as JsonObject };
}

async function tokenSignedElsewhere(roles: readonly string[]): Promise<string> {
  const claims = new SignJWT({ roles }).setProtectedHeader({ alg: "HS256" }).setSubject("eve").setExpirationTime("1h");
  return claims.sign(new TextEncoder().encode(JWT_SECRET));
}

test("a hook or schedule of a token that another issuer signed is refused: its rights could not be asked for later", async () => {
  const token = await tokenSignedElsewhere(["admin"]);
  assert.equal((await daemon.ask("GET", "/v1/hooks", undefined, token)).status, 200, "the token itself is good");
  const hooked = await daemon.ask("POST", "/v1/hooks", { task: "look" }, token);
  assert.deepEqual([hooked.status, hooked.json["code"]], [403, "FORBIDDEN"]);
  assert.match(textOrEmpty(hooked.json, "error"), /A hook takes a token of this brain/);
  const scheduled = await daemon.ask("POST", "/v1/schedules", { cron: "0 7 * * *", task: "look" }, token);
  assert.deepEqual([scheduled.status, scheduled.json["code"]], [403, "FORBIDDEN"]);
  assert.match(textOrEmpty(scheduled.json, "error"), /A schedule takes a token of this brain/);
});

test("a hook that could never start its run is refused when it is made", async () => {
  const refused: readonly (readonly [JsonObject, number, RegExp])[] = [
    [{ task: " \n" }, 422, /task/],
    [{ task: "" }, 422, /task/],
    [{}, 422, /task/],
    [{ task: "look", secret: "mine" }, 422, /secret/],
    [{ task: "look", agent: "nobody" }, 404, /nobody/],
    [{ task: "look", hand: "no-such-host" }, 404, /no-such-host/],
    [{ task: "look", hand: "" }, 422, /hand/],
    [{ task: "look", workspace: "/" }, 403, /scope admin/],
  ];
  for (const [body, status, words] of refused) {
    const answer = await daemon.ask("POST", "/v1/hooks", body, ana);
    assert.equal(answer.status, status, JSON.stringify(answer.json));
    assert.match(JSON.stringify(answer.json), words);
  }
  const relative = await daemon.ask("POST", "/v1/hooks", { task: "look", workspace: "here" });
  assert.deepEqual([relative.status, /begins with \//.test(textOrEmpty(relative.json, "error"))], [400, true]);
});

test("each owner sees and removes its own hooks, an administrator all, and no list has a secret or a token", async () => {
  const [mine, theirs] = [await hook(), await hook({ task: "theirs" }, bea)];
  const idsOf = async (token?: string): Promise<readonly string[]> => {
    const { json } = await daemon.ask("GET", "/v1/hooks", undefined, token);
    assert.ok(!JSON.stringify(json).includes("whsec_") && !JSON.stringify(json).includes('"token"'));
    return (json["hooks"] as { id: string }[]).map(({ id }) => id);
  };
  assert.ok((await idsOf(ana)).includes(mine.id) && !(await idsOf(ana)).includes(theirs.id));
  assert.deepEqual(await idsOf(bea), [theirs.id]);
  const all = await idsOf();
  assert.ok([mine.id, theirs.id].every((id) => all.includes(id)));
  const foreign = await daemon.ask("DELETE", `/v1/hooks/${theirs.id}`, undefined, ana);
  assert.deepEqual([foreign.status, foreign.json["error"]], [404, `There is no hook "${theirs.id}".`]);
  const removed = await daemon.ask("DELETE", `/v1/hooks/${theirs.id}`, undefined, bea);
  assert.deepEqual([removed.status, removed.json["id"], removed.json["secret"]], [200, theirs.id, undefined]);
  assert.equal((await call(theirs.id, theirs.secret)).status, 401, "its secret is worth nothing");
  assert.equal((await daemon.ask("DELETE", `/v1/hooks/${theirs.id}`)).status, 404);
});

test("hooks come in pages that a cursor goes on from", async () => {
  const token = await daemon.tokenOf("paula");
  const made = [];
  for (let count = 0; count < 3; count += 1) made.push((await hook({}, token)).id);
  const page = async (query: string): Promise<readonly string[]> => {
    const { json } = await daemon.ask("GET", `/v1/hooks?limit=2${query}`, undefined, token);
    return (json["hooks"] as { id: string }[]).map(({ id }) => id);
  };
  assert.deepEqual(await page(""), made.slice(0, 2));
  assert.deepEqual(await page(`&after=${made[1]}`), made.slice(2));
  assert.equal((await daemon.ask("GET", "/v1/hooks?limit=0", undefined, token)).status, 422);
});

test("a call works by the rights of the token that made the hook: revoked, the hook starts nothing", async () => {
  const { json } = await daemon.ask("POST", "/v1/tokens", { owner: "rui" });
  const { id, secret } = await hook({}, textOrEmpty(json, "token"));
  assert.equal((await call(id, secret)).status, 201);
  await daemon.ask("DELETE", `/v1/tokens/${textOrEmpty(json, "token_id")}`);
  const late = await call(id, secret);
  assert.deepEqual([late.status, late.json["code"]], [401, "INVALID_TOKEN"]);
});

test("the run of a hook has the hook's owner and agent, and the hook tells its last run", async () => {
  const { id, secret } = await hook({ agent: "scout", model: "offline" });
  const { json } = await call(id, secret, '{"n":1}');
  const { json: run } = await daemon.ask("GET", `/v1/runs/${textOrEmpty(json, "run_id")}`, undefined, ana);
  assert.deepEqual([run["owner"], textOrEmpty(run, "task").startsWith("what time is it?\n")], ["ana", true]);
  assert.match(textOrEmpty(run, "task"), /\[data (\w{12})\]\n\{"n":1\}\n\[end of data \1\]$/);
  const { json: listed } = await daemon.ask("GET", "/v1/hooks", undefined, ana);
  const row = (listed["hooks"] as JsonObject[]).find((one) => one["id"] === id);
  assert.deepEqual([row?.["lastRun"], typeof row?.["lastAt"]], [json["run_id"], "number"]);
});

test("an idempotency key makes one run of repeated calls of a hook, and none of the calls of another", async () => {
  const [one, other] = [await hook(), await hook()];
  const key = { "idempotency-key": "same" };
  const first = await call(one.id, one.secret, "{}", key);
  const again = await call(one.id, one.secret, "{}", key);
  assert.deepEqual([first.status, again.json["run_id"]], [201, first.json["run_id"]]);
  const elsewhere = await call(other.id, other.secret, "{}", key);
  assert.notEqual(elsewhere.json["run_id"], first.json["run_id"]);
});

test("a body within its bound is taken whatever its shape, and one character more is not", async () => {
  const { id, secret } = await hook();
  const nested = (chars: number): string => {
    const [open, close] = ['{"a":'.padEnd(5) + "[".repeat(40), `${"]".repeat(40)}}`];
    const room = chars - open.length - close.length;
    return open + "1,".repeat(Math.floor((room - 1) / 2)) + (room % 2 === 0 ? "11" : "1") + close;
  };
  const fits = nested(HOOK_LIMITS.payloadChars);
  assert.equal(fits.length, HOOK_LIMITS.payloadChars);
  const taken = await call(id, secret, fits);
  assert.equal(taken.status, 201, JSON.stringify(taken.json));
  const refused = await call(id, secret, nested(HOOK_LIMITS.payloadChars + 1));
  assert.deepEqual([refused.status, refused.json["code"]], [413, "PAYLOAD_TOO_LARGE"]);
});

test("what proves nothing starts nothing: half a signature, a changed body, id or time, a time that is no number", async () => {
  const { id, secret } = await hook();
  const body = '{"a":1}';
  const now = Date.now();
  const good = webhookHeaders(secret, { id: "msg_1", at: now, body }) as { readonly [name: string]: string };
  const send = async (changes: { readonly [name: string]: string | undefined }, sent = body): Promise<number> => {
    const headers = { "content-type": "application/json", ...good, ...changes };
    const kept = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
    const init = { method: "POST", headers: kept, body: sent };
    return (await fetch(`${daemon.url}/v1/hooks/${id}`, init)).status;
  };
  const seconds = Math.floor(now / 1000);
  const wrong: readonly { readonly [name: string]: string | undefined }[] = [
    { "webhook-signature": undefined },
    { "webhook-id": undefined },
    { "webhook-timestamp": undefined },
    { "webhook-id": "msg_2" },
    { "webhook-timestamp": String(seconds + 1) },
    { "webhook-timestamp": `${seconds}.0` },
    { "webhook-timestamp": `+${seconds}` },
    { "webhook-timestamp": "0x7" },
    { "webhook-timestamp": "" },
    { "webhook-signature": "" },
    { "webhook-signature": good["webhook-signature"]!.replace("v1,", "") },
    { "webhook-signature": good["webhook-signature"]!.replace("v1,", "v1a,") },
    { "webhook-signature": `${"v1,x ".repeat(HOOK_LIMITS.signatures)}${good["webhook-signature"]}` },
    // A signature that is wrong is not made good by a bearer token.
    { "webhook-signature": "v1,x", authorization: `Bearer ${secret}` },
  ];
  for (const changes of wrong) assert.equal(await send(changes), 401, JSON.stringify(changes));
  assert.equal(await send({}, '{"a": 1}'), 401);
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const own = createHmac("sha256", key).update(`msg_1.${seconds}.${body}`).digest("base64");
  assert.equal(await send({ "webhook-signature": `v1,x v1,${own}` }), 201);
});
