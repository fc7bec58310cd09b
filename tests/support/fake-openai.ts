import { createServer } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { isObject } from "@vidro/core";
import type { JsonObject } from "@vidro/core";

/** What the fake does with one request, whatever was asked. */
export type FakeReply = (response: ServerResponse) => void;

/** What the fake does with one request as it was asked. */
export type FakeAnswer = (response: ServerResponse, request: FakeRequest) => void;

/** A request as it came over the wire. */
export interface FakeRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The parsed body; an empty object when there was none. */
  readonly body: JsonObject;
  /** The body as it came. */
  readonly raw: string;
  /** Resolves when the reply is over: `whole`, or `cut` when the asker went away before its end. */
  readonly over: Promise<"whole" | "cut">;
}

/** A server on 127.0.0.1 that speaks as much of OpenAI's chat completions as a test has told it. */
export interface FakeOpenAi {
  /** Base URL of its API. */
  readonly url: string;
  readonly requests: readonly FakeRequest[];
  /** Forgets the requests that came, for who asks very often. */
  readonly forget: () => void;
  /** Adds replies; each request takes the next one, and the last one serves all that follow. */
  readonly reply: (...replies: FakeAnswer[]) => void;
  /** Resolves with the next request that comes in. */
  readonly next: () => Promise<FakeRequest>;
  readonly close: () => Promise<void>;
}

