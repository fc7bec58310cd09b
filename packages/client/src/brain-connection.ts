import { CLIENT_LIMITS, PAGE_LIMITS } from "@vidro/core";
import { ndjsonDecoder, parseJson } from "@vidro/core/codec";
import type { FaultReport, Json, JsonObject } from "@vidro/core";
import { WaitLimit } from "./wait-limit.ts";
import { Retries } from "./retries.ts";
import type { RetryOptions } from "./retries.ts";
import { refusalError } from "./refusal.ts";
import { VidroError } from "./vidro-error.ts";

/** Address and token for a brain, and how often requests are repeated. */
export interface BrainConnectionOptions extends Partial<RetryOptions> {
  /** The address of the brain: `http://127.0.0.1:3120`. */
  readonly url: string;
  readonly token?: string;
}

/** A request to the brain. */
export interface BrainRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Path relative to the brain's address, without a leading slash; its segments are escaped. */
  readonly path: string;
  readonly query?: { readonly [name: string]: string | number | boolean | undefined };
  readonly body?: JsonObject;
  /** Idempotency key: requests with the same key are carried out once. Generated for a POST without one. */
  readonly key?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The answer to a request; `repeated` when the brain replayed the answer to an earlier request with the same key. */
export interface BrainResponse {
  readonly json: Json;
  readonly status: number;
  readonly repeated: boolean;
  /** Cursor of the next page; undefined on the last page. */
  readonly next: string | undefined;
}

/** Which part of a list to get. */
export interface ListPart {
  /** Most items; all when absent. */
  readonly limit?: number;
  /** Id of the last item that the caller has. */
  readonly after?: string;
  readonly signal?: AbortSignal;
}

const NO_CONTENT = 204;

/** Sends requests to one brain over HTTP. */
export class BrainConnection {
  readonly #url: URL;
  readonly #token: string | undefined;
  readonly retryOptions: RetryOptions;

  constructor({
    url,
    token,
    retries = CLIENT_LIMITS.retries,
    backoffMs = CLIENT_LIMITS.backoffMs,
  }: BrainConnectionOptions) {
    this.#url = brainUrl(url);
    this.#token = token;
    this.retryOptions = { retries, backoffMs };
  }

  /** Sends a request and repeats it after transient failures; rejects with a VidroError or the signal's reason. */
  async request(ask: BrainRequest): Promise<BrainResponse> {
    const named = ask.method === "POST" ? { ...ask, key: ask.key ?? crypto.randomUUID() } : ask;
    const retries = new Retries(this.retryOptions, ask.signal);
    for (;;) {
      try {
        return await this.#requestOnce(named);
      } catch (thrown) {
        await retries.backOff(thrown);
      }
    }
  }

  /** The JSON body of an answer. */
  async requestJson(ask: BrainRequest): Promise<Json> {
    return (await this.request(ask)).json;
  }

  /** The items of a list, read page by page. */
  async list<Item>(
    ask: Pick<BrainRequest, "path" | "query">,
    { limit = Infinity, after, signal }: ListPart,
    itemsOf: (json: Json) => readonly Item[],
  ): Promise<readonly Item[]> {
    const items: Item[] = [];
    let cursor = after;
    do {
      const size = Math.min(limit - items.length, PAGE_LIMITS.clientItems);
      // An older brain without pages refuses `limit` and returns all items at once.
      const isAsked = Number.isFinite(limit) || cursor !== undefined;
      const query = { ...ask.query, ...(isAsked ? { limit: size } : {}), after: cursor };
      const { json, next } = await this.request({ ...ask, method: "GET", query, signal });
      items.push(...itemsOf(json));
      if (next !== undefined && next === cursor)
        throw new VidroError("BAD_ANSWER", "The list does not go on: its next page begins where this one does.");
      cursor = next;
    } while (cursor !== undefined && items.length < limit);
    return items;
  }

  /** Opens a stream of lines; a cut connection is a VidroError. Undefined when the stream has no more lines (204). */
  async openStream(ask: BrainRequest): Promise<AsyncGenerator<Json, void, undefined> | undefined> {
    const waitLimit = new WaitLimit(ask.signal);
    try {
      const response = await this.#send(ask, "application/x-ndjson", waitLimit);
      if (response.status !== NO_CONTENT) {
        requireLines(response);
        return this.#lines(response, waitLimit, ask.signal);
      }
      waitLimit.end();
      return undefined;
    } catch (thrown) {
      waitLimit.end();
      throw this.#failure(thrown, { waitLimit, signal: ask.signal });
    }
  }

