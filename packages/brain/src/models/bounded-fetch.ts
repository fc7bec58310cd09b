import type { IncomingMessage } from "node:http";
import { Fault, MODEL_LIMITS } from "@vidro/core";

const NEWLINE = 10;

/**
 * `fetch` for untrusted servers: it follows no redirect, because a key must not travel to another host, and it ends a
 * body with too long a line, because the parsers behind it would buffer it. It uses node:http, which halves the time
 * until the first byte; request bodies are text.
 */
export const boundedFetch: typeof fetch = async (input, init = {}) => {
  const answer = await answerTo(new URL(input instanceof Request ? input.url : input), init);
  const status = answer.statusCode ?? 0;
  if (status >= 300 && status < 400) {
    answer.destroy();
    throw new TypeError("fetch failed", { cause: new Error("The server wants to send us elsewhere.") });
  }
  const headers = new Headers();
  for (const [name, values] of Object.entries(answer.headersDistinct))
    for (const value of values ?? []) headers.append(name, value);
  const body = status === 204 || status === 205 ? null : lines(answer);
  return new Response(body, { status, statusText: answer.statusMessage ?? "", headers });
};

function answerTo(url: URL, { method = "GET", headers, body, signal }: RequestInit): Promise<IncomingMessage> {
  if (typeof (body ?? "") !== "string") throw new TypeError("Only a text can be sent.");
  // Not imported, for that would load all that node:http can do at the start of every process.
  const { request } = process.getBuiltinModule(url.protocol === "https:" ? "node:https" : "node:http");
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request(url, {
    method,
    headers: Object.fromEntries(new Headers(headers)),
    ...(signal ? { signal } : {}),
  })
    .once("response", resolve)
    .on("error", reject)
    .end(body ?? undefined);
  return promise;
}

/**
 * A body as a stream with back-pressure. Events of node:http after its end are ignored: a body without a length ends
 * with its connection, also when the reader cancelled it.
 */
function lines(answer: IncomingMessage): ReadableStream<Uint8Array<ArrayBuffer>> {
  let unended = 0;
  let isOpen = true;
  const settle = (how: () => void): void => {
    if (isOpen) how();
    isOpen = false;
  };
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      start(controller) {
        answer.on("data", (chunk: Buffer<ArrayBuffer>) => {
          if (!isOpen) return;
          const newline = chunk.lastIndexOf(NEWLINE);
          unended = newline === -1 ? unended + chunk.length : chunk.length - newline - 1;
          if (unended > MODEL_LIMITS.eventBytes) return void answer.destroy(tooLong());
          controller.enqueue(chunk);
          if ((controller.desiredSize ?? 0) <= 0) answer.pause();
        });
        answer.once("end", () => settle(() => controller.close()));
        answer.on("error", (error) => settle(() => controller.error(error)));
        answer.once("close", () => settle(() => controller.error(new Error("The connection was closed."))));
      },
      pull: () => void answer.resume(),
      cancel() {
        isOpen = false;
        answer.destroy();
      },
    },
    { highWaterMark: MODEL_LIMITS.unreadBytes, size: (chunk) => chunk?.byteLength ?? 0 },
  );
}

function tooLong(): Fault {
  return new Fault("MODEL_RUBBISH", `The model sent more than ${MODEL_LIMITS.eventBytes} bytes in one line.`);
}
