import { once } from "node:events";
import { WebSocket } from "ws";
import type { JsonObject } from "@vidro/core";
import { textOrEmpty } from "@vidro/core/wire/executor-ws";

/** A message as it came over the wire. */
export interface WireMessage {
  readonly type: string;
  readonly payload: JsonObject;
  readonly seq?: number;
}

/** What a foreign executor does when it is told to run a tool: the fields of its result besides the ids. */
export type ToolBehaviour = (call: {
  readonly name: string;
  readonly parameters: JsonObject;
  readonly id: string;
}) => JsonObject | undefined;

/** Where executors dial in, and as whom. */
export interface DialTarget {
  readonly url: string;
  readonly token: string;
  readonly path?: string;
}

/** An executor of others: nothing but a WebSocket and the messages of the flows. */
export class ForeignExecutor implements AsyncDisposable {
  readonly told: WireMessage[] = [];
  readonly socket: WebSocket;
  /** Resolves with the close code when the connection is gone. */
  readonly gone: Promise<number>;
  #look: (() => void) | undefined;
  #read = 0;
  #does: ToolBehaviour = () => undefined;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    this.gone = once(socket, "close").then(([code]) => Number(code));
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString("utf8")) as WireMessage;
      this.told.push(message);
      this.#look?.();
      if (message.type === "run_tool") this.#run(message.payload);
    });
    socket.on("error", () => undefined);
    socket.on("close", () => this.#look?.());
  }

  /** Dials; rejects with the status of a refusal. */
  static async dial({ url, token, path = "/executor" }: DialTarget): Promise<ForeignExecutor> {
    const socket = new WebSocket(url.replace("http", "ws") + path, { headers: { authorization: `Bearer ${token}` } });
    const refused = new Promise<never>((_, reject) => {
      socket.once("unexpected-response", (_request, response) => {
        response.resume();
        reject(new Error(String(response.statusCode)));
      });
      socket.once("error", reject);
    });
    const executor = new ForeignExecutor(socket);
    await Promise.race([once(socket, "open"), refused]);
    refused.catch(() => undefined);
    return executor;
  }

  /** Does this when it is told to run a tool; nothing is answered while it gives nothing. */
  does(does: ToolBehaviour): this {
    this.#does = does;
    return this;
  }

  /** Says a message. */
  say(type: string, payload: JsonObject): void {
    this.socket.send(JSON.stringify({ type, payload }));
  }

  /** Shakes hands and gives what the brain said to that. */
  async shake(payload: JsonObject): Promise<JsonObject> {
    this.say("handshake", {
      client_type: "cli",
      known_tools: ["GetWorkingDirectory", "ReadFolder", "ReadFile"],
      ...payload,
    });
    return (await this.hears("handshake_ack", "error")).payload;
  }

  /** The next message of one of these types, among those that were not waited for yet. */
  async hears(...types: readonly string[]): Promise<WireMessage> {
    for (;;) {
      while (this.#read < this.told.length) {
        const message = this.told[this.#read];
        this.#read += 1;
        if (message !== undefined && types.includes(message.type)) return message;
      }
      if (this.socket.readyState === WebSocket.CLOSED)
        throw new Error(`The connection ended without ${types.join(" or ")}: ${JSON.stringify(this.told.slice(-3))}`);
      await new Promise<void>((resolve) => (this.#look = resolve));
    }
  }

  /** All messages of a type so far. */
  all(type: string): readonly JsonObject[] {
    return this.told.filter((message) => message.type === type).map(({ payload }) => payload);
  }

  /** Cuts the connection without a word. */
  cut(): void {
    this.socket.terminate();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.terminate();
    await this.gone;
  }

  #run(payload: JsonObject): void {
    const { generation_id, parameters } = payload;
    const id = textOrEmpty(payload, "tool_id");
    const result = this.#does({ name: textOrEmpty(payload, "tool_name"), parameters: parameters as JsonObject, id });
    if (result !== undefined)
      this.say("tool_result", { tool_id: id, generation_id, duration_ms: 1, result: null, ...result });
  }
}

/** A folder as a foreign executor shows it: what it answers to the looks of the bootstrap. */
export function folderOf(files: { readonly [path: string]: string }): ToolBehaviour {
  return ({ name, parameters }) => {
    if (name === "GetWorkingDirectory") return { status: "success", result: "/home/user/project" };
    if (name === "ReadFolder")
      return { status: "success", result: [...new Set(Object.keys(files).map((path) => path.split("/")[0] ?? ""))] };
    const content = files[textOrEmpty(parameters, "file_path")];
    if (name !== "ReadFile") return undefined;
    if (content === undefined)
      return { status: "error", error: `ENOENT: no such file ${textOrEmpty(parameters, "file_path")}` };
    return { status: "success", result: content };
  };
}
