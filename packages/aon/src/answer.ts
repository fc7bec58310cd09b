import type { Json } from "@vidro/core";
import { faultOfAnswer } from "./fault-of.ts";
import type { AonFault } from "./fault-of.ts";
import { BOX_LIMITS } from "./limits.ts";
import { NDJSON_TYPE } from "./negotiate.ts";

/** A route's answer as a result, or as the fault that it tells of. */
export type RouteAnswer = { readonly data: Json } | { readonly fault: AonFault };

/** The answer of a route, gathered in pieces. */
export interface AnswerBuffer {
  /** Keeps a piece, as `write` and `end` of a response take it. */
  add(chunk: unknown, encoding?: unknown): void;
  /** What it all means. */
  read(status: number, contentType: string): RouteAnswer;
}

const JSON_BODY = /^application\/(?:[\w.+-]+\+)?json\b/i;
/** A page is for browsers: it says nothing that belongs into an event. */
const TEXT_BODY = /^text\/(?!html)|^$/i;

/** What a whole body means; a body that an event cannot carry is a fault. */
export function answerOfBody(status: number, contentType: string, text: string): RouteAnswer {
  if (text.length > BOX_LIMITS.answerBytes) return tooLargeAnswer();
  const data = valueOf(text, contentType);
  if (status >= 400) return { fault: faultOfAnswer(status, data) };
  if (data !== undefined) return { data };
  const message = `The answer is ${contentType}, not JSON. Ask for it without ${NDJSON_TYPE}.`;
  return { fault: { code: "NOT_JSON", message, status: 406 } };
}

/** Gathers an answer that is no larger than its bound. */
export function answerBuffer(): AnswerBuffer {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  return {
    add(chunk, encoding) {
      if (typeof chunk !== "string" && !(chunk instanceof Uint8Array)) return;
      const piece = typeof chunk === "string" ? Buffer.from(chunk, encodingOf(encoding)) : Uint8Array.from(chunk);
      bytes += piece.length;
      if (bytes <= BOX_LIMITS.answerBytes) chunks.push(piece);
      else chunks.length = 0;
    },
    read(status, contentType) {
      return bytes > BOX_LIMITS.answerBytes
        ? tooLargeAnswer()
        : answerOfBody(status, contentType, Buffer.concat(chunks).toString());
    },
  };
}

function tooLargeAnswer(): RouteAnswer {
  const message = `The answer has more than ${BOX_LIMITS.answerBytes} bytes. Ask for it without ${NDJSON_TYPE}.`;
  return { fault: { code: "PAYLOAD_TOO_LARGE", message, status: 500 } };
}

/** JSON as its value, text as it is, nothing as null; undefined for anything else. */
function valueOf(text: string, contentType: string): Json | undefined {
  if (text === "") return null;
  if (!JSON_BODY.test(contentType)) return TEXT_BODY.test(contentType) ? text : undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function encodingOf(encoding: unknown): BufferEncoding {
  return typeof encoding === "string" && Buffer.isEncoding(encoding) ? encoding : "utf8";
}
