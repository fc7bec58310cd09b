import { isObject } from "@vidro/core";
import { ndjsonDecoder } from "@vidro/core/codec";
import type { Json } from "@vidro/core";
import type { NdjsonItem } from "@vidro/core/codec";
import { isTerminalAonEvent } from "./event.ts";
import type { AonEvent } from "./event.ts";
import { READ_LIMITS } from "./limits.ts";

/** A source of events: a fetch Response, a web stream, a Node stream, or any chunks of bytes or text. */
export type AonSource = Response | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array | string>;

/** The error of a stream that has no terminal event, is malformed, or ended with an `error` event. */
export class AonReadError extends Error {
  readonly code: string;
  readonly traceId: string | undefined;
  /** The HTTP status, where there is one. */
  readonly status: number | undefined;

  constructor(code: string, message: string, more: { readonly traceId?: string; readonly status?: number } = {}) {
    super(message);
    this.name = "AonReadError";
    this.code = code;
    this.traceId = more.traceId;
    this.status = more.status;
  }
}

const KNOWN: readonly string[] = [
  "intent_analysis",
  "healing",
  "status",
  "interactive_healing_request",
  "result",
  "error",
];

/**
 * The events of an answer, the terminal one last; unknown types are skipped. The JSON of a black box becomes a `result`.
 * Throws AonReadError when the answer is an HTTP error, when a line is not an event, and when the stream ends without a
 * terminal event: a cut connection is never taken for success.
 */
export async function* readAon(source: AonSource): AsyncGenerator<AonEvent, void, undefined> {
  const chunks = isResponse(source) ? await chunksOfResponse(source) : source;
  if ("event" in chunks) {
    yield chunks.event;
    return;
  }
  const decoder = ndjsonDecoder(READ_LIMITS.lineBytes);
  const encoder = new TextEncoder();
  for await (const chunk of chunks) {
    for (const item of decoder.push(typeof chunk === "string" ? encoder.encode(chunk) : chunk)) {
      const event = eventOf(item);
      if (event === undefined) continue;
      yield event;
      if (isTerminalAonEvent(event)) return;
    }
  }
  const rest = decoder.end();
  // A last line without a line end counts only if it parses; otherwise the stream was cut.
  const last = rest?.ok === true ? eventOf(rest) : undefined;
  if (last !== undefined) yield last;
  if (last === undefined || !isTerminalAonEvent(last)) {
    throw new AonReadError("STREAM_CUT", "The stream ended without a result or an error. Its outcome is unknown.");
  }
}

/** The data of the result, after all events went to `watch`; an `error` event is thrown as AonReadError. */
export async function resultOf(source: AonSource, watch: (event: AonEvent) => void = () => undefined): Promise<Json> {
  for await (const event of readAon(source)) {
    watch(event);
    if (event.type === "result") return event.data;
    if (event.type === "error") {
      const { code, message, trace_id: traceId, status } = event;
      throw new AonReadError(code, message, { traceId, ...(status === undefined ? {} : { status }) });
    }
  }
  throw new AonReadError("STREAM_CUT", "The stream ended without a result or an error.");
}

function isResponse(source: AonSource): source is Response {
  return "status" in source && "headers" in source;
}

async function chunksOfResponse(response: Response) {
  const { status, headers, body } = response;
  const type = headers.get("content-type") ?? "";
  if (response.ok && body !== null && /^application\/x-ndjson\s*(?:;|$)/i.test(type)) return body;
  const text = await response.text();
  const isJson = /^application\/(?:[\w.+-]+\+)?json\b/i.test(type);
  const value = isJson ? parseLine(text) : null;
  if (response.ok && isJson) {
    const event: AonEvent = { type: "result", data: value, timestamp: Date.now(), requestId: "" };
    return { event };
  }
  const said = isObject(value) ? value : {};
  const code = typeof said["code"] === "string" ? said["code"] : `HTTP_${status}`;
  const message = typeof said["message"] === "string" ? said["message"] : text.slice(0, READ_LIMITS.bodyChars);
  const traceId = typeof said["trace_id"] === "string" ? { traceId: said["trace_id"] } : {};
  throw new AonReadError(code, message || `The server answered with status ${status} and ${type || "nothing"}.`, {
    status,
    ...traceId,
  });
}

function parseLine(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new AonReadError("BAD_BODY", "The answer says that it is JSON and is not.");
  }
}

function eventOf(item: NdjsonItem): AonEvent | undefined {
  if (!item.ok) throw new AonReadError("BAD_LINE", `A line is no event: ${item.fault.message}`);
  const { value } = item;
  if (!isObject(value) || typeof value["type"] !== "string") {
    throw new AonReadError("BAD_LINE", "A line is no event: it has no type.");
  }
  return KNOWN.includes(value["type"]) ? (value as unknown as AonEvent) : undefined;
}
