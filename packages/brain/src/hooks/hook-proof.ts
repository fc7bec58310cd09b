import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { HOOK_LIMITS } from "@vidro/core";
import { webhookHeaders } from "../webhooks/signature.ts";

/** A call as it came. */
interface HookCall {
  readonly headers: IncomingHttpHeaders;
  /** The body to the letter. */
  readonly raw: string;
  readonly now: number;
}

/**
 * Whether a call proves that its caller has the secret: by a signature as Standard Webhooks has it, not older than some
 * minutes, or by the secret itself as a bearer token. Takes the same time whatever differs.
 */
export function isProven(secret: string, { headers, raw, now }: HookCall): boolean {
  const { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": signatures } = headers;
  if (typeof id === "string" && typeof time === "string" && typeof signatures === "string") {
    const at = Number(time) * 1000;
    if (!/^\d{1,12}$/.test(time) || Math.abs(now - at) > HOOK_LIMITS.clockMs) return false;
    const expected = webhookHeaders(secret, { id, at, body: raw })["webhook-signature"] ?? "";
    // A sender that changes its secret sends several signatures.
    return signatures.split(" ", HOOK_LIMITS.signatures).filter((signature) => isSame(signature, expected)).length > 0;
  }
  const [, bearer] = /^Bearer (\S{1,256})$/i.exec(headers.authorization ?? "") ?? [];
  return bearer !== undefined && isSame(bearer, secret);
}

function isSame(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
