import { CATALOG_LIMITS } from "@vidro/core";
import type { HandCatalog, JsonObject } from "@vidro/core";
import type { Runs } from "../../run/runs.ts";
import type { Thread, ThreadRequest, Threads } from "../../catalog/threads.ts";
import { transcript } from "../openai/transcript.ts";
import { andOneMore, pageOf, pageQuery, pageReply } from "../../http/paging.ts";
import type { Route } from "../../http/route.ts";
import { TOOL_NAMES } from "./agent-shape.ts";

/** Dependencies of the routes. */
export interface ThreadRoutesDependencies {
  readonly threads: Threads;
  readonly runs: Runs;
  readonly hands: Pick<HandCatalog, "select">;
}

/** The metadata field with the selector of hands: clients of the chat wire can set no other field. */
const HAND = "hand";

const METADATA: JsonObject = {
  type: ["object", "null"],
  maxProperties: CATALOG_LIMITS.metadataFields,
  additionalProperties: { type: "string", maxLength: CATALOG_LIMITS.metadataChars },
};

const THREAD_REQUEST: JsonObject = {
  type: "object",
  properties: {
    agent_uuid: { type: ["string", "null"], minLength: 1, maxLength: CATALOG_LIMITS.nameChars },
    tools_enabled: TOOL_NAMES,
    metadata: METADATA,
    // Clients of the vendor's wire may send first messages here; they are refused rather than dropped.
    items: { type: ["array", "null"], maxItems: 0, items: {} },
  },
  additionalProperties: false,
};

const TEXT: JsonObject = { type: "string" };
const THREAD: JsonObject = {
  type: "object",
  properties: {
    thread_uuid: TEXT,
    agent_uuid: TEXT,
    tools_enabled: TOOL_NAMES,
    id: TEXT,
    object: { type: "string", const: "conversation" },
    created_at: { type: "integer", minimum: 0 },
    metadata: METADATA,
    messages: { type: "array", items: { type: "object" } },
  },
  required: ["thread_uuid", "id", "object", "created_at", "metadata"],
};

/** Makes, lists and shows conversations; their messages are the chat surface's. */
export function threadRoutes({ threads, runs, hands }: ThreadRoutesDependencies): readonly Route[] {
  const common = { scope: "runs", answer: THREAD } as const;
  return [
    {
      ...common,
      method: "POST",
      path: "/v1/conversations",
      summary: "Begin a conversation with an agent and some of its tools.",
      body: THREAD_REQUEST,
      mends: true,
      handle: async ({ body, caller }) => {
        const request = requestOf(body);
        const selector = request.metadata?.[HAND];
        const where = typeof selector === "string" ? { hand: { selector, ids: hands.select(selector, caller) } } : {};
        return { json: threadShape(await threads.create({ ...request, ...where, owner: caller.owner })) };
      },
    },
    {
      ...common,
      method: "GET",
      path: "/v1/conversations",
      summary: "The caller's conversations, newest first.",
      answer: { type: "array", items: THREAD },
      query: pageQuery(),
      handle: async (call) => {
        const page = pageOf(call);
        const found = await threads.list(call.caller.owner, andOneMore(page));
        return pageReply(found, page, { id: ({ id }) => id, json: (shown) => shown.map(threadShape) });
      },
    },
    {
      ...common,
      method: "GET",
      path: "/v1/conversations/{thread_uuid}",
      summary: "A conversation and all that was said in it.",
      handle: async ({ params, caller }) => {
        const thread = await threads.find(params["thread_uuid"] ?? "", caller.owner);
        return { json: { ...threadShape(thread), messages: await transcript(runs, thread.id, caller.owner) } };
      },
    },
  ];
}

function requestOf(body: JsonObject): Omit<ThreadRequest, "owner"> {
  const given = body as {
    agent_uuid?: string | null;
    tools_enabled?: readonly string[] | null;
    metadata?: JsonObject | null;
  };
  return { agent: given.agent_uuid ?? null, tools: given.tools_enabled ?? null, metadata: given.metadata ?? {} };
}

function threadShape({ id, agent, tools, metadata, createdAt }: Thread): JsonObject {
  return {
    thread_uuid: id,
    agent_uuid: agent,
    tools_enabled: tools,
    id,
    object: "conversation",
    created_at: Math.floor(createdAt / 1000),
    metadata,
  };
}
