import type { Readable } from "node:stream";
import { asFault, Fault, FAULTS } from "@vidro/core";
import { ndjsonDecoder } from "@vidro/core/codec";
import { readRpcMessage, rpcFailure, rpcNotification, rpcRequest, rpcResult, RPC_CODES } from "@vidro/core/wire/mcp";
import type { RpcMessage } from "@vidro/core/wire/mcp";
import type { JsonObject } from "@vidro/core";
import { waitForReader, writeJson } from "../../program/output.ts";
import type { AcpAgent, Editor } from "./acp-agent.ts";

interface OpenAsk {
  resolve(result: JsonObject): void;
  reject(fault: Fault): void;
}

/** The editor at the other end of stdin and stdout, as lines of JSON-RPC in both directions. */
export class EditorLink implements Editor {
  readonly #agent: AcpAgent;
  readonly #asked = new Map<number, OpenAsk>();
  #last = 0;

  constructor(agent: AcpAgent) {
    this.#agent = agent;
  }

  /** Serves the editor until its input ends. */
  async serve(input: Readable): Promise<void> {
    const decoder = ndjsonDecoder();
    for await (const bytes of input) {
      for (const item of decoder.push(bytes as Uint8Array)) {
        const message = item.ok ? readRpcMessage(item.value) : undefined;
        if (message === undefined)
          writeJson(rpcFailure(undefined, { code: RPC_CODES.parse, message: "The line is no message." }));
        else this.#take(message);
      }
      await waitForReader();
    }
    for (const asked of this.#asked.values()) asked.reject(new Fault("APPROVAL_UNASKED", "The editor is gone."));
  }

  readonly tell = (method: string, params: JsonObject): void => writeJson(rpcNotification(method, params));

  readonly ask = (method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(new Fault("CONFLICT", "The question is closed."));
      const id = (this.#last += 1);
      const settled = (): boolean => this.#asked.delete(id);
      signal.addEventListener("abort", () => {
        if (settled()) reject(new Fault("CONFLICT", "The question is closed."));
      });
      this.#asked.set(id, {
        resolve: (result) => (settled(), resolve(result)),
        reject: (fault) => (settled(), reject(fault)),
      });
      writeJson(rpcRequest(id, method, params));
    });

  #take(message: RpcMessage): void {
    switch (message.kind) {
      case "request":
        return void this.#answer(message);
      case "notification":
        return message.method === "session/cancel" ? this.#agent.cancel(message.params) : undefined;
      case "result":
        return this.#asked.get(Number(message.id))?.resolve(message.result);
      case "error":
        return this.#asked.get(Number(message.id))?.reject(new Fault("APPROVAL_UNASKED", message.error.message));
    }
  }

  async #answer({ id, method, params }: Extract<RpcMessage, { kind: "request" }>): Promise<void> {
    try {
      const answer = this.#agent.request(method, params, this);
      if (answer === undefined) {
        const error = { code: RPC_CODES.method, message: `There is no method ${method.slice(0, 64)}.` };
        return writeJson(rpcFailure(id, error));
      }
      writeJson(rpcResult(id, await answer));
    } catch (thrown) {
      const { code, message } = asFault(thrown);
      const isTheirs = FAULTS[code].http < 500;
      const data = { code, next: FAULTS[code].next };
      writeJson(rpcFailure(id, { code: isTheirs ? RPC_CODES.params : RPC_CODES.internal, message, data }));
    }
  }
}