/** Starts a fake server on a free port. */
export async function fakeOpenAi(...replies: FakeAnswer[]): Promise<FakeOpenAi> {
  const queue = [...replies];
  const requests: FakeRequest[] = [];
  let arrived = Promise.withResolvers<FakeRequest>();
  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { raw, body } = await bodyOf(incoming);
    const { promise: over, resolve } = Promise.withResolvers<"whole" | "cut">();
    response.on("close", () => resolve(response.writableFinished ? "whole" : "cut"));
    const request = { path: incoming.url ?? "", headers: incoming.headers, body, raw, over };
    requests.push(request);
    const reply = queue.length > 1 ? queue.shift() : queue[0];
    (reply ?? status(500, "nothing was scripted"))(response, request);
    arrived.resolve(request);
    arrived = Promise.withResolvers<FakeRequest>();
  };
  const server = createServer((incoming, response) => {
    serve(incoming, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${address !== null && typeof address === "object" ? address.port : 0}/v1`,
    requests,
    forget: () => void requests.splice(0),
    reply: (...more) => void queue.push(...more),
    next: () => arrived.promise,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function bodyOf(incoming: IncomingMessage): Promise<Pick<FakeRequest, "raw" | "body">> {
  let raw = "";
  for await (const chunk of incoming.setEncoding("utf8")) raw += chunk;
  const body: unknown = raw === "" ? {} : JSON.parse(raw);
  return { raw, body: isObject(body) ? body : {} };
}

/** A tool call as the fake streams it. */
export interface FakeCall {
  readonly id: string;
  readonly name: string;
  /** The text of the arguments, sound or not. */
  readonly input: string;
}

const USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };

const event = (value: unknown): string => `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`;

const chunk = (delta: unknown, finish: string | null = null): string =>
  event({
    id: "c1",
    object: "chat.completion.chunk",
    model: "fake",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });

function begin(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
}

const end = (finish: string): string =>
  chunk({}, finish) + event({ id: "c1", choices: [], usage: USAGE }) + event("[DONE]");

const speaking =
  (finish: string) =>
  (...words: string[]): FakeReply =>
  (response) => {
    begin(response);
    for (const word of words) response.write(chunk({ content: word }));
    response.end(end(finish));
  };

/** Streams words and ends well. */
export const text = speaking("stop");

/** Streams words and breaks off where it has given as many as it may. */
export const cutShort = speaking("length");

/** Streams thoughts, then words. */
export const thinking =
  (thought: string, word: string): FakeReply =>
  (response) => {
    begin(response);
    response.write(chunk({ reasoning_content: thought }));
    response.end(chunk({ content: word }) + end("stop"));
  };

/** Where a reply that is told part by part breaks off. */
export const CUT = Symbol("cut");

/** Streams words, waits where it is told to, and ends well, or where it is cut. */
export const textWith =
  (...parts: (string | Promise<unknown> | typeof CUT)[]): FakeReply =>
  (response) => {
    begin(response);
    const speak = async (): Promise<void> => {
      for (const part of parts) {
        if (part === CUT) return void response.socket?.resetAndDestroy();
        if (typeof part === "string") await new Promise((sent) => response.write(chunk({ content: part }), sent));
        else await part;
      }
      response.end(end("stop"));
    };
    void speak();
  };

/** A reply to a prompt of so many tokens. */
export const counting =
  (tokens: number, reply: FakeReply): FakeReply =>
  (response) => {
    const finish = response.end.bind(response) as (last: string) => ServerResponse;
    response.end = ((last: string) => finish(last.replace('"prompt_tokens":11', `"prompt_tokens":${tokens}`))) as never;
    reply(response);
  };

/** Streams tool calls, each in two pieces, and ends well. */
export const calls = (...all: FakeCall[]): FakeReply => callsAfter([], ...all);

/** Streams words, then tool calls, each in two pieces, and ends well. */
export const callsAfter =
  (words: readonly string[], ...all: FakeCall[]): FakeReply =>
  (response) => {
    begin(response);
    for (const word of words) response.write(chunk({ content: word }));
    for (const [index, { id, name, input }] of all.entries()) {
      const half = Math.floor(input.length / 2);
      const first = { index, id, type: "function", function: { name, arguments: input.slice(0, half) } };
      response.write(chunk({ tool_calls: [first] }));
      response.write(chunk({ tool_calls: [{ index, function: { arguments: input.slice(half) } }] }));
    }
    response.end(end("tool_calls"));
  };

/** Takes the request and never answers. */
export const hang: FakeReply = () => undefined;

/** Streams words, then falls silent with the connection open. */
export const hangAfter =
  (...words: string[]): FakeReply =>
  (response) => {
    begin(response);
    for (const word of words) response.write(chunk({ content: word }));
  };

/** Streams words in a body that has no length and no chunks, then falls silent with the connection open. */
export const closeDelimited =
  (...words: string[]): FakeReply =>
  (response) => {
    response.useChunkedEncodingByDefault = false;
    hangAfter(...words)(response);
  };

/** Streams words, then resets the connection. */
export const cutAfter =
  (...words: string[]): FakeReply =>
  (response) => {
    begin(response);
    const last = words.map((word) => chunk({ content: word })).join("");
    response.write(last, () => setImmediate(() => response.socket?.resetAndDestroy()));
  };

/** Streams words and ends politely, but without having finished. */
export const endAfter =
  (...words: string[]): FakeReply =>
  (response) => {
    begin(response);
    response.end(words.map((word) => chunk({ content: word })).join(""));
  };

/** Streams a word, then something that is no JSON. */
export const malformed: FakeReply = (response) => {
  begin(response);
  response.write(chunk({ content: "so" }));
  response.end(event("{not json") + end("stop"));
};

/** Streams a word, then an error as gateways do. */
export const errorAfter =
  (word: string, error: { message: string; code?: number; type?: string }): FakeReply =>
  (response) => {
    begin(response);
    response.write(chunk({ content: word }));
    response.end(event({ error }));
  };

/** Ends well without having said anything. */
export const empty: FakeReply = (response) => {
  begin(response);
  response.end(end("stop"));
};

/** Streams an answer of that many characters in pieces, as fast as it is read. */
export const huge =
  (chars: number, piece = 64 * 1024): FakeReply =>
  (response) => {
    begin(response);
    let left = chars;
    const more = (): void => {
      while (left > 0 && !response.destroyed) {
        left -= piece;
        if (!response.write(chunk({ content: "x".repeat(piece) }))) return void response.once("drain", more);
      }
      response.end(end("stop"));
    };
    more();
  };

/** Answers with a status and an error in OpenAI's form. */
export const status =
  (code: number, message: string, headers: { readonly [name: string]: string } = {}): FakeReply =>
  (response) => {
    response.writeHead(code, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify({ error: { message, type: "fake", param: null, code: null } }));
  };

/** Answers with any JSON. */
export const json =
  (value: unknown): FakeReply =>
  (response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(value));
  };
