import type { Asker, Json, ToolSpec } from "@vidro/core";
import type { AgentCatalog } from "../../catalog/agents.ts";
import { assertTools } from "../../catalog/threads.ts";
import { itemsIn, pageOf, pageQuery, pageReply } from "../../http/paging.ts";
import type { RouteCall, Reply, Route } from "../../http/route.ts";
import { AGENT, AGENT_DRAFT, agentDraft, agentShape } from "./agent-shape.ts";
import type { StoredAgent } from "../../catalog/agent.ts";

/** Dependencies of the routes. */
export interface AgentRoutesDependencies {
  readonly agents: AgentCatalog;
  /** The tools that a caller can choose from. */
  readonly tools: (asker: Asker) => Promise<readonly ToolSpec[]>;
}

const PATH = "/v1/agents/{agent_uuid}";

/** Lists, shows and changes agents. */
export function agentRoutes({ agents, tools }: AgentRoutesDependencies): readonly Route[] {
  const uuidOf = ({ params }: RouteCall): string => params["agent_uuid"] ?? "";
  const draftOf = async ({ body, caller }: RouteCall) => {
    const draft = agentDraft(body);
    if (draft.tools !== null) assertTools(draft.tools, await tools(caller));
    return draft;
  };
  const read = { scope: "runs", answer: AGENT } as const;
  const write = { scope: "agents:write", answer: AGENT, body: AGENT_DRAFT, mends: true } as const;
  return [
    listRoute(agents),
    {
      ...read,
      method: "GET",
      path: PATH,
      summary: "One agent.",
      handle: async (call) => ({ json: agentShape(await agents.find(uuidOf(call))) }),
    },
    {
      ...write,
      method: "POST",
      path: "/v1/agents",
      summary: "Make an agent.",
      status: 201,
      handle: async (call): Promise<Reply> => {
        const made = await agents.create(await draftOf(call), call.caller.owner);
        return { status: 201, json: agentShape(made), headers: { location: `/v1/agents/${made.uuid}` } };
      },
    },
    {
      ...write,
      method: "PUT",
      path: PATH,
      summary: "Replace all that an agent is made of.",
      handle: async (call) => ({
        json: agentShape(await agents.replace(uuidOf(call), await draftOf(call), call.caller.owner)),
      }),
    },
    {
      method: "DELETE",
      path: PATH,
      summary: "Forget an agent.",
      scope: "agents:write",
      answer: { type: "object", properties: { uuid: { type: "string" }, deleted: { type: "boolean" } } },
      handle: async (call) => {
        const { uuid } = await agents.find(uuidOf(call));
        await agents.delete(uuid);
        return { json: { uuid, deleted: true } };
      },
    },
  ];
}

function listRoute(agents: AgentCatalog): Route {
  return {
    method: "GET",
    path: "/v1/agents",
    summary: "The agents, bunny first and the others by name.",
    scope: "runs",
    answer: { type: "array", items: AGENT },
    query: pageQuery(),
    handle: async (call) => {
      const [page, id] = [pageOf(call), ({ uuid }: StoredAgent): string => uuid];
      const json = (shown: readonly StoredAgent[]): Json => shown.map(agentShape);
      return pageReply(itemsIn(await agents.list(), page, id), page, { id, json });
    },
  };
}
