import type { IncomingMessage, ServerResponse } from "node:http";
import { Fault, HTTP_LIMITS } from "@vidro/core";
import { parseJson } from "@vidro/core/codec";
import type { Json } from "@vidro/core";

/** Whether a request brings a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** Reads a JSON body within its bounds; it is parsed once it is complete. An empty body is `{}`; `took` gets its text. */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  took: (text: string) => void = () => undefined,
): Promise<Json> {
  if (!hasBody(request)) return {};
  const { headers } = request;
  if (!JSON_TYPE.test(headers["content-type"] ?? ""))
    throw new Fault("UNSUPPORTED_MEDIA_TYPE", "A body must be application/json in UTF-8.");
  if (!/^(?:identity)?$/i.test(headers["content-encoding"] ?? ""))
    throw new Fault("UNSUPPORTED_MEDIA_TYPE", "A body must not be compressed.");
  if (Number(headers["content-length"] ?? 0) > HTTP_LIMITS.bodyBytes) throw tooLarge();
  // `100 Continue` is sent only now: the request has passed every check before its body.
  if (headers.expect !== undefined) response.writeContinue();
  const bytes = await collect(request);
  if (bytes.length === 0) return {};
  const read = text(bytes);
  took(read);
  return parseJson(read);
}

const JSON_TYPE = /^\s*application\/(?:[\w.!#$&^-]+\+)?json\s*(?:;\s*charset\s*=\s*"?utf-?8"?\s*)?$/i;

/**
 * Reads all bytes. Not with `for await`: leaving that loop early destroys the request, and its connection is needed for
 * the answer.
 */
function collect(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length <= HTTP_LIMITS.bodyBytes) chunks.push(chunk);
      else {
        request.removeAllListeners("data").pause();
        reject(tooLarge());
      }
    });
    request.once("end", () => resolve(Buffer.concat(chunks)));
    request.once("error", (cause) => reject(cut(cause)));
    request.once("close", () => reject(cut()));
  });
}

function cut(cause?: Error): Fault {
  return new Fault("BAD_REQUEST", "The request broke off before its body was complete.", { cause });
}

function tooLarge(): Fault {
  return new Fault("PAYLOAD_TOO_LARGE", `A body has at most ${HTTP_LIMITS.bodyBytes} bytes.`);
}

function text(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Fault("BAD_REQUEST", "The body is not UTF-8.", { cause });
  }
}
