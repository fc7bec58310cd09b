import assert from "node:assert/strict";
import { once } from "node:events";
import { get, request as openRequest } from "node:http";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import { HTTP_LIMITS, isObject } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { IdempotentReplies } from "./idempotency.ts";
import { closed, Served } from "./served.fixture.ts";
import type { Answer } from "./served.fixture.ts";

const post = (served: Served, key: string, name: string, path = "/things"): Promise<Answer> =>
  served.call("POST", path, { body: { name }, headers: { "idempotency-key": key } });

test("a repeated key gives the first answer and does nothing again", async () => {
  await using served = await Served.up();
  const first = await post(served, "k", "x");
  const again = await post(served, "k", "x");
  assert.equal(again.status, 201);
  assert.equal(again.text, first.text);
  assert.equal(first.headers.get("idempotency-replayed"), null);
  assert.equal(again.headers.get("idempotency-replayed"), "true");
  assert.equal(served.trial.made, 1);
  assert.equal((await post(served, "other", "x")).json["made"], 2);
});

test("a repeated key with another body is 409, also while the first is at work", async () => {
  await using served = await Served.up();
  await post(served, "k", "x");
  const other = await post(served, "k", "y");
  assert.equal(other.status, 409);
  assert.equal(other.json["code"], "CONFLICT");
  assert.equal(served.trial.made, 1);
});

test("two requests under one key at the same time are carried out once", async () => {
  await using served = await Served.up();
  const slow = { headers: { "idempotency-key": "k" } };
  const both = [served.call("POST", "/slow", slow), served.call("POST", "/slow", slow)];
  await served.trial.atWork.promise;
  served.trial.go.resolve();
  assert.deepEqual(
    (await Promise.all(both)).map(({ text }) => text),
    ['{"made":1}', '{"made":1}'],
  );
  assert.equal(served.trial.made, 1);
});

test("the same key of another owner, or on another path, is another key", async () => {
  await using served = await Served.up();
  await post(served, "k", "x");
  const { token } = await served.tokens.create({ owner: "bob" });
  const bobs = await served.call("POST", "/things", {
    body: { name: "y" },
    headers: { "idempotency-key": "k", authorization: `Bearer ${token}` },
  });
  assert.equal(bobs.json["made"], 2);
});

test("a stream is told the key and is written again, and another body under it is 409", async () => {
  await using served = await Served.up();
  const open = async (name: string): Promise<Response> =>
    fetch(`${served.server.url}/stream`, {
      method: "POST",
      body: JSON.stringify({ name }),
      headers: { authorization: `Bearer ${served.token}`, "content-type": "application/json", "idempotency-key": "k" },
    });
  for (const response of [await open("x"), await open("x")]) {
    assert.equal(response.status, 200);
    await response.body?.cancel();
  }
  assert.equal(served.trial.keys.length, 2);
  assert.equal(new Set(served.trial.keys).size, 1);
  assert.match(served.trial.keys[0] ?? "", /^[\w-]{43}$/);
  assert.equal((await open("y")).status, 409);
});

test("a key that is empty or too long is refused, and one on GET means nothing", async () => {
  await using served = await Served.up();
  for (const key of ["", "x".repeat(HTTP_LIMITS.keyChars + 1)])
    assert.equal((await post(served, key, "x")).status, 400);
  assert.equal((await served.call("GET", "/open", { headers: { "idempotency-key": "k" } })).status, 200);
});

test("an answer is kept for a day, and then its key is new and old answers go", async () => {
  await using served = await Served.up();
  let now = Date.now();
  const answers = new IdempotentReplies(served.records, () => now);
  let done = 0;
  const ask = (key: string) => answers.once({ key, owner: "ada", asked: 1 }, async () => ({ json: ++done }));
  await ask("a");
  await ask("b");
  now += HTTP_LIMITS.answerMs - 1000;
  assert.equal(((await ask("a")) as { json: unknown }).json, 1);
  now += 2000;
  assert.equal(((await ask("a")) as { json: unknown }).json, 3);
  assert.equal(await served.records.get("idempotency", "b"), undefined);
});

test("work that failed is not kept: the same key tries again", async () => {
  await using served = await Served.up();
  const answers = new IdempotentReplies(served.records);
  const request = { key: "k", owner: "ada", asked: null };
  await assert.rejects(
    answers.once(request, () => Promise.reject(new Error("first"))),
    /first/,
  );
  assert.deepEqual(await answers.once(request, async () => ({ json: 1 })), { json: 1 });
});

test("a token that is revoked closes its streams within a second", async () => {
  await using served = await Served.up();
  const response = await openStream(served);
  const [{ tokenId } = { tokenId: "" }] = await served.tokens.list();
  const startedAt = performance.now();
  await served.tokens.revoke(tokenId);
  await closed(response.socket);
  assert.ok(performance.now() - startedAt < 1000);
  assert.equal(served.trial.streams[0]?.signal.aborted, true);
  assert.equal((await served.call("GET", "/things/x")).status, 401);
});

test("a request whose body comes after its token was revoked is refused, and nothing is done", async () => {
  await using served = await Served.up();
  const { token, tokenId } = await served.tokens.create({ owner: "ada" });
  const sent = openRequest(`${served.server.url}/things`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", expect: "100-continue" },
  });
  sent.flushHeaders();
  // The server asks for the body once it has verified the token.
  await once(sent, "continue");
  const { revoked } = await served.tokens.verify(token);
  await served.tokens.revoke(tokenId);
  if (!revoked.aborted) await once(revoked, "abort");
  sent.end(JSON.stringify({ name: "late" }));
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  assert.equal(response.resume().statusCode, 401);
  assert.equal(served.trial.made, 0);
});

