import type { JsonObject } from "../json.ts";
import { EXECUTOR_LIMITS, HAND_LIMITS, REGISTER_LIMITS, RUN_LIMITS } from "../limits.ts";
import { REASONING_EFFORTS } from "../sampling.ts";
import { TOOL_EFFECTS } from "../tool.ts";
import { ACTION_END_SCHEMA } from "./action-end.ts";
import { JUDGEMENT_SCHEMA } from "./judgement.ts";

/* JSON Schemas of the messages; each end compiles the ones that it receives. */

const text = (maxLength: number, minLength = 1): JsonObject => ({ type: "string", minLength, maxLength });
const anyText = text(REGISTER_LIMITS.messageBytes, 0);
const count: JsonObject = { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const flag: JsonObject = { type: "boolean" };
const name = text(REGISTER_LIMITS.nameChars);

function list(items: JsonObject, maxItems: number): JsonObject {
  return { type: "array", maxItems, items };
}

/** An object of these fields and no others. */
function closedObject(required: readonly string[], properties: JsonObject): JsonObject {
  return { type: "object", additionalProperties: false, required, properties };
}

/** An object with at least these fields: a newer peer may send more. */
function openObject(required: readonly string[], properties: JsonObject): JsonObject {
  return { type: "object", required, properties };
}

const CUSTOM_TOOL_SCHEMA = openObject(["name", "description", "parameters"], {
  name,
  description: text(REGISTER_LIMITS.schemaChars, 0),
  parameters: { type: "object" },
  idempotent: flag,
  effect: { enum: TOOL_EFFECTS },
});

/** Fields that determine the task must match their schema: a malformed one is refused, not ignored. */
const HANDSHAKE_SCHEMA = openObject(["client_type", "known_tools"], {
  client_type: name,
  client_version: name,
  initial_prompt: text(RUN_LIMITS.taskChars),
  known_tools: list(name, EXECUTOR_LIMITS.knownTools),
  custom_tools: list(CUSTOM_TOOL_SCHEMA, REGISTER_LIMITS.tools),
  project_spec: openObject(["content"], {
    content: text(EXECUTOR_LIMITS.specChars, 0),
    file_paths: list(text(HAND_LIMITS.pathChars), EXECUTOR_LIMITS.specFiles),
  }),
  resume: openObject(["session_id"], { session_id: name, last_seq: count }),
  open_actions: list(name, REGISTER_LIMITS.orders),
  model: text(RUN_LIMITS.lineChars),
  effort: { enum: [...REASONING_EFFORTS] },
  continues_run: name,
  name,
  working_directory: text(HAND_LIMITS.pathChars),
  extensions: list(name, REGISTER_LIMITS.tags),
});

/** Fields that are left out when they do not fit, by type of message: what else is said counts all the same. What the
 * schema of such a message does not name is left out, too. */
export const OPTIONAL: { readonly [type: string]: readonly string[] } = {
  handshake: ["client_version", "project_spec", "open_actions", "name", "working_directory", "extensions"],
  tool_result: ["status", "error", "code", "stdout", "stderr", "exit_code", "truncated", "duration_ms", "ended"],
};

/** What an executor may say, by type: the schemas of the payloads. */
export const EXECUTOR_MESSAGE_SCHEMAS: { readonly [type: string]: JsonObject } = {
  handshake: HANDSHAKE_SCHEMA,
  tool_result: openObject(["tool_id"], {
    tool_id: name,
    generation_id: {},
    status: { enum: ["success", "error"] },
    result: {},
    error: { type: ["string", "object", "null"] },
    code: name,
    stdout: { type: ["string", "null"] },
    stderr: { type: ["string", "null"] },
    exit_code: { type: ["integer", "null"] },
    truncated: flag,
    duration_ms: { type: "number", minimum: 0 },
    ended: ACTION_END_SCHEMA,
  }),
  tool_output: openObject(["tool_id", "stream", "chunk"], {
    tool_id: name,
    stream: { enum: ["stdout", "stderr"] },
    chunk: anyText,
  }),
  tool_approval: closedObject(["tool_call_id", "approved"], {
    tool_call_id: name,
    approved: flag,
    modifications: {},
    answer: text(RUN_LIMITS.answerChars, 0),
  }),
  user_input: closedObject(["input_request_id", "response"], {
    input_request_id: name,
    response: text(RUN_LIMITS.answerChars, 0),
  }),
  user_message: closedObject(["content"], { message_id: name, content: text(RUN_LIMITS.remarkChars, 1) }),
  tool_judgement: openObject(["tool_id"], { tool_id: name, judgement: JUDGEMENT_SCHEMA, error: anyText, code: name }),
};

const CALL: JsonObject = {
  tool_name: name,
  tool_id: name,
  parameters: { type: "object" },
  timeout_ms: { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
};

/** What a brain may ask of an executor, by type: the schemas of the payloads; all else is only told. */
export const BRAIN_MESSAGE_SCHEMAS: { readonly [type: string]: JsonObject } = {
  run_tool: closedObject(["tool_name", "tool_id", "parameters"], {
    ...CALL,
    generation_id: name,
    ttl_ms: count,
    session_epoch: count,
    run_id: name,
    run_epoch: count,
    approved: name,
    ledger: name,
    traceparent: name,
  }),
  judge_tool: closedObject(["tool_name", "tool_id", "parameters"], CALL),
  cancel_tool: closedObject(["tool_id"], { tool_id: name }),
  tool_acknowledged: closedObject(["tool_id"], { tool_id: name }),
};
