import type { Readable } from "node:stream";
import { asFault, isObject, MCP_LIMITS, textIn } from "@vidro/core";
import { ndjsonDecoder, parseJson, sseDecoder } from "@vidro/core/codec";
import type { NdjsonItem } from "@vidro/core/codec";
import {
  META_KEYS,
  metaOf,
  mirroredHeaders,
  readRpcMessage,
  rpcFailure,
  rpcRequest,
  RPC_CODES,
} from "@vidro/core/wire/mcp";
import type { RpcId, RpcMessage } from "@vidro/core/wire/mcp";
import { oneLine } from "@vidro/core/text";
import type { Json, JsonObject } from "@vidro/core";
import type { BrainAddress } from "../../brain-api/brain-address.ts";
import { waitForReader, writeJson } from "../../program/output.ts";

type RpcRequest = Extract<RpcMessage, { kind: "request" }>;

/** Tools whose run works in a folder. */
const FOLDER_TOOLS: readonly Json[] = ["run_task", "run_command"];

/** Passes messages between stdin and stdout and a brain's `/mcp`, each request as a POST of its own. */
export class McpBridge {
  readonly #address: BrainAddress;
  /** The folder of runs that name none. */
  readonly #folder: string | undefined;
  readonly #open = new Map<RpcId, AbortController>();
  readonly #closed = new AbortController();
  /** The revision that `initialize` agreed on. */
  #revision: string | undefined;

  constructor(address: BrainAddress, folder: string | undefined) {
    this.#address = address;
    this.#folder = folder;
  }

  /** Stops reading and gives up what is under way. */
  close(): void {
    this.#closed.abort();
    for (const open of this.#open.values()) open.abort();
  }

  /** Serves the messages of an input to its end. */
  async serve(input: Readable): Promise<void> {
    const decoder = ndjsonDecoder();
    const stop = (): void => void input.destroy();
    this.#closed.signal.addEventListener("abort", stop);
    try {
      for await (const chunk of input) {
        for (const item of decoder.push(chunk as Uint8Array)) this.#take(item);
        await waitForReader(this.#closed.signal);
      }
    } catch (thrown) {
      if (!this.#closed.signal.aborted) throw thrown;
    } finally {
      this.close();
    }
  }

  #take(item: NdjsonItem): void {
    if (!item.ok) return writeJson(rpcFailure(undefined, { code: RPC_CODES.parse, message: item.fault.message }));
    const message = readRpcMessage(item.value);
    if (message === undefined) {
      const error = { code: RPC_CODES.request, message: "The line is no single JSON-RPC 2.0 message." };
      return writeJson(rpcFailure(undefined, error));
    }
    if (message.kind === "request") return void this.#answer(message);
    const { requestId } = message.kind === "notification" ? message.params : {};
    if (message.kind === "notification" && message.method === "notifications/cancelled")
      this.#open.get(requestId as RpcId)?.abort();
  }

  async #answer(request: RpcRequest): Promise<void> {
    const { id } = request;
    if (this.#open.has(id) || this.#open.size >= MCP_LIMITS.atOnce) {
      const message = this.#open.has(id)
        ? "A request with that id is under way."
        : `At most ${MCP_LIMITS.atOnce} requests may be under way at once.`;
      return writeJson(rpcFailure(id, { code: RPC_CODES.request, message }));
    }
    const cancelled = new AbortController();
    this.#open.set(id, cancelled);
    try {
      const unanswered = await this.#pass(this.#placed(request), cancelled.signal);
      if (unanswered !== undefined) writeJson(rpcFailure(id, { code: RPC_CODES.internal, message: unanswered }));
    } catch (thrown) {
      // What was cancelled gets no answer.
      if (!cancelled.signal.aborted)
        writeJson(
          rpcFailure(id, { code: RPC_CODES.internal, message: `The brain does not answer: ${reasonOf(thrown)}` }),
        );
    } finally {
      this.#open.delete(id);
    }
  }

  /** The request with the folder of this command, where it starts a run on this machine and names none. */
  #placed(request: RpcRequest): RpcRequest {
    const { name = null, arguments: given = {} } = request.params;
    if (this.#folder === undefined || request.method !== "tools/call" || !FOLDER_TOOLS.includes(name)) return request;
    if (!isObject(given) || given["hand"] !== undefined || given["workspace"] !== undefined) return request;
    return { ...request, params: { ...request.params, arguments: { ...given, workspace: this.#folder } } };
  }

  /** Posts a request and writes what comes back; resolves to the reason when its answer was not among it. */
  async #pass(request: RpcRequest, signal: AbortSignal): Promise<string | undefined> {
    const { url } = this.#address;
    const { id, method, params } = request;
    const response = await fetch(new URL("mcp", url.endsWith("/") ? url : `${url}/`), {
      method: "POST",
      headers: this.#headers(request),
      body: JSON.stringify(rpcRequest(id, method, params)),
      redirect: "error",
      signal,
    });
    let isAnswered = false;
    const write = (text: string): void => {
      const message = messageIn(text);
      if (message === undefined) return;
      const { id: answered = id } = message;
      if (message["method"] === undefined) {
        isAnswered = true;
        this.#noteRevision(method, message);
      }
      // An error before the request was read has no id: here it is known which request it is about.
      writeJson(message["method"] === undefined ? { ...message, id: answered } : message);
    };
    if (response.headers.get("content-type")?.startsWith("text/event-stream") === true) {
      const decoder = sseDecoder();
      for await (const chunk of response.body ?? [])
        for (const item of decoder.push(chunk)) if (item.ok) write(item.value.data);
      return isAnswered ? undefined : ENDED_EARLY;
    }
    const text = await response.text();
    write(text);
    if (isAnswered) return undefined;
    return response.ok ? ENDED_EARLY : `The brain refuses it: ${refusalWords(response.status, text)}`;
  }

  #headers({ method, params }: RpcRequest): { readonly [name: string]: string } {
    const { token } = this.#address;
    const said = metaOf(params)[META_KEYS.revision];
    const revision = typeof said === "string" ? said : this.#revision;
    return {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(revision === undefined || method === "initialize" ? {} : { "mcp-protocol-version": revision }),
      ...(typeof said === "string" ? mirroredHeaders(method, params) : {}),
      // On stdio a request is only left when it is cancelled.
      "x-vidro-on-disconnect": "stop",
    };
  }

  #noteRevision(method: string, { result }: JsonObject): void {
    const revision = method === "initialize" && isObject(result) ? result["protocolVersion"] : undefined;
    if (typeof revision === "string") this.#revision = revision;
  }
}

const ENDED_EARLY = "The brain ended the answer early.";
const PAGE_CHARS = 200;

/** What a refusal says that is no message of JSON-RPC: the brain's own words, or the beginning of a page of another. */
function refusalWords(status: number, text: string): string {
  const said = objectIn(text);
  const words = said === undefined ? text : (textIn(said, "error") ?? textIn(said, "message") ?? text);
  return `${status} ${oneLine(words, PAGE_CHARS)}`.trim();
}

function messageIn(text: string): JsonObject | undefined {
  const value = objectIn(text);
  return value?.["jsonrpc"] === "2.0" ? value : undefined;
}

function objectIn(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function reasonOf(thrown: unknown): string {
  const { cause } = thrown as { cause?: unknown };
  return asFault(cause ?? thrown).message;
}
