import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { asFault, Fault, MOUNT_LIMITS, SECOND_MS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { encodeNdjson, ndjsonDecoder } from "@vidro/core/codec";
import { oneLine } from "@vidro/core/text";
import { readRpcMessage, rpcFailure, rpcNotification, rpcRequest, rpcResult, RPC_CODES } from "@vidro/core/wire/mcp";
import type { RpcMessage } from "@vidro/core/wire/mcp";
import { withoutLeaks } from "../exec/leaked-descriptors.ts";
import { lostFault, serverRefusal } from "./channel.ts";
import type { ChannelRequest, ServerChannel } from "./channel.ts";
import type { MountedServer, ProgramServer } from "./mount-file.ts";

/** Where a server is started, and the environment that it gets beside its own. */
export interface ServerPlace {
  readonly workspace: string;
  readonly env: { readonly [name: string]: string };
  /** Tokens of servers that a person has signed in at. */
  readonly tokens?: { find(server: { readonly name: string; readonly url: string }): Promise<string | undefined> };
}

interface OpenRequest {
  resolve(result: JsonObject): void;
  reject(fault: Fault): void;
}

const WHY_CHARS = 300;

/** Starts a server and talks to it line by line; rejects with TOOL_FAILED when it cannot be started. */
export async function openStdioChannel(
  server: MountedServer & ProgramServer,
  place: ServerPlace,
): Promise<ServerChannel> {
  const child = spawn(server.command, server.args, {
    cwd: place.workspace,
    env: { ...place.env, ...server.env },
    stdio: withoutLeaks(["pipe", "pipe", "pipe"]),
    // Its own group, so that what it has started ends with it.
    detached: true,
  });
  try {
    await new Promise((resolve, reject) => child.once("spawn", resolve).once("error", reject));
  } catch (cause) {
    throw new Fault("TOOL_FAILED", `The server ${server.name} cannot be started: ${asFault(cause).message}`, { cause });
  }
  return new StdioChannel(server.name, child);
}

class StdioChannel implements ServerChannel {
  readonly #name: string;
  readonly #child: ChildProcess;
  readonly #open = new Map<number, OpenRequest>();
  readonly #gone: Promise<void>;
  #last = 0;
  #why: string | undefined;
  #stderr = "";
  #hasChanged = false;
  /** Messages that answer nothing, in the second that began at `since`. */
  #unasked = { since: 0, count: 0 };

  constructor(name: string, child: ChildProcess) {
    this.#name = name;
    this.#child = child;
    const decoder = ndjsonDecoder(MOUNT_LIMITS.messageBytes);
    child.stdout?.on("data", (chunk: Buffer) => {
      for (const item of decoder.push(chunk)) {
        if (item.ok) this.#take(readRpcMessage(item.value));
        else if (item.fault.code === "PAYLOAD_TOO_LARGE")
          this.#end(`sent a message of more than ${MOUNT_LIMITS.messageBytes} bytes`);
        // Other lines are no messages: some servers greet on stdout.
        else this.#countUnasked();
      }
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString("utf8")).slice(-MOUNT_LIMITS.stderrBytes);
    });
    child.stdin?.on("error", () => undefined);
    this.#gone = new Promise((resolve) =>
      child.once("close", (code, signal) => {
        const said = oneLine(this.#stderr.trim().slice(-WHY_CHARS), WHY_CHARS);
        this.#lose(this.#why ?? `ended (${signal ?? `exit code ${code}`}${said === "" ? "" : `: ${said}`})`);
        resolve();
      }),
    );
  }

  get isOpen(): boolean {
    return this.#why === undefined;
  }

  takeChange(): boolean {
    const hasChanged = this.#hasChanged;
    this.#hasChanged = false;
    return hasChanged;
  }

  async ask({ method, params, signal }: ChannelRequest): Promise<JsonObject> {
    const id = (this.#last += 1);
    if (this.#why !== undefined) throw new Fault("TOOL_FAILED", `The server ${this.#name} ${this.#why}.`);
    return new Promise((resolve, reject) => {
      const cancel = (): void => {
        this.#open.delete(id);
        void this.tell("notifications/cancelled", { requestId: id, reason: "The action was stopped." });
        reject(lostFault(this.#name, "was told to stop"));
      };
      const settle = (): void => signal.removeEventListener("abort", cancel);
      signal.addEventListener("abort", cancel, { once: true });
      this.#open.set(id, {
        resolve: (result) => (settle(), resolve(result)),
        reject: (fault) => (settle(), reject(fault)),
      });
      if (signal.aborted) return cancel();
      this.#child.stdin?.write(encodeNdjson(rpcRequest(id, method, params)));
    });
  }

  async tell(method: string, params: JsonObject): Promise<void> {
    if (this.isOpen) this.#child.stdin?.write(encodeNdjson(rpcNotification(method, params)));
  }

  agree(): void {
    // Messages on stdio have no headers.
  }

  /** Closes its input, then ends it and what it has started. */
  async close(): Promise<void> {
    this.#why ??= "was closed";
    this.#child.stdin?.end();
    const late = setTimeout(() => this.#kill(), MOUNT_LIMITS.endMs);
    await this.#gone;
    clearTimeout(late);
    this.#kill();
  }

  #take(message: RpcMessage | undefined): void {
    if (message?.kind === "result") return this.#settle(message.id, (open) => open.resolve(message.result));
    if (message?.kind === "error" && message.id !== undefined)
      return this.#settle(message.id, (open) => open.reject(serverRefusal(this.#name, message.error)));
    this.#countUnasked();
    if (message?.kind === "notification" && message.method === "notifications/tools/list_changed")
      this.#hasChanged = true;
    if (message?.kind !== "request") return;
    // A server of an earlier revision may ask whether this end is alive; nothing else is offered to it.
    const error = { code: RPC_CODES.method, message: "This client offers no methods." };
    const answer = message.method === "ping" ? rpcResult(message.id, {}) : rpcFailure(message.id, error);
    this.#child.stdin?.write(encodeNdjson(answer));
  }

  #settle(id: string | number, how: (open: OpenRequest) => void): void {
    const open = this.#open.get(Number(id));
    if (open === undefined) return this.#countUnasked();
    this.#open.delete(Number(id));
    how(open);
  }

  #countUnasked(): void {
    const now = performance.now();
    if (now - this.#unasked.since > SECOND_MS) this.#unasked = { since: now, count: 0 };
    this.#unasked.count += 1;
    if (this.#unasked.count > MOUNT_LIMITS.unaskedMessages)
      this.#end(`sent more than ${MOUNT_LIMITS.unaskedMessages} messages in a second that nothing had asked for`);
  }

  #end(why: string): void {
    if (this.#why !== undefined) return;
    this.#lose(why);
    this.#kill();
  }

  #lose(why: string): void {
    this.#why ??= why;
    for (const open of this.#open.values()) open.reject(lostFault(this.#name, why));
    this.#open.clear();
  }

  #kill(): void {
    try {
      process.kill(-(this.#child.pid ?? Number.NaN), "SIGKILL");
    } catch {
      // It is gone.
    }
  }
}
