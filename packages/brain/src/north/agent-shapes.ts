import { isObject, RUN, STREAM } from "@vidro/core";
import type { JsonObject } from "@vidro/core";

/* The shapes of the agent's wire. Each body may also come inside the envelope `{id, method, params, timestamp}`. */

/** What begins a session. */
export interface SessionBody {
  readonly params?: JsonObject;
  readonly agent_uuid?: string | null;
  readonly tools_enabled?: readonly string[] | null;
  readonly hand?: string;
}

/** What begins a run. */
export interface GenerateBody {
  readonly session_id: string;
  readonly prompt?: string;
  readonly objective?: string;
  readonly history?: readonly { readonly role: "user" | "assistant"; readonly content: string }[];
}

/** What answers a question. */
export interface AnswerBody {
  readonly session_id: string;
  readonly question_id?: string;
  readonly answer: string;
}

const NAME = { type: "string", minLength: 1, maxLength: 128 };
const TASK = { type: "string", minLength: 1, maxLength: RUN.taskChars };

const TURN = object({ role: { enum: ["user", "assistant"] }, content: { type: "string", maxLength: RUN.taskChars } }, [
  "role",
  "content",
]);

/** The bodies that the routes take. */
export const BODIES = {
  session: enveloped(
    object({
      params: { type: "object" },
      agent_uuid: { anyOf: [NAME, { type: "null" }] },
      tools_enabled: { anyOf: [{ type: "array", maxItems: STREAM.namedTools, items: NAME }, { type: "null" }] },
      hand: NAME,
    }),
  ),
  generate: enveloped({
    ...object(
      {
        session_id: NAME,
        prompt: TASK,
        objective: TASK,
        history: { type: "array", maxItems: STREAM.historyTurns, items: TURN },
      },
      ["session_id"],
    ),
    anyOf: [{ required: ["prompt"] }, { required: ["objective"] }],
  }),
  answer: enveloped(
    object({ session_id: NAME, question_id: NAME, answer: { type: "string", maxLength: RUN.answerChars } }, [
      "session_id",
      "answer",
    ]),
  ),
  /** The route itself asks for `session_id`, since on this wire its absence is a 400 and not a 422. */
  abort: enveloped(object({ session_id: NAME })),
} as const;

/** What the routes answer with. */
export const ANSWERS = {
  ok: { type: "object", required: ["ok"], properties: { ok: { const: true } } },
  session: { type: "object", required: ["ok", "session_id"], properties: { ok: { const: true }, session_id: NAME } },
  status: {
    type: "object",
    required: ["ok", "agent_system", "gemma_worker", "hands", "runs", "timestamp"],
    properties: {
      ok: { const: true },
      agent_system: { const: "running" },
      gemma_worker: { enum: ["available", "unavailable"] },
      hands: { type: "integer" },
      runs: { type: "integer" },
      timestamp: { type: "string", format: "date-time" },
    },
  },
} as const;

/** What a body says, with or without its envelope. */
export function unwrapped(body: JsonObject): JsonObject {
  return typeof body["method"] === "string" && isObject(body["params"]) ? body["params"] : body;
}

function enveloped(plain: JsonObject): JsonObject {
  const id = { anyOf: [NAME, { type: "integer" }] };
  const timestamp = { anyOf: [NAME, { type: "number" }] };
  const envelope = object({ id, method: NAME, params: plain, timestamp }, ["method", "params"]);
  return { type: "object", anyOf: [plain, envelope] };
}

function object(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: "object", additionalProperties: false, required, properties };
}
