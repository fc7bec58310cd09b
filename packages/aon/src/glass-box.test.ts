import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { promisify } from "node:util";
import { BOX_LIMITS } from "./limits.ts";
import { eventsIn, get, raw, stage, typesOf, unchunked, watch } from "./stage.fixture.ts";

test("001-04, 001-05, 001-06, 001-07: a glass box answers 200 with its headers and a status before the work is done", async () => {
  const work = Promise.withResolvers<void>();
  await using server = await stage(async (_aon, _request, response) => {
    await work.promise;
    response.json?.({ done: true });
  });
  const response = await fetch(server.url, { headers: { Accept: "application/x-ndjson" } });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "application/x-ndjson");
  assert.equal(response.headers.get("transfer-encoding"), "chunked");
  assert.equal(response.headers.get("cache-control"), "no-cache, no-transform");
  assert.equal(response.headers.get("x-accel-buffering"), "no");
  assert.equal(response.headers.get("x-content-type-options"), "nosniff");
  assert.equal(response.headers.get("vary"), "Accept");
  assert.equal(response.headers.get("content-length"), null);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const first = eventsIn((await reader.read()).value ?? "");
  assert.deepEqual(typesOf(first), ["status"]);
  work.resolve();
  assert.deepEqual(typesOf(eventsIn((await reader.read()).value ?? "")), ["result"]);
  assert.equal((await reader.read()).done, true);
});

test("001-07, 001-11, 001-30: the body is chunked and the server closes the connection behind the terminal event", async () => {
  await using server = await stage((_aon, _request, response) => response.json?.({ id: "usr_123" }));
  const answer = await raw(server.port, get("application/x-ndjson"));
  assert.equal(answer.status, 200);
  assert.match(answer.head, /^transfer-encoding: chunked\r?$/im);
  assert.match(answer.head, /^connection: close\r?$/im);
  assert.match(answer.wire, /\r\n0\r\n\r\n$/);
  assert.deepEqual(typesOf(eventsIn(unchunked(answer.wire))), ["status", "result"]);
});

test("001-09: events arrive one by one as they happen, also at curl", async () => {
  const steps = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using server = await stage(async (aon, _request, response) => {
    for (const [at, step] of steps.entries()) {
      await aon.status(`step ${at}`, 5);
      await step.promise;
    }
    response.json?.(null);
  });
  const socket = connect(server.port, "127.0.0.1");
  socket.write(`${get("application/x-ndjson").join("\r\n")}\r\n\r\n`);
  let seen = "";
  const until = async (words: string): Promise<void> => {
    while (!seen.includes(words)) seen += String((await once(socket, "data"))[0]);
  };
  await until("step 0");
  assert.ok(!seen.includes("step 1"));
  steps[0]?.resolve();
  await until("step 1");
  assert.ok(!seen.includes('"result"'));
  steps[1]?.resolve();
  await until('"result"');
  const { stdout } = await promisify(execFile)("curl", ["-sN", "-H", "Accept: application/x-ndjson", server.url]);
  assert.deepEqual(typesOf(eventsIn(stdout)), ["status", "status", "status", "result"]);
});

test("001-08: silence is broken by a status, again and again, and never after the end", async () => {
  const work = Promise.withResolvers<void>();
  await using server = await stage(
    async (_aon, _request, response) => {
      await work.promise;
      response.json?.(1);
    },
    { heartbeatMs: 20 },
  );
  const response = await fetch(server.url, { headers: { Accept: "application/x-ndjson" } });
  let text = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (eventsIn(text).length === 4) work.resolve();
  }
  const types = typesOf(eventsIn(text));
  assert.equal(types.pop(), "result");
  assert.ok(types.length >= 4 && types.every((type) => type === "status"));
  assert.equal(BOX_LIMITS.heartbeatMs, 10_000);
});

