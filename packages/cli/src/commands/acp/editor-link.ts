import type { Readable } from "node:stream";
import { ACP_LIMITS, asFault, FAULTS, isObject } from "@vidro/core";
import { ndjsonDecoder } from "@vidro/core/codec";
import { readRpcMessage, rpcFailure, rpcNotification, rpcRequest, rpcResult, RPC_CODES } from "@vidro/core/wire/mcp";
import type { RpcMessage } from "@vidro/core/wire/mcp";
import type { Json, JsonObject } from "@vidro/core";
import { waitForReader, writeJson } from "../../program/output.ts";
import type { AcpAgent } from "./acp-agent.ts";
import type { Editor, EditorReply } from "./editor.ts";

/** The editor at the other end of stdin and stdout, as lines of JSON-RPC in both directions. */
export class EditorLink implements Editor {
  readonly #agent: AcpAgent;
  readonly #asked = new Map<number, (reply: EditorReply) => void>();
  #last = 0;
  #isGone = false;

  constructor(agent: AcpAgent) {
    this.#agent = agent;
  }

  /** Serves the editor until its input ends. */
  async serve(input: Readable): Promise<void> {
    const decoder = ndjsonDecoder(ACP_LIMITS.lineBytes);
    for await (const bytes of input) {
      for (const item of decoder.push(bytes as Uint8Array)) {
        const message = item.ok ? readEditorMessage(item.value) : undefined;
        if (message === undefined)
          writeJson(rpcFailure(undefined, { code: RPC_CODES.parse, message: "The line is no message." }));
        else this.#take(message);
      }
      await waitForReader();
    }
    this.#isGone = true;
    for (const settle of this.#asked.values()) settle(GONE);
  }

  readonly tell = (method: string, params: JsonObject): void => writeJson(rpcNotification(method, params));

  readonly ask = (method: string, params: JsonObject, signal: AbortSignal): Promise<EditorReply> =>
    new Promise((resolve) => {
      if (this.#isGone) return resolve(GONE);
      if (signal.aborted) return resolve(UNANSWERED);
      const id = (this.#last += 1);
      const settle = (reply: EditorReply): void => {
        signal.removeEventListener("abort", leave);
        this.#asked.delete(id);
        resolve(reply);
      };
      const leave = (): void => settle(UNANSWERED);
      signal.addEventListener("abort", leave);
      this.#asked.set(id, settle);
      writeJson(rpcRequest(id, method, params));
    });

  #take(message: EditorMessage): void {
    switch (message.kind) {
      case "request":
        return void this.#answer(message);
      case "notification":
        return message.method === "session/cancel" ? this.#agent.cancel(message.params) : undefined;
      case "result":
        return this.#asked.get(Number(message.id))?.({ kind: "result", result: message.result });
      case "error":
        return this.#asked.get(Number(message.id))?.({ kind: "refused", why: message.error.message });
      case "rubbish":
        return this.#asked.get(message.id)?.({ kind: "silent", why: "Its answer has no result that can be read." });
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

const GONE: EditorReply = { kind: "silent", why: "The editor is gone." };
const UNANSWERED: EditorReply = { kind: "silent", why: "It was not waited for any longer." };

/** A message of an editor; an answer without a result that can be read is an answer still. */
type EditorMessage = RpcMessage | { readonly kind: "rubbish"; readonly id: number };

function readEditorMessage(value: Json): EditorMessage | undefined {
  // Earlier editors answer `null` where there is nothing to say.
  if (isObject(value) && value["result"] === null) return readRpcMessage({ ...value, result: {} });
  const message = readRpcMessage(value);
  if (message !== undefined || !isObject(value) || typeof value["id"] !== "number" || "method" in value) return message;
  return { kind: "rubbish", id: value["id"] };
}
