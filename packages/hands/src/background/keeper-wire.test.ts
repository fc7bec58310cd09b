import assert from "node:assert/strict";
import { mkdirSync, readdirSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:net";
import type { Socket } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { PROCESS_LIMITS } from "@vidro/core";
import { scratch } from "../scratch.fixture.ts";
import { askKeeper, withSocketAddress } from "./keeper-wire.ts";

/** A folder with the socket of a keeper that a test plays. */
async function keeper(t: TestContext, serve: (socket: Socket) => void, folder = scratch(t)): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    serve(socket);
  });
  withSocketAddress(folder, (address) => server.listen(address));
  await once(server, "listening");
  t.after(() => server.close());
  return folder;
}

const STOP = { do: "stop" } as const;

test("a request is one line of JSON, and its answer comes in any pieces", async (t) => {
  let heard = "";
  const answer = `{"ok":true,"end":{"exitCode":0,"text":"é😀"}}\n`;
  const folder = await keeper(t, (socket) =>
    socket.on("data", (chunk) => {
      heard += chunk.toString();
      for (const byte of Buffer.from(answer)) socket.write(Buffer.of(byte));
    }),
  );
  const said = await askKeeper(folder, { do: "write", text: "a\nb\u2028\0", close: false });
  assert.deepEqual(said, JSON.parse(answer));
  assert.equal(heard, `${JSON.stringify({ do: "write", text: "a\nb\u2028\0", close: false })}\n`);
});

test("a keeper that ends, says rubbish or says too much is a failure in words", async (t) => {
  const plays: readonly ((socket: Socket) => void)[] = [
    (socket) => socket.destroy(),
    (socket) => socket.end(),
    (socket) => socket.end("{"),
    (socket) => socket.write("rubbish\n"),
    (socket) => socket.write(Buffer.of(0xff, 0x0a)),
    (socket) => socket.write('{"__proto__":{"ok":true}}\n'),
    (socket) => socket.write("x".repeat(PROCESS_LIMITS.messageBytes + 1)),
  ];
  for (const play of plays)
    await assert.rejects(askKeeper(await keeper(t, (socket) => void socket.once("data", () => play(socket))), STOP), {
      code: "TOOL_FAILED",
      message: /^The keeper of the process (?:has ended|cannot be reached)\.$/,
    });
});

test("the first answer counts, and what comes behind it is not read", async (t) => {
  const folder = await keeper(t, (socket) => socket.write('\n\n{"ok":true}\n{"error":"late"}\nrubbish\n'));
  assert.deepEqual(await askKeeper(folder, STOP), { ok: true });
});

test("a folder without a socket, or that is gone, has no keeper", async (t) => {
  const folder = scratch(t);
  await assert.rejects(askKeeper(folder, STOP), { code: "TOOL_FAILED" });
  await assert.rejects(askKeeper(join(folder, "gone"), STOP), { code: "TOOL_FAILED" });
  await assert.rejects(askKeeper(join(folder, "gone".repeat(40)), STOP), { code: "TOOL_FAILED" });
});

test("a keeper is reached in a folder whose path is longer than the address of a socket may be", async (t) => {
  for (const length of [1, 60, 90, 200]) {
    const folder = join(scratch(t), "x".repeat(length), "y".repeat(length));
    mkdirSync(folder, { recursive: true });
    await keeper(t, (socket) => socket.write('{"ok":true}\n'), folder);
    assert.deepEqual(await askKeeper(folder, STOP), { ok: true });
    assert.deepEqual(readdirSync(folder), ["keeper"]);
  }
});

test("asking a keeper leaves no descriptor of this process open", async (t) => {
  const folder = join(scratch(t), "z".repeat(150));
  mkdirSync(folder);
  await keeper(t, (socket) => socket.resume().end('{"ok":true}\n'), folder);
  await askKeeper(folder, STOP);
  const open = (): number => readdirSync("/proc/self/fd").length;
  const before = open();
  for (let nth = 0; nth < 20; nth += 1) await askKeeper(folder, STOP);
  await assert.rejects(askKeeper(join(folder, "gone"), STOP));
  // Sockets are closed in the turns that follow; one that is not would keep this test from its end.
  while (open() > before) await new Promise((resolve) => setTimeout(resolve, 5));
});