test("001-10, 001-19, 001-20: only the first answer counts, and nothing comes after it", async () => {
  await using server = await stage(async (aon, _request, response) => {
    await aon.status("working");
    response.json?.({ first: true });
    response.json?.({ second: true });
    response.end("third");
    await aon.status("too late");
    throw new Error("far too late");
  });
  const events = await watch(server.url);
  assert.deepEqual(typesOf(events), ["status", "status", "result"]);
  assert.deepEqual(events.at(-1)?.type === "result" && events.at(-1), { ...events.at(-1), data: { first: true } });
});

test("001-12, 001-13, 001-14, 001-16, 001-28: every line parses on its own and has its type and fields", async () => {
  const tricky = 'línea\n"quoted"\r\n\u2028 😀';
  await using server = await stage(async (aon, _request, response) => {
    await aon.intent({
      original_intent: "create_user",
      detected_issue: "invalid_schema",
      decision: "apply_semantic_mapping",
    });
    await aon.healing({
      severity: "medium",
      action: "refresh_token",
      description: tricky,
      metadata: { attempt: 1, provider: "Auth0" },
    });
    await aon.status("Waiting for rate limit backoff...", 200);
    response.json?.({ text: tricky });
  });
  const events = await watch(server.url);
  const [, intent, healing, status, result] = events;
  for (const event of events) {
    assert.ok(Math.abs(event.timestamp - Date.now()) < 60_000);
    assert.match(event.requestId, /^req_[0-9a-f-]{36}$/);
  }
  const stamp = { timestamp: 0, requestId: "r" };
  assert.deepEqual(
    [intent, healing, status, result].map((event) => ({ ...event, ...stamp })),
    [
      {
        type: "intent_analysis",
        original_intent: "create_user",
        detected_issue: "invalid_schema",
        decision: "apply_semantic_mapping",
        ...stamp,
      },
      {
        type: "healing",
        severity: "medium",
        action: "refresh_token",
        description: tricky,
        metadata: { attempt: 1, provider: "Auth0" },
        ...stamp,
      },
      { type: "status", message: "Waiting for rate limit backoff...", estimated_delay_ms: 200, ...stamp },
      { type: "result", data: { text: tricky }, ...stamp },
    ],
  );
});

test("001-18: what a route throws becomes one error with a code, a message and a trace id", async () => {
  await using server = await stage(async (aon) => {
    await aon.status("working");
    throw Object.assign(new Error("All connection retries exhausted."), { code: "DB_UNREACHABLE", status: 503 });
  });
  const events = await watch(server.url);
  const last = events.at(-1);
  assert.deepEqual(typesOf(events), ["status", "status", "error"]);
  assert.ok(last?.type === "error");
  assert.deepEqual(
    [last.code, last.message, last.trace_id],
    ["DB_UNREACHABLE", "All connection retries exhausted.", last.requestId],
  );
});

test("001-18: an answer with a status of failure becomes an error that keeps the route's own words", async () => {
  await using server = await stage(async (aon, _request, response) => {
    response.statusCode = 409;
    await aon.status("working");
    response.json?.({ error: { code: "TAKEN", message: "That name is taken." } });
  });
  const last = (await watch(server.url)).at(-1);
  assert.ok(last?.type === "error");
  assert.deepEqual([last.code, last.message, last.status], ["TAKEN", "That name is taken.", 409]);
});

test("an event that has no JSON form or is too long does not end the work", async () => {
  const circular: Record<string, unknown> = {};
  circular["self"] = circular;
  await using server = await stage(async (aon, _request, response) => {
    await aon.healing({ severity: "low", action: "a", description: "d", metadata: circular as never });
    await aon.status("x".repeat(BOX_LIMITS.eventChars));
    response.json?.("ok");
  });
  const [, circle, long, result] = await watch(server.url);
  assert.ok(circle?.type === "status" && circle.dropped === 1);
  assert.ok(long?.type === "status" && long.dropped === 1);
  assert.ok(result?.type === "result" && result.data === "ok");
});
