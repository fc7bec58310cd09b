import type { Json } from "@vidro/core";
import { faultOfAnswer } from "./fault-of.ts";
import type { AonFault } from "./fault-of.ts";
import { BOX_LIMITS } from "./limits.ts";
import { NDJSON_TYPE } from "./negotiate.ts";

/** A route's answer: its data, or its fault. */
export type RouteAnswer = { readonly data: Json } | { readonly fault: AonFault };

/** Collects the body of a route's answer. */
export interface AnswerBuffer {
  /** Adds a chunk, with the arguments of a response's `write` and `end`. */
  add(chunk: unknown, encoding?: unknown): void;
  /** Reads the whole body. */
  read(status: number, contentType: string): RouteAnswer;
}

const JSON_BODY = /^application\/(?:[\w.+-]+\+)?json\b/i;
/** Text bodies; HTML is left out because a page does not belong in an event. */
const TEXT_BODY = /^text\/(?!html)|^$/i;

/** Reads a whole body; a body that an event cannot carry is a fault. */
export function answerOfBody(status: number, contentType: string, text: string): RouteAnswer {
  if (text.length > BOX_LIMITS.answerBytes) return tooLargeAnswer();
  const data = valueOf(text, contentType);
  if (status >= 400) return { fault: faultOfAnswer(status, data) };
  if (data !== undefined) return { data };
  const message = `The answer is ${contentType}, not JSON. Ask for it without ${NDJSON_TYPE}.`;
  return { fault: { code: "NOT_JSON", message, status: 406 } };
}

/** A buffer for an answer up to its bound. */
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

/** JSON parsed, text unchanged, an empty body as null; undefined for other content types. */
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
