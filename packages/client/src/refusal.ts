import { isObject } from "@vidro/core";
import type { Json } from "@vidro/core";
import { VidroError } from "./vidro-error.ts";

const SHOWN_CHARS = 300;

/** The error of an answer with an error status: the brain's code, or BAD_ANSWER when the body has no code. */
export function refusalError(response: Response, body: string): VidroError {
  // A browser hides the status of a redirect that is not followed.
  const status = response.type === "opaqueredirect" ? 302 : response.status;
  const retryAfterMs = parseRetryAfterSeconds(response.headers.get("retry-after"));
  const detail = { status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  if (status >= 300 && status < 400) {
    return new VidroError("BAD_ANSWER", "This address points to another one: use that one.", detail);
  }
  const told = parseBody(body);
  const code = faultField(told, "code");
  const message = faultField(told, "message") ?? `The answer is ${status}: ${body.slice(0, SHOWN_CHARS)}`;
  return new VidroError(code ?? "BAD_ANSWER", message, detail);
}

function parseBody(body: string): Json | undefined {
  try {
    return JSON.parse(body) as Json;
  } catch {
    return undefined;
  }
}

/**
 * A field of a fault in a body: surfaces send `code` with the text in `message` or `error`, or both inside `error`.
 */
export function faultField(told: Json | undefined, name: "code" | "message"): string | undefined {
  if (!isObject(told)) return undefined;
  const { error } = told;
  if (isObject(error)) return faultField(error, name);
  const text = told[name] ?? (name === "message" ? error : undefined);
  return typeof text === "string" ? text : undefined;
}

/** Reads seconds only: a date would depend on the clocks of both ends. */
function parseRetryAfterSeconds(header: string | null): number | undefined {
  return header !== null && /^\d{1,6}$/.test(header.trim()) ? Number(header) * 1000 : undefined;
}
