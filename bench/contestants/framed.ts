import { createServer as createHttpServer } from "node:http";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStore } from "../../packages/brain/src/stores/memory.ts";
import { Tokens } from "../../packages/brain/src/auth/tokens.ts";
import { localHand } from "../../packages/hands/src/hand.ts";
import { openPolicy } from "../../packages/hands/src/policy/policy-file.ts";
import { serveTcpHand } from "../../packages/hands/src/program/tcp-hand.ts";

/*
 * A server that answers requests on 127.0.0.1: `plain` echoes frames of JSON, `http` and `grpc` echo bodies of JSON, `ours` is
 * a hand. It says its port on stdout, and behind a slash the token that it wants to see.
 */

/** What one writes without thinking: a frame in, the same value out, each in a write of its own. */
function plain(socket: Socket): void {
  let held = Buffer.alloc(0);
  socket.setNoDelay(true).on("error", () => undefined);
  socket.on("data", (chunk: Buffer | string) => {
    held = Buffer.concat([held, chunk as Buffer]);
    while (held.length >= 4 && held.length >= 4 + held.readUInt32BE(0)) {
      const end = 4 + held.readUInt32BE(0);
      const value: unknown = JSON.parse(held.toString("utf8", 4, end));
      held = held.subarray(end);
      const body = Buffer.from(JSON.stringify(value));
      const header = Buffer.alloc(4);
      header.writeUInt32BE(body.length);
      socket.write(Buffer.concat([header, body]));
    }
  });
}

function http(): Server {
  return createHttpServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(JSON.parse(body)));
    });
  });
}

async function ours(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "vidro-bench-"));
  process.on("SIGTERM", () => {
    rmSync(folder, { recursive: true, force: true });
    process.exit();
  });
  const [workspace, state] = [join(folder, "workspace"), join(folder, "state")];
  for (const path of [workspace, state]) mkdirSync(path);
  const policy = openPolicy({ file: join(folder, "none.json"), workspace, state });
  const hand = await localHand({ id: "bench", workspace, state, policy });
  const tokens = new Tokens(memoryStore().records);
  const { token } = await tokens.create({ owner: "bench", scopes: ["getosinfo"] });
  const verify = (given: string) => tokens.verify(given);
  // The bucket is there and counts; it is only large enough.
  const bounds = { burst: 1e9, perSecond: 1e9 };
  const { port } = await serveTcpHand({ hand, state, host: "127.0.0.1", port: 0, version: "bench", verify, bounds });
  return `${port}/${token}`;
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return String((server.address() as AddressInfo).port);
}

const SERVERS: { readonly [kind: string]: () => Promise<string> } = {
  plain: () => listening(createServer(plain)),
  http: () => listening(http()),
  grpc: async () => (await import("../peers/grpc.js")).serve(),
  ours,
};

const [kind = ""] = process.argv.slice(2);
process.stdout.write(`${await SERVERS[kind]?.()}\n`);
