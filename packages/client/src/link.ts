import { CLIENT_LIMITS, PAGE_LIMITS } from "@vidro/core";
import { ndjsonDecoder, parseJson } from "@vidro/core/codec";
import type { Json, JsonObject } from "@vidro/core";
import { Patience } from "./patience.ts";
import { Retries } from "./retries.ts";
import type { Persistence } from "./retries.ts";
import { refusal } from "./refusal.ts";
import { VidroError } from "./vidro-error.ts";

/** Where a brain is, who asks, and how long they keep trying. */
export interface LinkOptions extends Partial<Persistence> {
  /** The address of the brain: `http://127.0.0.1:3120`. */
  readonly url: string;
  readonly token?: string;
}

/** One request, as often as it takes. */
export interface Ask {
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
export interface Answered {
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
export class Link {
  readonly #url: URL;
  readonly #token: string | undefined;
  readonly persistence: Persistence;

  constructor({ url, token, retries = CLIENT_LIMITS.retries, backoffMs = CLIENT_LIMITS.backoffMs }: LinkOptions) {
    this.#url = brainUrl(url);
    this.#token = token;
    this.persistence = { retries, backoffMs };
  }

  /** The answer to a request, which is repeated while that may help; rejects with a VidroError or the signal's reason. */
  async ask(ask: Ask): Promise<Answered> {
    const named = ask.method === "POST" ? { ...ask, key: ask.key ?? crypto.randomUUID() } : ask;
    const retries = new Retries(this.persistence, ask.signal);
    for (;;) {
      try {
        return await this.#askOnce(named);
      } catch (thrown) {
        await retries.rest(thrown);
      }
    }
  }

  /** The JSON of an answer. */
  async json(ask: Ask): Promise<Json> {
    return (await this.ask(ask)).json;
  }

  /** What a list holds, page after page, as much of it as is wanted. */
  async list<Item>(
    ask: Pick<Ask, "path" | "query">,
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
      const { json, next } = await this.ask({ ...ask, method: "GET", query, signal });
      items.push(...itemsOf(json));
      cursor = next;
    } while (cursor !== undefined && items.length < limit);
    return items;
  }

  /** Opens one connection: its lines until it ends, where a cut is a VidroError; none when nothing will ever come. */
  async open(ask: Ask): Promise<AsyncGenerator<Json, void, undefined> | undefined> {
    const patience = new Patience(ask.signal);
    try {
      const response = await this.#send(ask, "application/x-ndjson", patience);
      if (response.status !== NO_CONTENT) return this.#lines(response, patience, ask.signal);
      patience.end();
      return undefined;
    } catch (thrown) {
      patience.end();
      throw this.#failure(thrown, { patience, signal: ask.signal });
    }
  }

  async *#lines(
    response: Response,
    patience: Patience,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Json, void, undefined> {
    const decoder = ndjsonDecoder(CLIENT_LIMITS.lineBytes);
    try {
      for await (const chunk of chunksOf(response, patience)) {
        for (const item of decoder.push(chunk)) {
          if (!item.ok) throw new VidroError(item.fault.code, item.fault.message, { status: response.status });
          yield item.value;
        }
      }
    } catch (thrown) {
      throw this.#failure(thrown, { patience, signal, response });
    } finally {
      patience.end();
    }
  }

  async #askOnce(ask: Ask): Promise<Answered> {
    const patience = new Patience(ask.signal);
    let response: Response | undefined;
    try {
      response = await this.#send(ask, "application/json", patience);
      const text = await textOf(response, patience);
      const { headers, status } = response;
      const next = headers.get("x-next-cursor") ?? undefined;
      const repeated = headers.has("idempotency-replayed");
      return { json: text === "" ? null : answerIn(text), status, repeated, next };
    } catch (thrown) {
      throw this.#failure(thrown, { patience, signal: ask.signal, ...(response && { response }) });
    } finally {
      patience.end();
    }
  }

  async #send(ask: Ask, accept: string, patience: Patience): Promise<Response> {
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
      signal: patience.signal,
      // A token is for this address and for no other that it may point to.
      redirect: "manual",
      cache: "no-store",
    });
    const response = await patience.wait(asking, CLIENT_LIMITS.requestMs);
    if (response.ok) return response;
    throw refusal(response, await textOf(response, patience));
  }

  /** What went wrong, in the words of this package: the caller's own abort, what we say, or what the network says. */
  #failure(thrown: unknown, { patience, signal, response }: Failed): unknown {
    if (signal?.aborted === true) return signal.reason;
    if (thrown instanceof VidroError) return thrown;
    if (patience.signal.reason instanceof VidroError) return patience.signal.reason;
    const { message, cause } = thrown as Error;
    const why = cause instanceof Error && cause.message !== "" ? cause.message : message;
    const { origin } = this.#url;
    if (response === undefined)
      return new VidroError("BRAIN_UNREACHABLE", `${origin} cannot be reached: ${why}`, { cause: thrown });
    return new VidroError("CONNECTION_LOST", `The answer of ${origin} broke off: ${why}`, { cause: thrown });
  }
}

/** How far a request came. */
interface Failed {
  readonly patience: Patience;
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

function answerIn(text: string): Json {
  try {
    return parseJson(text);
  } catch (cause) {
    throw new VidroError("BAD_ANSWER", "What answered speaks no JSON: it is no brain.", { cause });
  }
}

async function textOf(response: Response, patience: Patience): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of chunksOf(response, patience)) {
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
async function* chunksOf(response: Response, patience: Patience): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  for (;;) {
    const { done, value } = await patience.wait(reader.read(), CLIENT_LIMITS.silenceMs);
    if (done) return;
    yield value;
  }
}
