import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { BOX_LIMITS } from "./limits.ts";
import { eventsIn, get, stage, typesOf, unchunked } from "./stage.fixture.ts";

const GLASS = { headers: { Accept: "application/x-ndjson" } };
const WORDS = "w".repeat(16 * 1024);

/** A client that asks and reads nothing until it is told to. */
function sleeper(port: number) {
  const socket = connect(port, "127.0.0.1").pause();
  socket.write(`${get("application/x-ndjson").join("\r\n")}\r\n\r\n`);
  return socket;
}

test("001-09: a route that awaits its events waits for a slow reader, who gets every one of them", async () => {
  let [sent, isWaiting] = [0, false];
  const stuck = Promise.withResolvers<void>();
  await using server = await stage(async (aon, _request, response) => {
    const timer = setInterval(() => {
      if (isWaiting) stuck.resolve();
      isWaiting = true;
    }, 50);
    for (; sent < 1000; sent++) {
      await aon.status(WORDS);
      isWaiting = false;
    }
    clearInterval(timer);
    response.json?.(sent);
  });
  const socket = sleeper(server.port);
  await stuck.promise;
  assert.ok(sent < 1000);
  let text = "";
  socket.on("data", (chunk) => (text += chunk.toString())).resume();
  await once(socket, "end");
  const events = eventsIn(unchunked(text.slice(text.indexOf("\r\n\r\n") + 4)));
  assert.equal(events.length, 1002);
  assert.equal(events.at(-1)?.type, "result");
});

test("001-32: a route that does not wait loses events beyond the bound, and a marker says how many", async () => {
  await using server = await stage(async (aon, _request, response) => {
    await aon.status("first");
    for (let count = 0; count < 2000; count++) void aon.status(WORDS);
    await aon.status("the reader keeps up again");
    response.json?.("end");
  });
  const socket = sleeper(server.port);
  await once(socket, "connect");
  let text = "";
  socket.on("data", (chunk) => (text += chunk.toString())).resume();
  await once(socket, "end");
  const events = eventsIn(unchunked(text.slice(text.indexOf("\r\n\r\n") + 4)));
  const markers = events.filter((event) => event.type === "status" && event.dropped !== undefined);
  const dropped = markers.reduce((sum, event) => sum + (event.type === "status" ? (event.dropped ?? 0) : 0), 0);
  assert.ok(dropped > 0);
  // The first status, "first", 2000 and one more were emitted; each came or was counted.
  assert.equal(events.length - markers.length - 1 + dropped, 2003);
  assert.ok(events.length * WORDS.length < 4 * BOX_LIMITS.unsentBytes + 64 * WORDS.length);
  assert.equal(typesOf(events).at(-1), "result");
});

test("001-10, 001-32: the marker of events that are missing stands before the end, also when the end comes at once", async () => {
  await using server = await stage((aon, _request, response) => {
    for (let count = 0; count < 2000; count++) void aon.status(WORDS);
    response.json?.("end");
  });
  const [marker, result] = eventsIn(await (await fetch(server.url, GLASS)).text()).slice(-2);
  assert.ok(marker?.type === "status" && (marker.dropped ?? 0) > 0);
  assert.equal(result?.type, "result");
});

test("a reader that takes nothing for too long is cut off, and the route learns of it", async () => {
  const gone = Promise.withResolvers<void>();
  await using server = await stage(
    async (aon) => {
      aon.signal.addEventListener("abort", () => gone.resolve());
      while (!aon.signal.aborted) await aon.status(WORDS);
    },
    { drainMs: 50 },
  );
  const socket = sleeper(server.port);
  socket.on("error", () => undefined);
  await gone.promise;
  socket.destroy();
});

test("a reader that does not take the end is cut off as well", async () => {
  const closed = Promise.withResolvers<boolean>();
  await using server = await stage(
    (_aon, _request, response) => {
      response.on("close", () => closed.resolve(response.writableFinished));
      response.json?.("r".repeat(BOX_LIMITS.answerBytes - 2));
    },
    { drainMs: 50 },
  );
  const socket = sleeper(server.port);
  socket.on("error", () => undefined);
  assert.equal(await closed.promise, false);
  socket.destroy();
});

test("a reader that goes away stops the work through the signal", async () => {
  const gone = Promise.withResolvers<void>();
  await using server = await stage(async (aon) => {
    aon.signal.addEventListener("abort", () => gone.resolve());
    await gone.promise;
  });
  const control = new AbortController();
  await fetch(server.url, { ...GLASS, signal: control.signal });
  control.abort();
  await gone.promise;
});
