import assert from "node:assert/strict";
import { getEventListeners, once } from "node:events";
import { test } from "node:test";
import { closed, Served } from "./served.fixture.ts";

const VANISHED = 300;

test("F9: a request that is cut off with a reset after any number of bytes can be repeated, and is done once", async () => {
  await using served = await Served.up();
  const body = '{"name":"x"}';
  const whole = (key: number): Buffer =>
    Buffer.from(
      served.head(
        "POST /things HTTP/1.1",
        "Content-Type: application/json",
        `Idempotency-Key: ${String(key).padStart(6, "0")}`,
        `Content-Length: ${body.length}`,
        "Connection: close",
      ) + body,
    );
  const { length } = whole(0);
  for (let bytes = 0; bytes <= length; bytes++) {
    const cut = await served.socket();
    await new Promise<void>((resolve) => cut.write(whole(bytes).subarray(0, bytes), () => resolve()));
    cut.resetAndDestroy();
    assert.match(await served.raw(whole(bytes)), /^HTTP\/1\.1 201 /, `cut after ${bytes} bytes`);
  }
  assert.equal(served.trial.made, length + 1);
});

test("F24: clients that connect and vanish leave nothing behind", async () => {
  await using served = await Served.up();
  const { revoked } = await served.tokens.verify(served.token);
  for (let turn = 0; turn < VANISHED; turn++) {
    const socket = await served.socket();
    socket.write(served.head("GET /stream HTTP/1.1"));
    await once(socket, "data");
    socket.resetAndDestroy();
    await closed(socket);
  }
  const isOpen = (): boolean => !/^vidro_streams_open 0$/m.test(served.metrics.text());
  while (isOpen()) await new Promise(setImmediate);
  assert.equal(served.trial.streams.length, VANISHED);
  assert.ok(served.trial.streams.every(({ signal }) => signal.aborted));
  assert.equal(getEventListeners(revoked, "abort").length, 0);
});

test("a client that closes only its sending half still gets its answer", async () => {
  await using served = await Served.up();
  const socket = await served.socket();
  let text = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  socket.end(served.head("GET /open HTTP/1.1", "Connection: close"));
  await closed(socket);
  assert.match(text, /^HTTP\/1\.1 200 [^]*\{"owner":""\}$/);
});

test("a stream that breaks before its first byte is a fault, and one that breaks later is cut off", async () => {
  await using served = await Served.up();
  const early = await served.call("GET", "/torn/0");
  assert.equal(early.status, 500);
  assert.equal(early.json["code"], "JOURNAL_CORRUPT");
  const late = await fetch(`${served.server.url}/torn/5`, { headers: { authorization: `Bearer ${served.token}` } });
  assert.equal(late.status, 200);
  await assert.rejects(late.text());
  assert.match(served.metrics.text(), /^vidro_streams_open 0$/m);
});
