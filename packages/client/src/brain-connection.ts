import { CLIENT_LIMITS, PAGE_LIMITS } from "@vidro/core";
import { ndjsonDecoder, parseJson } from "@vidro/core/codec";
import type { Json, JsonObject } from "@vidro/core";
import { WaitLimit } from "./wait-limit.ts";
import { Retries } from "./retries.ts";
import type { RetryOptions } from "./retries.ts";
import { refusalError } from "./refusal.ts";
import { VidroError } from "./vidro-error.ts";

/** Where a brain is, who asks, and how long they keep trying. */
export interface BrainConnectionOptions extends Partial<RetryOptions> {
  /** The address of the brain: `http://127.0.0.1:3120`. */
  readonly url: string;
  readonly token?: string;
}

/** One request, as often as it takes. */
export interface BrainRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Below the brain's address, without a slash in front; its parts are escaped already. */
  readonly path: string;
  readonly query?: { readonly [name: string]: string | number | boolean | undefined };
  readonly body?: JsonObject;
  /** Names the request for all time: the same key is carried out once. Every POST has one; it is made when none is given. */
  readonly key?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** An answer, and whether the brain gave the one it had given to the same key before. */
export interface BrainResponse {
  readonly json: Json;
  readonly status: number;
  readonly repeated: boolean;
  /** Where the list in the answer goes on; undefined when it does not. */
  readonly next: string | undefined;
}

/** Which part of a list is wanted. */
export interface ListPart {
  /** How many at most; all there are without it. */
  readonly limit?: number;
  /** The id of the last one that the asker has. */
  readonly after?: string;
  readonly signal?: AbortSignal;
}

const NO_CONTENT = 204;

/** The way to one brain. */
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

  /** The answer to a request, which is repeated while that may help; rejects with a VidroError or the signal's reason. */
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

  /** The JSON of an answer. */
  async requestJson(ask: BrainRequest): Promise<Json> {
    return (await this.request(ask)).json;
  }

  /** What a list holds, page after page, as much of it as is wanted. */
  async list<Item>(
    ask: Pick<BrainRequest, "path" | "query">,
    { limit = Infinity, after, signal }: ListPart,
    itemsOf: (json: Json) => readonly Item[],
  ): Promise<readonly Item[]> {
    const items: Item[] = [];
    let cursor = after;
    do {
      const size = Math.min(limit - items.length, PAGE_LIMITS.clientItems);
      // A brain that knows no pages yet would refuse to be asked for one; it gives all at once.
      const isAsked = Number.isFinite(limit) || cursor !== undefined;
      const query = { ...ask.query, ...(isAsked ? { limit: size } : {}), after: cursor };
      const { json, next } = await this.request({ ...ask, method: "GET", query, signal });
      items.push(...itemsOf(json));
      cursor = next;
    } while (cursor !== undefined && items.length < limit);
    return items;
  }

  /** Opens one connection: its lines until it ends, where a cut is a VidroError; none when nothing will ever come. */
  async openStream(ask: BrainRequest): Promise<AsyncGenerator<Json, void, undefined> | undefined> {
    const waitLimit = new WaitLimit(ask.signal);
    try {
      const response = await this.#send(ask, "application/x-ndjson", waitLimit);
      if (response.status !== NO_CONTENT) return this.#lines(response, waitLimit, ask.signal);
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
          if (!item.ok) throw new VidroError(item.fault.code, item.fault.message, { status: response.status });
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
      // A token is for this address and for no other that it may point to.
      redirect: "manual",
      cache: "no-store",
    });
    const response = await waitLimit.wait(asking, CLIENT_LIMITS.requestMs);
    if (response.ok) return response;
    throw refusalError(response, await readText(response, waitLimit));
  }

  /** What went wrong, in the words of this package: the caller's own abort, what we say, or what the network says. */
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

/** How far a request came. */
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

/** The body piece by piece; a reader and no `for await`, which not every browser has on streams. */
async function* chunksOf(response: Response, waitLimit: WaitLimit): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  for (;;) {
    const { done, value } = await waitLimit.wait(reader.read(), CLIENT_LIMITS.silenceMs);
    if (done) return;
    yield value;
  }
}
