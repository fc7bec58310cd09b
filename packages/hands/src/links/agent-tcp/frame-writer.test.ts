import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { TcpMessage } from "@vidro/core/wire/agent-tcp";
import { FrameWriter } from "./frame-writer.ts";

/** Both ends of a connection over loopback. */
async function pair(t: TestContext): Promise<{ near: Socket; far: Socket }> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const far = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [near] = (await once(server, "connection")) as [Socket];
  t.after(() => {
    near.destroy();
    far.destroy();
    server.close();
  });
  for (const socket of [near, far]) socket.on("error", () => undefined);
  return { near, far };
}

function message(id: string, data: object = {}): TcpMessage {
  return { v: 1, t: "res", id, act: "PING", data } as TcpMessage;
}

/** The frames in some bytes, which must be whole. */
function framesIn(bytes: Buffer): TcpMessage[] {
  const frames: TcpMessage[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = bytes.readUInt32BE(at);
    frames.push(JSON.parse(bytes.subarray(at + 4, at + 4 + length).toString("utf8")) as TcpMessage);
    at += 4 + length;
  }
  return frames;
}

test("frames arrive whole and in order, with lengths in bytes and not in characters", async (t) => {
  const { near, far } = await pair(t);
  const writer = new FrameWriter(near);
  const sent = [message("1", { text: "é😀\u0000" }), message("2"), message("3", { lone: "\uD800" })];
  for (const one of sent) writer.write(one, 10_000);
  writer.end();
  assert.deepEqual(framesIn(Buffer.concat(await far.toArray())), sent);
});

test("all frames of one turn go out in one write", async (t) => {
  const { near } = await pair(t);
  const writes: number[] = [];
  const write = near.write.bind(near);
  near.write = (bytes: Buffer) => {
    writes.push(framesIn(bytes).length);
    return write(bytes);
  };
  const writer = new FrameWriter(near);
  for (const id of ["1", "2", "3"]) writer.write(message(id), 1000);
  assert.deepEqual(writes, []);
  await pause(1);
  assert.deepEqual(writes, [3]);
  writer.writeTogether(() => {
    writer.write(message("4"), 1000);
    writer.write(message("5"), 1000);
  });
  assert.deepEqual(writes, [3, 2], "without waiting for the turn to end");
  writer.writeTogether(() => undefined);
  assert.deepEqual(writes, [3, 2], "nothing is no write");
});

test("frames that were queued before a failure inside are sent all the same", async (t) => {
  const { near, far } = await pair(t);
  const writer = new FrameWriter(near);
  assert.throws(() =>
    writer.writeTogether(() => {
      writer.write(message("1"), 1000);
      throw new Error("broken");
    }),
  );
  writer.write(message("2"), 1000);
  await pause(1);
  writer.end();
  assert.deepEqual(
    framesIn(Buffer.concat(await far.toArray())).map((frame) => "id" in frame && frame.id),
    ["1", "2"],
  );
});

test("a frame over the bound is refused whole, and the others go out", async (t) => {
  const { near, far } = await pair(t);
  const writer = new FrameWriter(near);
  const exact = Buffer.byteLength(JSON.stringify(message("é")));
  writer.write(message("é"), exact);
  assert.throws(() => writer.write(message("é"), exact - 1), {
    code: "PAYLOAD_TOO_LARGE",
    message: new RegExp(`${exact} bytes`),
  });
  writer.end();
  assert.equal(framesIn(Buffer.concat(await far.toArray())).length, 1);
});

test("after the end nothing more is written, and ending twice is no failure", async (t) => {
  const { near, far } = await pair(t);
  const writer = new FrameWriter(near);
  writer.write(message("1"), 1000);
  writer.end();
  writer.end();
  writer.write(message("2"), 1000);
  assert.deepEqual(
    framesIn(Buffer.concat(await far.toArray())).map((frame) => "id" in frame && frame.id),
    ["1"],
  );
});

test("since when a client does not read is known until it reads again", async (t) => {
  const { near, far } = await pair(t);
  const writer = new FrameWriter(near, 64 * 1024);
  assert.deepEqual([writer.blockedSince, writer.isFull], [undefined, false]);
  far.pause();
  const before = performance.now();
  while (!writer.isFull) {
    writer.writeTogether(() => writer.write(message("x", { text: "x".repeat(100_000) }), 1_000_000));
    await pause(0);
  }
  const since = writer.blockedSince ?? 0;
  assert.ok(since >= before && since <= performance.now());
  writer.writeTogether(() => writer.write(message("y"), 1000));
  assert.equal(writer.blockedSince, since, "it counts from the first write that waited");
  far.resume();
  await once(near, "drain");
  assert.deepEqual([writer.blockedSince, writer.isFull], [undefined, false]);
});
