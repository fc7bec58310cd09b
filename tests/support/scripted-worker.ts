import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import type { Server, Socket } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "@vidro/core";

/* A worker of the contract on a real Unix socket that does as a test says. It shares no code with Vidro. */

/** What a test makes a worker do. */
export interface WorkerScript {
  /** How tokens are sent; plain text by default. */
  readonly flavour?: "json" | "text";
  /** The tokens of each answer. */
  readonly answer?: readonly string[];
  /** Carries a request out in the worker's place; false leaves it to the worker. */
  readonly take?: (request: JsonObject, socket: Socket) => boolean | void;
  /** Fields of `model_info`. */
  readonly info?: JsonObject;
}

/** A worker that is up. */
export interface ScriptedWorker {
  readonly socket: string;
  /** Every request, in order, with the number of its connection. */
  readonly requests: readonly (JsonObject & { readonly connection: number })[];
  /** Resolves with the first request that fits. */
  seen(fits: (request: JsonObject) => boolean): Promise<JsonObject>;
  close(): Promise<void>;
}

/** Starts a worker. */
export async function scriptedWorker(script: WorkerScript = {}): Promise<ScriptedWorker> {
  const folder = mkdtempSync(join(tmpdir(), "worker-"));
  const path = join(folder, "w.sock");
  const requests: (JsonObject & { readonly connection: number })[] = [];
  const waiting = new Set<() => void>();
  const open = new Set<Socket>();
  let connections = 0;
  const server: Server = createServer((socket) => {
    const connection = (connections += 1);
    open.add(socket);
    socket.on("error", () => undefined).on("close", () => open.delete(socket));
    let held = "";
    socket.setEncoding("utf8").on("data", (chunk) => {
      const lines = `${held}${String(chunk)}`.split("\n");
      held = lines.pop() ?? "";
      for (const line of lines) {
        const request = JSON.parse(line) as JsonObject;
        requests.push({ ...request, connection });
        if (script.take === undefined || script.take(request, socket) === false) answerTo(script, request, socket);
        for (const wake of waiting) wake();
      }
    });
  });
  await once(server.listen(path), "listening");
  return {
    socket: path,
    requests,
    seen: (fits) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = requests.find(fits);
          if (found !== undefined) resolve(found);
        };
        waiting.add(look);
        look();
      }),
    async close() {
      for (const socket of open) socket.destroy();
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      await closed;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function answerTo({ flavour, answer = ["hello"], info = {} }: WorkerScript, request: JsonObject, socket: Socket): void {
  const say = (line: JsonObject): void => void socket.write(`${JSON.stringify(line)}\n`);
  switch (request["type"]) {
    case "status":
      return say({ ok: true, status: "running", model_info: info });
    case "create_session":
      return say({ ok: true, session_id: `s-${Math.random()}` });
    case "generate":
      for (const text of answer) {
        if (flavour === "json") say({ type: "token", text });
        else socket.write(`${text}\n`);
      }
      return say({ type: "stop" });
    default:
      return say({ ok: true });
  }
}
