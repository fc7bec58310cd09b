import type { JsonObject } from "../json.ts";
import { HAND_LIMITS, REGISTER_LIMITS, SOUTHBOUND_LIMITS } from "../limits.ts";
import { TOOL_EFFECTS } from "../tool.ts";
import { RECEIPT_SCHEMA, RECEIPT_KEY_SCHEMA } from "./receipt.ts";

/*
 * JSON Schemas of the messages. Requests with an effect are closed: an unknown field might change the meaning of the
 * request for its sender [000-67].
 */

const text = (maxLength: number): JsonObject => ({ type: "string", minLength: 1, maxLength });
const count: JsonObject = { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER };

/** A message of these fields and no others. */
function message(required: readonly string[], properties: JsonObject): JsonObject {
  return { type: "object", additionalProperties: false, required: ["action_id", ...required], properties };
}

const ACTION: JsonObject = { action_id: text(REGISTER_LIMITS.nameChars) };

/** Fields of every order. */
const ORDER: JsonObject = {
  ...ACTION,
  session_epoch: count,
  ttl_ms: count,
  run_id: text(REGISTER_LIMITS.nameChars),
  run_epoch: count,
  approved: text(REGISTER_LIMITS.nameChars),
  ledger: text(REGISTER_LIMITS.nameChars),
  warrant: text(REGISTER_LIMITS.nameChars),
  traceparent: text(REGISTER_LIMITS.nameChars),
};

const PATH = text(HAND_LIMITS.pathChars);
const TOOL: JsonObject = { tool: text(REGISTER_LIMITS.nameChars), input: { type: "object" } };

/** Schemas of the requests from a brain, by method, without their envelope. */
export const REQUEST_SCHEMAS: { readonly [method: string]: JsonObject } = {
  "command.exec": message(["command"], {
    ...ORDER,
    command: PATH,
    args: { type: "array", maxItems: HAND_LIMITS.args, items: { type: "string", maxLength: HAND_LIMITS.argChars } },
    timeout: { type: "integer", minimum: 1, maximum: HAND_LIMITS.commandCapMs },
    cwd: PATH,
  }),
  "file.diff": message(["path", "want"], {
    ...ORDER,
    path: PATH,
    want: { type: "string", maxLength: HAND_LIMITS.fileBytes },
  }),
  "file.apply": message(["path", "patch"], {
    ...ORDER,
    path: PATH,
    patch: text(HAND_LIMITS.patchBytes),
    base_sha256: { type: "string", minLength: 64, maxLength: 64 },
  }),
  "tool.run": message(["tool", "input"], { ...ORDER, ...TOOL }),
  "action.judge": message(["tool", "input"], { ...ACTION, ...TOOL }),
  "action.cancel": message([], ACTION),
  "action.ack": message([], ACTION),
  "host.facts": { type: "object", additionalProperties: false, properties: {} },
  "spool.read": message(["offset"], {
    ...ACTION,
    offset: { type: "integer", minimum: 0, maximum: HAND_LIMITS.spoolBytes },
  }),
};

const saidText: JsonObject = { type: ["string", "null"], maxLength: REGISTER_LIMITS.messageBytes };

/** Schema of the end of an order: the contract's fields; other fields are used when they have the right type. */
export const REPLY_SCHEMA: JsonObject = {
  type: "object",
  required: ["ok"],
  properties: {
    ok: { type: "boolean" },
    exit_code: { type: ["integer", "null"] },
    stdout: saidText,
    stderr: saidText,
    error: saidText,
    code: { type: ["string", "null"], maxLength: REGISTER_LIMITS.nameChars },
    words: saidText,
    receipt: RECEIPT_SCHEMA,
  },
};

const TOOL_SPEC_SCHEMA: JsonObject = {
  type: "object",
  required: ["name", "description", "parameters", "idempotent"],
  properties: {
    name: text(REGISTER_LIMITS.nameChars),
    description: { type: "string", maxLength: REGISTER_LIMITS.schemaChars },
    parameters: { type: "object" },
    idempotent: { type: "boolean" },
    effect: { enum: TOOL_EFFECTS },
  },
};

const names = (maxItems: number): JsonObject => ({ type: "array", maxItems, items: text(REGISTER_LIMITS.nameChars) });

/** Schemas of the messages from a hand, by method, without their envelope. */
export const HAND_MESSAGE_SCHEMAS: { readonly [method: string]: JsonObject } = {
  hello: {
    type: "object",
    required: ["agent_id", "name", "version", "capabilities"],
    properties: {
      agent_id: text(REGISTER_LIMITS.nameChars),
      name: text(REGISTER_LIMITS.nameChars),
      version: text(REGISTER_LIMITS.nameChars),
      capabilities: names(REGISTER_LIMITS.tools),
      tools: { type: "array", maxItems: REGISTER_LIMITS.tools, items: TOOL_SPEC_SCHEMA },
      workspace: PATH,
      tags: names(REGISTER_LIMITS.tags),
      session_epoch: count,
      receipt_key: RECEIPT_KEY_SCHEMA,
    },
  },
  "telemetry.push": message(["payload"], {
    ...ACTION,
    payload: { type: "object" },
    ts: text(REGISTER_LIMITS.nameChars),
  }),
  "cert.renew": message(["csr"], { ...ACTION, csr: text(SOUTHBOUND_LIMITS.csrChars) }),
  "action.result": {
    type: "object",
    required: ["action_id", "ok"],
    properties: { ...ACTION, ok: { type: "boolean" } },
  },
  "exec.output": message(["stream", "chunk"], {
    ...ACTION,
    stream: { enum: ["stdout", "stderr"] },
    seq: count,
    chunk: { type: "string", maxLength: REGISTER_LIMITS.messageBytes },
  }),
};