  async *#lines(
    response: Response,
    waitLimit: WaitLimit,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Json, void, undefined> {
    const decoder = ndjsonDecoder(CLIENT_LIMITS.lineBytes);
    try {
      for await (const chunk of chunksOf(response, waitLimit)) {
        for (const item of decoder.push(chunk)) {
          if (!item.ok) throw lineError(item.fault, response.status);
          yield item.value;
        }
      }
    } catch (thrown) {
      throw this.#failure(thrown, { waitLimit, signal, response });
    } finally {
      waitLimit.end();
    }
  }

  async #requestOnce(ask: BrainRequest): Promise<BrainResponse> {
    const waitLimit = new WaitLimit(ask.signal);
    let response: Response | undefined;
    try {
      response = await this.#send(ask, "application/json", waitLimit);
      const text = await readText(response, waitLimit);
      const { headers, status } = response;
      const next = headers.get("x-next-cursor") ?? undefined;
      const repeated = headers.has("idempotency-replayed");
      return { json: text === "" ? null : parseAnswer(text), status, repeated, next };
    } catch (thrown) {
      throw this.#failure(thrown, { waitLimit, signal: ask.signal, ...(response && { response }) });
    } finally {
      waitLimit.end();
    }
  }

  async #send(ask: BrainRequest, accept: string, waitLimit: WaitLimit): Promise<Response> {
    const url = new URL(ask.path, this.#url);
    for (const [name, value] of Object.entries(ask.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const asking = fetch(url, {
      method: ask.method,
      headers: {
        accept,
        ...(this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }),
        ...(ask.key === undefined ? {} : { "idempotency-key": ask.key }),
        ...(ask.body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(ask.body === undefined ? {} : { body: JSON.stringify(ask.body) }),
      signal: waitLimit.signal,
      // The token must not be sent to an address that this one redirects to.
      redirect: "manual",
      cache: "no-store",
    });
    const response = await waitLimit.wait(asking, CLIENT_LIMITS.requestMs);
    if (response.ok) return response;
    throw refusalError(response, await readText(response, waitLimit));
  }

  /** The error of a failed request: the caller's abort reason, our own error, or a network error as a VidroError. */
  #failure(thrown: unknown, { waitLimit, signal, response }: FailureContext): unknown {
    if (signal?.aborted === true) return signal.reason;
    if (thrown instanceof VidroError) return thrown;
    if (waitLimit.signal.reason instanceof VidroError) return waitLimit.signal.reason;
    const { message, cause } = thrown as Error;
    const why = cause instanceof Error && cause.message !== "" ? cause.message : message;
    const { origin } = this.#url;
    if (response === undefined)
      return new VidroError("BRAIN_UNREACHABLE", `${origin} cannot be reached: ${why}`, { cause: thrown });
    return new VidroError("CONNECTION_LOST", `The answer of ${origin} broke off: ${why}`, { cause: thrown });
  }
}

/** The request that failed, as far as it got. */
interface FailureContext {
  readonly waitLimit: WaitLimit;
  readonly signal: AbortSignal | undefined;
  readonly response?: Response;
}

function brainUrl(given: string): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") {
    throw new VidroError("BAD_REQUEST", "The address of a brain looks like http://127.0.0.1:3120.");
  }
  url.search = "";
  url.hash = "";
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  return url;
}

function parseAnswer(text: string): Json {
  try {
    return parseJson(text);
  } catch (cause) {
    throw new VidroError("BAD_ANSWER", "What answered speaks no JSON: it is no brain.", { cause });
  }
}

/** A page of something else is no stream: its lines would be waited for, or told as a request that is not well formed. */
function requireLines({ headers, status }: Response): void {
  const type = headers.get("content-type") ?? "";
  if (/^application\/x-ndjson(?:[ ;]|$)/i.test(type)) return;
  throw new VidroError("BAD_ANSWER", `What answered gives no events (${type || "no type"}): it is no brain.`, {
    status,
  });
}

function lineError({ code, message }: FaultReport, status: number): VidroError {
  if (code !== "BAD_REQUEST") return new VidroError(code, message, { status });
  return new VidroError("BAD_ANSWER", "A line of the answer is no JSON: it is no brain's.", { status });
}

async function readText(response: Response, waitLimit: WaitLimit): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of chunksOf(response, waitLimit)) {
    bytes += chunk.length;
    if (bytes > CLIENT_LIMITS.answerBytes) {
      throw new VidroError(
        "PAYLOAD_TOO_LARGE",
        `The answer is longer than ${CLIENT_LIMITS.answerBytes} bytes. Ask for less.`,
      );
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** The chunks of a body; read with a reader because not every browser has `for await` on streams. */
async function* chunksOf(response: Response, waitLimit: WaitLimit): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  for (;;) {
    const { done, value } = await waitLimit.wait(reader.read(), CLIENT_LIMITS.silenceMs);
    if (done) return;
    yield value;
  }
}
