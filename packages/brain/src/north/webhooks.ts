import { EVENT_NAMES, WEBHOOK_LIMITS } from "@vidro/core";
import type { EventType, JsonObject } from "@vidro/core";
import type { Reply, Route, RouteCall, Surface } from "../http/route.ts";
import { UNASKED_EVENTS } from "../webhooks/webhooks.ts";
import type { Webhook, Webhooks } from "../webhooks/webhooks.ts";
import { plainFault } from "./ops.ts";

/* Addresses that are told of events of all runs, so that only an administrator adds one. */

/** Dependencies of this surface. */
export interface WebhookDependencies {
  readonly webhooks: Pick<Webhooks, "add" | "list" | "remove">;
}

/** Adds, lists and removes webhooks. */
export function webhooksSurface({ webhooks }: WebhookDependencies): Surface {
  const common = { scope: "admin" } as const;
  const routes: readonly Route[] = [
    {
      ...common,
      method: "GET",
      path: "/v1/webhooks",
      summary: "The webhooks of this brain, oldest first",
      answer: ROWS,
      handle: async () => ({ json: { webhooks: webhooks.list().map(rowOf) } }),
    },
    {
      ...common,
      method: "POST",
      path: "/v1/webhooks",
      summary: "Tell an address of events; the answer has the secret of its signatures, once",
      body: INPUT,
      answer: MADE,
      status: 201,
      handle: (call) => add(webhooks, call),
    },
    {
      ...common,
      method: "DELETE",
      path: "/v1/webhooks/{webhook}",
      summary: "Remove a webhook and drop what waits for it",
      answer: { type: "object", properties: { id: TEXT, removed: { const: true } }, required: ["id", "removed"] },
      async handle({ params }) {
        const id = params["webhook"] ?? "";
        await webhooks.remove(id);
        return { json: { id, removed: true } };
      },
    },
  ];
  return { name: "webhooks", faultBody: plainFault, routes };
}

async function add(webhooks: WebhookDependencies["webhooks"], { body, caller }: RouteCall): Promise<Reply> {
  const { url, events = UNASKED_EVENTS } = body as unknown as { url: string; events?: readonly EventType[] };
  const made = await webhooks.add({ url, events }, caller.owner);
  return { json: { ...rowOf(made), secret: made.secret }, status: 201 };
}

function rowOf({ id, owner, url, events, createdAt }: Webhook): JsonObject {
  return { id, owner, url, events: [...events], createdAt };
}

const TEXT = { type: "string" };
const EVENTS = {
  type: "array",
  minItems: 1,
  maxItems: EVENT_NAMES.length,
  uniqueItems: true,
  items: { enum: [...EVENT_NAMES] },
  description: `Types of events. Default: ${UNASKED_EVENTS.join(", ")}.`,
};
const INPUT = {
  type: "object",
  additionalProperties: false,
  properties: { url: { type: "string", minLength: 1, maxLength: WEBHOOK_LIMITS.urlChars }, events: EVENTS },
  required: ["url"],
};
const FIELDS = { id: TEXT, owner: TEXT, url: TEXT, events: EVENTS, createdAt: { type: "integer" } };
const REQUIRED = ["id", "owner", "url", "events", "createdAt"];
const ROW = { type: "object", properties: FIELDS, required: REQUIRED };
const ROWS = { type: "object", properties: { webhooks: { type: "array", items: ROW } }, required: ["webhooks"] };
const MADE = { type: "object", properties: { ...FIELDS, secret: TEXT }, required: [...REQUIRED, "secret"] };
