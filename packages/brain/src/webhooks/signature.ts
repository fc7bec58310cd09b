import { createHmac, randomBytes } from "node:crypto";

/* Signatures as the specification "Standard Webhooks" has them: HMAC-SHA256 over id, time and body. */

const PREFIX = "whsec_";
const SECRET_BYTES = 32;

/** A new secret, as receivers store it. */
export function newWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

/** The headers that prove who sent a message, and when. */
export function webhookHeaders(
  secret: string,
  { id, at, body }: { readonly id: string; readonly at: number; readonly body: string },
): Readonly<Record<string, string>> {
  const time = String(Math.floor(at / 1000));
  const key = Buffer.from(secret.slice(PREFIX.length), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${time}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": `v1,${signature}` };
}
