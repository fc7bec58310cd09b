import { setTimeout as sleep } from "node:timers/promises";
import { asFault, Fault, MOUNT_LIMITS } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";
import { parseJson, sseDecoder } from "@vidro/core/codec";
import type { SseDecoder } from "@vidro/core/codec";
import { readRpcMessage, rpcNotification, rpcRequest } from "@vidro/core/wire/mcp";
import type { RpcMessage } from "@vidro/core/wire/mcp";
import { lostFault, serverRefusal } from "./channel.ts";
import type { ChannelRequest, ServerChannel } from "./channel.ts";
import type { AddressedServer, MountedServer } from "./mount-file.ts";
import type { ServerPlace } from "./stdio-channel.ts";

const SESSION = "mcp-session-id";
/** Codes of connections that were never made, so that nothing was asked. */
const UNREACHED = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;
const UNAUTHORISED = [401, 403];
const GONE = 404;

/** Talks to a server by a POST for each message; the address is that of the host's own file, so it may be private. */
export class HttpChannel implements ServerChannel {
  readonly #server: MountedServer & AddressedServer;
  readonly #tokens: ServerPlace["tokens"];
  #last = 0;
  #token: string | undefined;
  #revision: string | undefined;
  #session: string | undefined;
  #isOpen = true;
  #hasChanged = false;

  constructor(server: MountedServer & AddressedServer, tokens?: ServerPlace["tokens"]) {
    this.#server = server;
    this.#tokens = tokens;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  takeChange(): boolean {
    const hasChanged = this.#hasChanged;
    this.#hasChanged = false;
    return hasChanged;
  }

  agree(revision: string): void {
    this.#revision = revision;
  }

  async ask({ method, params, headers = {}, signal }: ChannelRequest): Promise<JsonObject> {
    const id = (this.#last += 1);
    const response = await this.#post(rpcRequest(id, method, params), headers, signal);
    this.#session ??= response.headers.get(SESSION) ?? undefined;
    const message = await this.#answer(response, id, signal).catch((thrown: unknown) => {
      if (thrown instanceof Fault) throw thrown;
      throw lostFault(this.#server.name, signal.aborted ? "was told to stop" : `broke off: ${asFault(thrown).message}`);
    });
    if (message?.kind === "result") return message.result;
    if (message?.kind === "error") throw serverRefusal(this.#server.name, message.error);
    throw this.#statusFault(response);
  }

  async tell(method: string, params: JsonObject): Promise<void> {
    const signal = AbortSignal.timeout(MOUNT_LIMITS.probeMs);
    const response = await this.#post(rpcNotification(method, params), {}, signal);
    await response.body?.cancel();
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    if (this.#session === undefined) return;
    const { url } = this.#server;
    // A server may refuse it, and forgets the session by itself then.
    const signal = AbortSignal.timeout(MOUNT_LIMITS.endMs);
    await fetch(url, { method: "DELETE", redirect: "error", headers: this.#headers(), signal })
      .then((response) => response.body?.cancel())
      .catch(() => undefined);
  }

  #headers(): { readonly [name: string]: string } {
    return {
      ...(this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }),
      ...this.#server.headers,
      ...(this.#revision === undefined ? {} : { "mcp-protocol-version": this.#revision }),
      ...(this.#session === undefined ? {} : { [SESSION]: this.#session }),
    };
  }

  async #post(body: Json, mirrored: { readonly [name: string]: string }, signal: AbortSignal): Promise<Response> {
    const { name, url } = this.#server;
    this.#token = await this.#tokens?.find(this.#server);
    try {
      return await fetch(url, {
        method: "POST",
        redirect: "error",
        signal,
        body: JSON.stringify(body),
        headers: {
          ...this.#headers(),
          ...mirrored,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
        },
      });
    } catch (thrown) {
      const { cause } = thrown as { cause?: { code?: string } };
      const why = asFault(cause ?? thrown).message;
      if (UNREACHED.test(cause?.code ?? ""))
        throw new Fault("TOOL_FAILED", `The server ${name} is not reached: ${why}`, { cause: thrown });
      throw lostFault(name, signal.aborted ? "was told to stop" : `does not answer: ${why}`);
    }
  }

  /** The answer to a request; undefined when the server gave no message. A stream that breaks off is gone on with where the server has named its events. */
  async #answer(first: Response, id: number, signal: AbortSignal): Promise<RpcMessage | undefined> {
    if (!isStream(first)) return messageIn(await this.#body(first));
    let response = first;
    for (let tries = 0; ; tries += 1) {
      const decoder = sseDecoder(MOUNT_LIMITS.messageBytes);
      const message = await this.#streamed(response, decoder, id);
      if (message !== undefined) return message;
      const { lastEventId, retryMs = 0 } = decoder;
      if (lastEventId === "" || tries >= MOUNT_LIMITS.resumptions)
        throw lostFault(this.#server.name, "ended its answer early");
      await sleep(Math.min(retryMs, MOUNT_LIMITS.resumeMs), undefined, { signal });
      const headers = { ...this.#headers(), accept: "text/event-stream", "last-event-id": lastEventId };
      response = await fetch(this.#server.url, { headers, redirect: "error", signal });
      if (!isStream(response)) throw lostFault(this.#server.name, "ended its answer early");
    }
  }

  async #body(response: Response): Promise<string> {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > MOUNT_LIMITS.messageBytes) throw this.#tooLarge();
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString("utf8");
  }

  /** The answer in a stream; undefined when the stream ends before it. */
  async #streamed(response: Response, decoder: SseDecoder, id: number): Promise<RpcMessage | undefined> {
    let unasked = 0;
    for await (const chunk of response.body ?? [])
      for (const item of decoder.push(chunk)) {
        if (!item.ok) throw this.#tooLarge();
        const message = messageIn(item.value.data);
        if ((message?.kind === "result" || message?.kind === "error") && message.id === id) return message;
        if (message?.kind === "notification" && message.method === "notifications/tools/list_changed")
          this.#hasChanged = true;
        unasked += 1;
        if (unasked > MOUNT_LIMITS.unaskedMessages) throw lostFault(this.#server.name, "sends messages without end");
      }
    return undefined;
  }

  #tooLarge(): Fault {
    return lostFault(this.#server.name, `sent a message of more than ${MOUNT_LIMITS.messageBytes} bytes`);
  }

  /** The fault of an answer that is no message. */
  #statusFault({ status, headers }: Response): Fault {
    const { name } = this.#server;
    if (status === GONE && this.#session !== undefined) this.#isOpen = false;
    if (!UNAUTHORISED.includes(status))
      return new Fault("TOOL_FAILED", `The server ${name} answers ${status}, and no message.`, { detail: { status } });
    const asked = headers.get("www-authenticate") ?? "no scheme";
    return new Fault(
      "TOOL_FAILED",
      `The server ${name} asks for authorization (${asked.slice(0, 200)}): sign in with vidro hands login ${name}, or put a header into mcp.json, "headers": {"Authorization": "Bearer …"}.`,
      { detail: { status } },
    );
  }
}

function isStream({ headers }: Response): boolean {
  return headers.get("content-type")?.startsWith("text/event-stream") === true;
}

function messageIn(text: string): RpcMessage | undefined {
  try {
    return readRpcMessage(parseJson(text));
  } catch {
    return undefined;
  }
}
