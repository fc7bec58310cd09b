import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { test } from "node:test";
import { HTTP_LIMITS } from "@vidro/core";
import { allOf, Served } from "./served.fixture.ts";

const PROCESSING = "HTTP/1.1 102 Processing\r\n\r\n";

/** Sends a request for slow work; what comes back is gathered until the server closes. */
async function slow(served: Served, version: string, ...headers: readonly string[]) {
  const socket = await served.socket();
  const all = allOf(socket);
  socket.write(served.head(`POST /slow HTTP/${version}`, "Connection: close", ...headers));
  return { socket, all };
}

/** Waits until a socket has been told so often that its answer is worked on. */
async function told(socket: Socket, times: number): Promise<void> {
  for (let seen = 0; seen < times;) {
    const [chunk] = (await once(socket, "data")) as [string];
    seen += chunk.split(PROCESSING).length - 1;
  }
}

test("001-08 a black box that is asked to says 102 while it works, and only then", async () => {
  await using served = await Served.up({ bounds: { processingMs: 20 } });
  const hearing = await slow(served, "1.1", "Prefer: respond-async, Processing; q=1");
  const deaf = [await slow(served, "1.1"), await slow(served, "1.1", "Prefer: return=minimal")];
  const old = await slow(served, "1.0", "Prefer: processing");
  await told(hearing.socket, 3);
  served.trial.go.resolve();
  const heard = await hearing.all;
  assert.match(heard, /^(?:HTTP\/1\.1 102 Processing\r\n\r\n){3,}HTTP\/1\.1 200 OK\r\n/);
  assert.match(heard, /\r\npreference-applied: processing\r\n/i);
  assert.match(heard, /\{"made":\d\}$/);
  for (const { all } of [...deaf, old]) {
    const answer = await all;
    assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/);
    assert.doesNotMatch(answer, / 102 |preference-applied/i);
  }
});

test("001-08 a stream is not interrupted by a 102, and the pace is that of a heartbeat", async () => {
  await using served = await Served.up({ bounds: { processingMs: 5 } });
  const socket = await served.socket();
  let text = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  socket.write(served.head("GET /stream HTTP/1.1", "Prefer: processing"));
  const hearing = await slow(served, "1.1", "Prefer: processing");
  await told(hearing.socket, 3);
  assert.match(text, /^HTTP\/1\.1 200 OK\r\n/);
  assert.doesNotMatch(text, / 102 /);
  socket.destroy();
  assert.equal(HTTP_LIMITS.processingMs, 10_000);
});
