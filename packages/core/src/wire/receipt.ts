import { REGISTER_LIMITS } from "../limits.ts";
import type { JsonObject } from "../json.ts";

const hex = (chars: number): JsonObject => ({ type: "string", pattern: `^[0-9a-f]{${chars}}$` });
const name: JsonObject = { type: "string", minLength: 1, maxLength: REGISTER_LIMITS.nameChars };

/** The public key of a hand's receipts: 32 bytes of Ed25519. */
export const RECEIPT_KEY_SCHEMA = hex(64);

/** JSON Schema of a receipt. */
export const RECEIPT_SCHEMA: JsonObject = {
  type: "object",
  additionalProperties: false,
  required: ["run", "action", "plan", "outcome", "words", "at", "ledger", "key", "signature"],
  properties: {
    run: name,
    action: name,
    plan: { type: "string", maxLength: REGISTER_LIMITS.nameChars },
    outcome: hex(64),
    words: hex(64),
    at: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    ledger: name,
    key: RECEIPT_KEY_SCHEMA,
    signature: hex(128),
  },
};