test("a token that expires closes its streams", async () => {
  await using served = await Served.up();
  const { token } = await served.tokens.create({ owner: "ada", expiresAt: Date.now() + 500 });
  const response = await openStream(served, token);
  await closed(response.socket);
  assert.equal(served.trial.streams[0]?.signal.aborted, true);
});

test("a client that leaves aborts its call", async () => {
  await using served = await Served.up();
  const response = await openStream(served);
  const { signal } = served.trial.streams[0]!;
  response.destroy();
  if (!signal.aborted) await once(signal, "abort");
});

test("closing lets requests end, lets streams go, and refuses new ones with 503", async () => {
  await using served = await Served.up();
  const response = await openStream(served);
  const slow = served.call("POST", "/slow");
  await served.trial.atWork.promise;
  const down = served.server.close();
  await closed(response.socket);
  assert.equal((await served.call("GET", "/open")).status, 503);
  served.trial.go.resolve();
  assert.deepEqual((await slow).json, { made: 1 });
  await down;
});

test("closing cuts off what takes longer than its time", async () => {
  await using served = await Served.up({ bounds: { drainMs: 200 } });
  const slow = served.call("POST", "/slow");
  await served.trial.atWork.promise;
  await Promise.all([served.server.close(), assert.rejects(slow)]);
});

test("001-04, 001-05, 001-10, 001-17: any route can be watched through the glass box", async () => {
  await using served = await Served.up();
  const glass = await served.call("GET", "/watched", { headers: { accept: "application/x-ndjson" } });
  assert.equal(glass.headers.get("content-type"), "application/x-ndjson");
  const events = glass.text.trim().split("\n").map(objectOf);
  const kinds = events.map(({ type }) => type);
  assert.deepEqual(kinds, ["status", "status", "intent_analysis", "healing", "result"]);
  assert.deepEqual(events.at(-1)?.["data"], { seen: true });
  assert.ok(events.every(({ requestId }) => requestId === glass.headers.get("x-request-id")));
  const quick = await served.call("GET", "/open", { headers: { accept: "application/x-ndjson" } });
  assert.deepEqual(
    quick.text
      .trim()
      .split("\n")
      .map((line) => objectOf(line)["type"]),
    ["status", "result"],
  );
});

test("001-02, 001-21: a black box gives the answer and sums up the way", async () => {
  await using served = await Served.up();
  const black = await served.call("GET", "/watched");
  assert.equal(black.text, '{"seen":true}');
  assert.equal(black.headers.get("x-aon-report"), "count=3;healed=retry_with_backoff");
});

test("001-25: in production only administrators see how an intent was analysed", async () => {
  await using served = await Served.up({ production: true });
  const accept = "application/x-ndjson";
  const mine = await served.call("GET", "/watched", { headers: { accept } });
  assert.ok(!mine.text.includes("original_intent") && mine.text.includes('"decision":"c"'));
  const { token } = await served.tokens.create({ owner: "root", role: "admin" });
  const all = await served.call("GET", "/watched", { headers: { accept, authorization: `Bearer ${token}` } });
  assert.ok(all.text.includes('"original_intent":"a"'));
});

test("001-26: refusals come with a status of their own through the glass box, too, and what is not acceptable is 406", async () => {
  await using served = await Served.up();
  const ask = async (path: string, accept: string): Promise<number> =>
    (await served.call("GET", path, { headers: { accept } })).status;
  assert.equal(await ask("/nowhere", "application/x-ndjson"), 404);
  assert.equal(await ask("/things/x?n=a", "application/x-ndjson"), 422);
  assert.equal(await ask("/bug", "application/x-ndjson"), 500);
  assert.equal(await ask("/open", "text/html"), 406);
  assert.equal(await ask("/open", "text/html, */*;q=0.1"), 200);
});

test("001-18: a fault behind an open glass box is its last event", async () => {
  await using served = await Served.up();
  const { status, text } = await served.call("GET", "/broken", { headers: { accept: "application/x-ndjson" } });
  assert.equal(status, 200);
  const { timestamp, requestId, trace_id: trace, ...last } = objectOf(text.trim().split("\n").at(-1) ?? "");
  assert.deepEqual(last, { type: "error", code: "MODEL_UNAVAILABLE", message: "The model is down.", status: 503 });
  assert.ok(typeof timestamp === "number" && typeof requestId === "string");
  assert.ok(typeof trace === "string" && /^[\da-f]{32}$/.test(trace));
  assert.equal((await served.call("GET", "/broken")).status, 503);
});

test("001-05: a glass box opens while the work goes on", async () => {
  await using served = await Served.up();
  const slow = fetch(`${served.server.url}/slow`, {
    method: "POST",
    headers: { authorization: `Bearer ${served.token}`, accept: "application/x-ndjson" },
  });
  const response = await slow;
  assert.equal(response.status, 200);
  served.trial.go.resolve();
  assert.deepEqual(
    (await response.text())
      .trim()
      .split("\n")
      .map((line) => objectOf(line)["type"]),
    ["status", "result"],
  );
});

async function openStream(served: Served, token = served.token): Promise<IncomingMessage> {
  const { port } = served.server;
  const request = get({ port, path: "/stream", headers: { authorization: `Bearer ${token}` }, agent: false });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.on("error", () => undefined);
  await once(response, "data");
  return response;
}

function objectOf(line: string): JsonObject {
  const value: unknown = JSON.parse(line);
  return isObject(value) ? value : {};
}
