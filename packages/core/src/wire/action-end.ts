import { FAULTS } from "../fault.ts";
import type { FaultCode } from "../fault.ts";
import { isPdfPart } from "../file-part.ts";
import type { JsonObject } from "../json.ts";
import { FILE_LIMITS, HAND_LIMITS, REGISTER_LIMITS } from "../limits.ts";
import type { ActionEnd } from "../tool.ts";
import { RECEIPT_SCHEMA } from "./receipt.ts";

/* JSON Schema of an `ActionEnd`, on the wires that carry one between peers of ours. */

const anyText: JsonObject = { type: "string", maxLength: REGISTER_LIMITS.messageBytes };
const count: JsonObject = { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const flag: JsonObject = { type: "boolean" };

/** An object with at least these fields: a newer peer may send more. */
function openObject(required: readonly string[], properties: JsonObject): JsonObject {
  return { type: "object", required, properties };
}

const FAULT_SCHEMA = openObject(["code", "message"], {
  code: { type: "string", minLength: 1, maxLength: REGISTER_LIMITS.nameChars },
  message: anyText,
  retryAfterMs: count,
});

const OUTPUT_SCHEMA = openObject(["text", "bytes", "truncated", "sha256"], {
  text: anyText,
  bytes: count,
  truncated: flag,
  sha256: { type: "string", maxLength: 64 },
});

const PROCESS_SCHEMA = openObject(["kind", "exitCode", "signal", "timedOut", "durationMs", "stdout", "stderr"], {
  kind: { const: "process" },
  exitCode: { type: ["integer", "null"] },
  signal: { type: ["string", "null"], maxLength: REGISTER_LIMITS.nameChars },
  timedOut: flag,
  durationMs: { type: "number", minimum: 0 },
  stdout: OUTPUT_SCHEMA,
  stderr: OUTPUT_SCHEMA,
  spool: { type: "string", minLength: 1, maxLength: HAND_LIMITS.pathChars },
});

const FILE_SCHEMA: JsonObject = {
  type: "object",
  required: ["mediaType", "data"],
  properties: {
    mediaType: { type: "string", pattern: "^(image/(png|jpeg|gif|webp)|application/pdf)$" },
    data: { type: "string", maxLength: FILE_LIMITS.taskChars, pattern: "^[A-Za-z0-9+/]*={0,2}$" },
    name: { type: "string", maxLength: FILE_LIMITS.nameChars },
  },
  additionalProperties: false,
};

/** JSON Schema of the files that a tool gives. */
export const FILES_SCHEMA: JsonObject = { type: "array", maxItems: FILE_LIMITS.files, items: FILE_SCHEMA };

const VALUE_SCHEMA = openObject(["kind", "text"], {
  kind: { const: "value" },
  text: anyText,
  data: {},
  files: FILES_SCHEMA,
});

/** Said to a model in the place of files that did not fit into a message. */
export const FILES_LEFT_OUT = "[It is too large to be sent from this host.]";

/** An end without its files: of PDFs the text is there; for others a sentence stands, which no receipt covers. */
export function withoutEndFiles(ended: ActionEnd): ActionEnd {
  if (ended.type !== "finished" || ended.outcome.kind !== "value" || ended.outcome.files === undefined) return ended;
  const { files, ...outcome } = ended.outcome;
  if (files.every(isPdfPart)) return { ...ended, outcome };
  return { type: "finished", outcome: { ...outcome, text: `${outcome.text}\n${FILES_LEFT_OUT}` } };
}

/** JSON Schema of an end. */
export const ACTION_END_SCHEMA: JsonObject = {
  oneOf: [
    openObject(["type", "outcome"], {
      type: { const: "finished" },
      outcome: { oneOf: [PROCESS_SCHEMA, VALUE_SCHEMA] },
      receipt: RECEIPT_SCHEMA,
    }),
    openObject(["type", "fault"], {
      type: { const: "failed" },
      fault: FAULT_SCHEMA,
      settled: flag,
      receipt: RECEIPT_SCHEMA,
    }),
    openObject(["type", "fault"], {
      type: { const: "unknown" },
      fault: FAULT_SCHEMA,
      partial: anyText,
      receipt: RECEIPT_SCHEMA,
    }),
  ],
};

/** Replaces a fault code that only a newer peer knows by the nearest of ours, and drops the receipt, which no longer matches. */
export function withKnownCode(ended: ActionEnd): ActionEnd {
  if (ended.type === "finished" || Object.hasOwn(FAULTS, ended.fault.code)) return ended;
  const code: FaultCode = ended.type === "unknown" ? "OUTCOME_UNKNOWN" : "TOOL_FAILED";
  const { receipt: _, ...bare } = ended;
  return { ...bare, fault: { ...ended.fault, code } };
}
