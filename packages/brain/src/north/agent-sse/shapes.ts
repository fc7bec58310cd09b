import { RUN_LIMITS, STREAM_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { PARAMS } from "../sampling.ts";
import type { Params } from "../sampling.ts";
import { SELECTOR } from "../hand-selector.ts";

/* Bodies and answers of the agent's wire, as types and JSON Schemas. */

/** Body that starts a session. */
export interface SessionBody {
  readonly params?: JsonObject & Params;
  readonly agent_uuid?: string | null;
  readonly tools_enabled?: readonly string[] | null;
  readonly hand?: string;
}

/** Body that starts a run. */
export interface GenerateBody {
  readonly session_id: string;
  readonly prompt?: string;
  readonly objective?: string;
  readonly history?: readonly { readonly role: "user" | "assistant"; readonly content: string }[];
  /** False asks for the end of the run instead of its events; true is the default. */
  readonly stream?: boolean | null;
}

/** Body that answers a question: of a run in a session, or of a stuck healing. */
export interface AnswerBody {
  readonly session_id?: string;
  readonly question_id?: string;
  readonly healing_id?: string;
  readonly answer: string;
  /** With a yes to a plan: fields of the action's input to run instead. */
  readonly input?: JsonObject;
}

/** Body that says something to a run at work. */
export interface SayBody {
  readonly session_id: string;
  /** The run; the only open one of the session when left out. */
  readonly run_id?: string;
  readonly text: string;
}

const NAME = { type: "string", minLength: 1, maxLength: 128 };
const TASK = { type: "string", minLength: 1, maxLength: RUN_LIMITS.taskChars };

const TURN = object(
  { role: { enum: ["user", "assistant"] }, content: { type: "string", maxLength: RUN_LIMITS.taskChars } },
  ["role", "content"],
);

/** Schemas of request bodies. */
export const BODIES = {
  session: object({
    params: { type: "object", maxProperties: STREAM_LIMITS.params, properties: PARAMS },
    agent_uuid: { ...NAME, type: ["string", "null"] },
    tools_enabled: { type: ["array", "null"], maxItems: STREAM_LIMITS.namedTools, items: NAME },
    hand: SELECTOR,
  }),
  generate: {
    ...object(
      {
        session_id: NAME,
        prompt: TASK,
        objective: TASK,
        history: { type: "array", maxItems: STREAM_LIMITS.historyTurns, items: TURN },
        stream: { type: ["boolean", "null"] },
      },
      ["session_id"],
    ),
    anyOf: [{ required: ["prompt"] }, { required: ["objective"] }],
  },
  answer: {
    ...object(
      {
        session_id: NAME,
        question_id: NAME,
        healing_id: NAME,
        answer: { type: "string", maxLength: RUN_LIMITS.answerChars },
        input: { type: "object" },
      },
      ["answer"],
    ),
    anyOf: [{ required: ["session_id"] }, { required: ["healing_id"] }],
  },
  say: object(
    { session_id: NAME, run_id: NAME, text: { type: "string", minLength: 1, maxLength: RUN_LIMITS.remarkChars } },
    ["session_id", "text"],
  ),
  abort: object({ session_id: NAME }, ["session_id"]),
} as const;

/** Schemas of answers. */
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

function object(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: "object", additionalProperties: false, required, properties };
}
