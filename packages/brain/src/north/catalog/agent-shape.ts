import { CATALOG_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { AGENT_NAME } from "../../catalog/agent-files.ts";
import { createValidator } from "../../http/validate.ts";
import type { AgentFields, StoredAgent } from "../../catalog/agent.ts";

/*
 * An agent on the wire. A field without a value is an empty text inside, and null here.
 */

const orNull = (maxLength: number): JsonObject => ({ type: ["string", "null"], maxLength });

/** Names of tools. */
export const TOOL_NAMES: JsonObject = {
  type: ["array", "null"],
  maxItems: CATALOG_LIMITS.tools,
  items: { type: "string", minLength: 1, maxLength: CATALOG_LIMITS.nameChars },
};

const FIELDS: JsonObject = {
  name: { type: "string", pattern: AGENT_NAME.source },
  description: orNull(CATALOG_LIMITS.descriptionChars),
  prompt: orNull(CATALOG_LIMITS.promptChars),
  image: orNull(CATALOG_LIMITS.imageChars),
  model: orNull(CATALOG_LIMITS.descriptionChars),
  tools: TOOL_NAMES,
};

/** Schema of an agent's fields. */
export const AGENT_DRAFT: JsonObject = {
  type: "object",
  properties: FIELDS,
  required: ["name"],
  additionalProperties: false,
};

/** Schema of an agent. */
export const AGENT: JsonObject = {
  type: "object",
  properties: {
    uuid: { type: "string", format: "uuid" },
    ...FIELDS,
    created_at: { type: "string", format: "date-time" },
    updated_at: { type: "string", format: "date-time" },
  },
  required: ["uuid", "name", "description", "prompt", "image", "created_at", "updated_at"],
};

/** The agent's fields from a body that fits `AGENT_DRAFT`. */
export function agentDraft(body: JsonObject): AgentFields {
  const { name, description, prompt, image, model, tools } = body as {
    [Field in keyof AgentFields]?: AgentFields[Field] | null;
  };
  return {
    name: name ?? "",
    description: description ?? "",
    prompt: prompt ?? "",
    image: image ?? null,
    tools: tools ?? null,
    ...(model ? { model } : {}),
  };
}

const draft = createValidator({ body: AGENT_DRAFT });

/** The agent's fields from any body; BAD_ARGUMENTS names what does not fit. */
export function checkedDraft(body: JsonObject): AgentFields {
  return agentDraft(draft.body(body));
}

/** An agent as its wire shape. */
export function agentShape(agent: StoredAgent): JsonObject {
  const { uuid, name, description, prompt, image, model, tools } = agent;
  return {
    uuid,
    name,
    description: description || null,
    prompt: prompt || null,
    image,
    model: model ?? null,
    tools,
    created_at: new Date(agent.createdAt).toISOString(),
    updated_at: new Date(agent.updatedAt).toISOString(),
  };
}
