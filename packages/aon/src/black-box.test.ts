import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { test } from "node:test";
import type { HeldEvents } from "./black-box.ts";
import { BOX_LIMITS } from "./limits.ts";
import { get, raw, stage, watch } from "./stage.fixture.ts";

const PAYLOAD = { id: "usr_123", status: "created", warning: null, words: 'é "€" 😀\n', list: [1, 2.5, { deep: [] }] };

test("001-01, 001-02, 001-27: without the header, with JSON and with anything the answer is plain JSON, byte for byte", async () => {
  await using server = await stage(async (aon, _request, response) => {
    await aon.status("working");
    response.json?.(PAYLOAD);
  });
  for (const accept of [undefined, "application/json", "*/*"]) {
    const answer = await raw(server.port, get(accept, "Connection: close"));
    assert.equal(answer.status, 200);
    assert.equal(answer.wire, JSON.stringify(PAYLOAD));
    assert.match(answer.head, /^content-type: application\/json; charset=utf-8\r?$/im);
    assert.match(answer.head, new RegExp(`^content-length: ${Buffer.byteLength(JSON.stringify(PAYLOAD))}\r?$`, "im"));
    assert.match(answer.head, /^vary: Accept\r?$/im);
  }
});

test("001-17: result.data is the body of the black box", async () => {
  await using server = await stage((_aon, _request, response) => response.json?.(PAYLOAD));
  const body: unknown = await (await fetch(server.url)).json();
  const last = (await watch(server.url)).at(-1);
  assert.ok(last?.type === "result");
  assert.deepEqual(last.data, body);
});

test("001-02, 001-21: events are held, given to the log, and summed up in a header", async () => {
  const held: HeldEvents[] = [];
  await using server = await stage(
    async (aon, _request, response) => {
      await aon.status("working");
      for (const action of ["refresh_token", "naïve, action\r\nX: y", "refresh_token"]) {
        await aon.healing({ severity: "low", action, description: "d", metadata: { attempt: 1, success: true } });
      }
      await aon.healing({ severity: "medium", action: "failed_one", description: "d", metadata: { attempt: 1 } });
      response.json?.(1);
    },
    { onHeld: (some) => held.push(some) },
  );
  const response = await fetch(server.url);
  assert.equal(response.headers.get("x-aon-report"), "count=5;healed=refresh_token,na_ve__action__X__y");
  assert.equal(await response.text(), "1");
  assert.deepEqual(
    held[0]?.events.map(({ type }) => type),
    ["status", "healing", "healing", "healing", "healing"],
  );
});

test("001-32: no more than 1000 events are held, and a marker tells of the others", async () => {
  let held: HeldEvents | undefined;
  await using server = await stage(
    async (aon, _request, response) => {
      for (let count = 0; count < 1234; count++) await aon.status(`event ${count}`);
      response.json?.(1);
    },
    { onHeld: (some) => (held = some) },
  );
  const response = await fetch(server.url);
  assert.equal(response.headers.get("x-aon-report"), "count=1234;healed=;dropped=234");
  assert.equal(held?.events.length, BOX_LIMITS.heldEvents + 1);
  const marker = held?.events.at(-1);
  assert.ok(marker?.type === "status" && marker.dropped === 234);
  assert.equal(BOX_LIMITS.heldEvents, 1000);
});

test("001-21: the report has at most 4 KiB", async () => {
  await using server = await stage(async (aon, _request, response) => {
    for (let count = 0; count < 500; count++) {
      await aon.healing({
        severity: "low",
        action: `action_number_${count}`,
        description: "d",
        metadata: { success: true },
      });
    }
    response.json?.(1);
  });
  const report = (await fetch(server.url)).headers.get("x-aon-report") ?? "";
  assert.ok(report.length <= 4096 && report.length > 4000);
  assert.match(report, /^count=500;healed=(?:action_number_\d+,)+\.\.\.$/);
});

test("001-03: a black box has its own timeout, answers by itself, and a late answer is no second one", async () => {
  const late = Promise.withResolvers<void>();
  await using server = await stage(
    async (aon, _request, response) => {
      await new Promise((resolve) => aon.signal.addEventListener("abort", resolve));
      response.json?.({ late: true });
      late.resolve();
    },
    { timeoutMs: 30 },
  );
  const response = await fetch(server.url);
  assert.equal(response.status, 504);
  const body = (await response.json()) as Record<string, unknown>;
  assert.equal(body["code"], "TIMEOUT");
  assert.match(String(body["trace_id"]), /^req_/);
  await late.promise;
  assert.equal(BOX_LIMITS.blackMs, 120_000);
});

test("001-03: a glass box that takes too long ends in an error", async () => {
  await using server = await stage(() => new Promise(() => undefined), { glassTimeoutMs: 30 });
  const last = (await watch(server.url)).at(-1);
  assert.ok(last?.type === "error" && last.code === "TIMEOUT");
});

test("001-08: slow work sends 102 before the final status to who asks for it, and only where the HTTP version allows", async () => {
  const work = Promise.withResolvers<void>();
  await using server = await stage(
    async (_aon, _request, response) => {
      await work.promise;
      response.json?.("done");
    },
    { heartbeatMs: 15 },
  );
  const old = raw(server.port, ["GET / HTTP/1.0", "Accept: application/json", "Prefer: processing"]);
  const modern = raw(server.port, get("application/json", "Connection: close", "Prefer: processing"));
  const unasked = raw(server.port, get("application/json", "Connection: close"));
  const fetched = fetch(server.url);
  const watched = request(server.url, { headers: { Prefer: "processing" } }).end();
  for (let count = 0; count < 3; count++)
    assert.equal(((await once(watched, "information")) as [{ statusCode: number }])[0].statusCode, 102);
  work.resolve();
  const { all, wire } = await modern;
  assert.ok(all.split("HTTP/1.1 102 Processing\r\n\r\n").length > 2);
  assert.ok(all.lastIndexOf("102 Processing") < all.indexOf("200 OK"));
  assert.equal(wire, '"done"');
  assert.match(all, /preference-applied: processing/i);
  assert.ok(!(await old).all.includes("102"));
  assert.ok(!(await unasked).all.includes("102"));
  assert.equal(await (await fetched).text(), '"done"');
});

test("001-26: neither type acceptable is a 406 that says what there is", async () => {
  let ran = false;
  await using server = await stage(() => (ran = true));
  const response = await fetch(server.url, { headers: { Accept: "image/png" } });
  assert.equal(response.status, 406);
  assert.equal(response.headers.get("vary"), "Accept");
  const body = (await response.json()) as Record<string, unknown>;
  assert.equal(body["code"], "NOT_ACCEPTABLE");
  assert.match(String(body["message"]), /application\/x-ndjson/);
  assert.equal(ran, false);
});
