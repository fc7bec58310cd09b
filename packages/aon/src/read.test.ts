import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import * as fc from "fast-check";
import type { AonEvent } from "./event.ts";
import { AonReadError, readAon, resultOf } from "./read.ts";
import { stage } from "./stage.fixture.ts";

const STAMP = { timestamp: 1, requestId: "req_1" };
const EVENTS: readonly AonEvent[] = [
  { type: "status", message: "né € 😀 \u2028", ...STAMP },
  {
    type: "healing",
    severity: "high",
    action: "refresh_token",
    description: "línea\nnueva",
    metadata: { attempt: 1 },
    ...STAMP,
  },
  { type: "result", data: { name: "João 👩‍🚀", list: [1, null] }, ...STAMP },
];
const BYTES = new TextEncoder().encode(EVENTS.map((event) => `${JSON.stringify(event)}\n`).join(""));

async function* pieces(bytes: Uint8Array, sizes: readonly number[]) {
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield bytes.slice(at, at + size);
    at += size;
  }
}

test("001-22, 001-23: events come out the same however lines and characters are split", async () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(sizes, async (some) => {
      assert.deepEqual(await Array.fromAsync(readAon(pieces(BYTES, some))), EVENTS);
    }),
  );
  assert.deepEqual(await Array.fromAsync(readAon(pieces(BYTES, [1]))), EVENTS);
});

test("001-22: a fetch response, a web stream, a Node stream of bytes and one of text can be read", async () => {
  const headers = { "content-type": "application/x-ndjson" };
  const sources = [
    new Response(BYTES, { headers }),
    new Response(BYTES).body!,
    Readable.from([BYTES.slice(0, 20), BYTES.slice(20)]),
    Readable.from([new TextDecoder().decode(BYTES)]),
  ];
  for (const source of sources) assert.deepEqual(await Array.fromAsync(readAon(source)), EVENTS);
});

test("001-10, 001-23: a stream that ends anywhere before its terminal event is whole is an error", async () => {
  for (let end = 0; end < BYTES.length - 1; end++) {
    const read = Array.fromAsync(readAon(pieces(BYTES.slice(0, end), [7])));
    await assert.rejects(read, (error) => error instanceof AonReadError && error.code === "STREAM_CUT", `${end}`);
  }
  assert.equal((await Array.fromAsync(readAon(pieces(BYTES.slice(0, -1), [7])))).length, EVENTS.length);
});

test("a line that is no event is an error, and an event of an unknown type is passed over", async () => {
  for (const line of ["nonsense", "[1]", '{"no":"type"}', '{"type":7}', "\ufffd{"]) {
    await assert.rejects(Array.fromAsync(readAon(Readable.from([`${line}\n`]))), { code: "BAD_LINE" });
  }
  const text = `{"type":"from_the_future"}\n\n\r\n${JSON.stringify(EVENTS[2])}\n`;
  assert.deepEqual(await Array.fromAsync(readAon(Readable.from([text]))), [EVENTS[2]]);
});

test("nothing is read after the terminal event, and leaving early cancels the stream", async () => {
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    start: (control) => control.enqueue(BYTES),
    cancel: () => void (isCancelled = true),
  });
  assert.equal((await Array.fromAsync(readAon(body))).length, 3);
  assert.ok(isCancelled);
});

test("a server that knows no AON still gives its result, and an HTTP error is thrown with its code", async () => {
  assert.deepEqual(await resultOf(Response.json({ plain: true })), { plain: true });
  const refused = Response.json({ code: "FORBIDDEN", message: "Not yours.", trace_id: "req_9" }, { status: 403 });
  await assert.rejects(resultOf(refused), { code: "FORBIDDEN", message: "Not yours.", status: 403, traceId: "req_9" });
  const headers = { "content-type": "application/json" };
  await assert.rejects(resultOf(new Response("{", { headers })), { code: "BAD_BODY" });
  await assert.rejects(resultOf(new Response("<h1>", { status: 502 })), { code: "HTTP_502", status: 502 });
});

test("001-22: over a real socket the result is given and every event was seen; an error event is thrown", async () => {
  await using server = await stage(async (aon, request, response) => {
    await aon.status("working");
    if (request.url === "/fail") throw Object.assign(new Error("No."), { code: "NOPE", status: 409 });
    response.json?.({ ok: true });
  });
  const seen: string[] = [];
  const headers = { Accept: "application/x-ndjson" };
  assert.deepEqual(await resultOf(await fetch(server.url, { headers }), ({ type }) => seen.push(type)), { ok: true });
  assert.deepEqual(seen, ["status", "status", "result"]);
  await assert.rejects(
    fetch(`${server.url}fail`, { headers }).then((response) => resultOf(response)),
    { code: "NOPE", status: 409 },
  );
});

test("001-10: a connection that the server loses is an error, never an end", async () => {
  const seen = Promise.withResolvers<void>();
  await using server = await stage(async (aon, _request, response) => {
    await aon.status("working");
    await seen.promise;
    response.destroy();
  });
  const events = readAon(await fetch(server.url, { headers: { Accept: "application/x-ndjson" } }));
  assert.equal((await events.next()).value?.type, "status");
  seen.resolve();
  await assert.rejects(Array.fromAsync(events));
});

test("a stream is known by its whole type: another that begins alike is no stream", async () => {
  const response = (type: string): Response => new Response(BYTES, { headers: { "content-type": type } });
  for (const type of ["application/x-ndjson", "Application/X-NDJSON; charset=utf-8", "application/x-ndjson ;a=1"])
    assert.deepEqual(await resultOf(response(type)), { name: "João 👩‍🚀", list: [1, null] });
  for (const type of ["application/x-ndjson-other", "text/html", "application/x-ndjson.v2"])
    await assert.rejects(resultOf(response(type)), { code: "HTTP_200" }, type);
});
