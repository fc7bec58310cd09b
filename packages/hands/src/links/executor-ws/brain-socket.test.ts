import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { WebSocketServer } from "ws";
import type { WebSocket } from "ws";
import { EXECUTOR_LIMITS } from "@vidro/core";
import type { ExecutorMessage } from "@vidro/core/wire/executor-ws";
import { BrainSocket } from "./brain-socket.ts";

const NEVER = new AbortController().signal;

/** A server on which a test plays the brain. */
async function brain(
  t: TestContext,
  { refuse }: { refuse?: (request: IncomingMessage, response: ServerResponse) => void } = {},
) {
  const http = createServer((request, response) => refuse?.(request, response));
  const sockets: WebSocket[] = [];
  const asked: IncomingMessage[] = [];
  const server = refuse === undefined ? new WebSocketServer({ server: http }) : undefined;
  const opened = Promise.withResolvers<WebSocket>();
  server?.on("connection", (socket, request) => {
    sockets.push(socket);
    asked.push(request);
    opened.resolve(socket);
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  t.after(() => {
    for (const socket of sockets) socket.terminate();
    http.closeAllConnections();
    http.close();
  });
  return { url: `ws://127.0.0.1:${(http.address() as AddressInfo).port}/executor`, opened: opened.promise, asked };
}

/** A connection to it, and what it took. */
async function dial(url: string, more: Partial<Parameters<typeof BrainSocket.open>[0]> = {}) {
  const taken: ExecutorMessage[] = [];
  const heard = Promise.withResolvers<void>();
  const take = (message: ExecutorMessage): void => {
    taken.push(message);
    if (message.type === "last") heard.resolve();
  };
  const socket = await BrainSocket.open({ url, token: "t", heartbeatMs: 60_000, take, signal: NEVER, ...more });
  return { socket, taken, heard: heard.promise };
}

test("a token goes into the header of the request, and none where there is none", async (t) => {
  const { url, asked } = await brain(t);
  const one = await dial(url, { token: "secret" });
  const other = await dial(url, { token: undefined });
  assert.deepEqual(
    asked.map(({ headers }) => headers.authorization),
    ["Bearer secret", undefined],
  );
  for (const { socket } of [one, other]) socket.close();
});

test("messages that are none are passed over, and those behind them are taken", async (t) => {
  const { url, opened } = await brain(t);
  const { taken, heard, socket } = await dial(url);
  const theirs = await opened;
  const rubbish = [
    "",
    "null",
    "5",
    "[]",
    "{",
    '{"type":5}',
    '{"payload":{}}',
    '{"type":"a","payload":5}',
    '{"type":"a","payload":null}',
    '{"type":"a","payload":[]}',
    '{"type":"a","payload":{"__proto__":{"x":1}}}',
    "[".repeat(100_000),
    `{"type":"\\ud800`,
  ];
  for (const text of rubbish) theirs.send(text);
  theirs.send(Buffer.from([0xff, 0xfe]));
  theirs.send('{"type":"bare"}');
  theirs.send('{"type":"numbered","payload":{"a":1},"seq":7}');
  theirs.send('{"type":"odd","payload":{},"seq":"7"}');
  theirs.send(Buffer.from('{"type":"last","payload":{}}'));
  await heard;
  assert.deepEqual(taken, [
    { type: "bare", payload: {} },
    { type: "numbered", payload: { a: 1 }, seq: 7 },
    { type: "odd", payload: {} },
    { type: "last", payload: {} },
  ]);
  socket.close();
});

test("a message beyond the bound ends the connection, and one at the bound does not", async (t) => {
  const { url, opened } = await brain(t);
  const { socket, taken, heard } = await dial(url);
  const theirs = await opened;
  const around = JSON.stringify({ type: "last", payload: { text: "" } }).length;
  const message = (bytes: number): string =>
    JSON.stringify({ type: "last", payload: { text: "x".repeat(bytes - around) } });
  theirs.send(message(EXECUTOR_LIMITS.toldBytes));
  await heard;
  assert.equal(taken.length, 1);
  theirs.send(message(EXECUTOR_LIMITS.toldBytes + 1));
  assert.equal((await socket.gone).code, "CONNECTION_LOST");
  assert.equal(taken.length, 1);
});

test("the fault that ended a connection is the one that the close names, and else the connection was lost", async (t) => {
  const rows: readonly (readonly [said: object, reason: string, code: string])[] = [
    [{ code: "INVALID_TOKEN", message: "no" }, "INVALID_TOKEN", "INVALID_TOKEN"],
    [{ code: "INVALID_TOKEN", message: "no" }, "", "CONNECTION_LOST"],
    [{ code: "INVALID_TOKEN", message: "no" }, "RATE_LIMITED", "CONNECTION_LOST"],
    [{ code: "__proto__" }, "__proto__", "CONNECTION_LOST"],
    [{ code: "constructor", message: 5 }, "BRAIN_UNREACHABLE", "BRAIN_UNREACHABLE"],
    [{ code: 5, error: "words" }, "BRAIN_UNREACHABLE", "BRAIN_UNREACHABLE"],
  ];
  for (const [payload, reason, code] of rows) {
    const { url, opened } = await brain(t);
    const { socket } = await dial(url);
    const theirs = await opened;
    theirs.send(JSON.stringify({ type: "error", payload }));
    theirs.close(4000, reason);
    assert.equal((await socket.gone).code, code, JSON.stringify([payload, reason]));
    assert.equal(socket.send({ type: "a", payload: {} }), false);
  }
});

test("a server that opens no WebSocket is told by its own fault, or by its status where it says none", async (t) => {
  const rows: readonly (readonly [status: number, body: string, code: string, message: RegExp])[] = [
    [401, '{"code":"INVALID_TOKEN","message":"That is no token."}', "INVALID_TOKEN", /^That is no token\.$/],
    [429, '{"code":"RATE_LIMITED","error":"slow","retry_after_ms":7}', "RATE_LIMITED", /^slow$/],
    [403, '{"code":"hasOwnProperty","message":"x"}', "BRAIN_UNREACHABLE", /^x$/],
    [404, "not here", "BRAIN_UNREACHABLE", /status 404/],
    [500, '{"ok":false}', "BRAIN_UNREACHABLE", /status 500/],
    [502, `{"code":"INVALID_TOKEN","message":"${"x".repeat(100_000)}"}`, "BRAIN_UNREACHABLE", /status 502/],
    [200, "", "BRAIN_UNREACHABLE", /status 200/],
    [302, '{"code":5}', "BRAIN_UNREACHABLE", /not reached|cannot be reached|brain/i],
  ];
  for (const [status, body, code, message] of rows) {
    const { url } = await brain(t, {
      refuse: (_, response) => response.writeHead(status, { location: "/x" }).end(body),
    });
    await assert.rejects(dial(url), { code, message }, `${status} ${body.slice(0, 40)}`);
  }
});

test("a server that is not there, breaks off or is left in the middle of dialling is unreachable", async (t) => {
  await assert.rejects(dial("ws://127.0.0.1:1/"), { code: "BRAIN_UNREACHABLE" });
  const { url } = await brain(t, { refuse: (request) => request.socket.destroy() });
  await assert.rejects(dial(url), { code: "BRAIN_UNREACHABLE" });
  await assert.rejects(dial(url, { signal: AbortSignal.abort() }), { code: "BRAIN_UNREACHABLE" });
  const leaving = new AbortController();
  const silent = await brain(t, { refuse: () => leaving.abort() });
  await assert.rejects(dial(silent.url, { signal: leaving.signal }), { code: "BRAIN_UNREACHABLE" });
});

test("a brain that answers no heartbeat is lost, and one that answers stays", async (t) => {
  const { url, opened } = await brain(t);
  const { socket } = await dial(url, { heartbeatMs: 5 });
  const theirs = await opened;
  let pings = 0;
  const beaten = Promise.withResolvers<void>();
  theirs.on("ping", () => {
    pings += 1;
    if (pings === 10) beaten.resolve();
  });
  await beaten.promise;
  assert.equal(socket.send({ type: "a", payload: {} }), true);
  // From now on the brain reads nothing, and so answers nothing.
  theirs.pause();
  assert.equal((await socket.gone).code, "CONNECTION_LOST");
});

test("what is sent arrives as type and payload alone, and nothing is sent after the close", async (t) => {
  const { url, opened } = await brain(t);
  const { socket } = await dial(url);
  const theirs = await opened;
  const got = once(theirs, "message");
  assert.equal(socket.send({ type: "a", payload: { text: "\u2028é\ud800" }, seq: 5 }), true);
  const [data] = (await got) as [Buffer];
  assert.deepEqual(JSON.parse(data.toString()), { type: "a", payload: { text: "\u2028é\ud800" } });
  socket.close();
  assert.equal(socket.send({ type: "b", payload: {} }), false);
  assert.equal((await socket.gone).code, "CONNECTION_LOST");
});
