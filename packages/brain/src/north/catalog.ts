import type { JsonObject, ToolSpec } from "@vidro/core";
import { agentRoutes } from "./catalog/agent-routes.ts";
import type { AgentRoutesDependencies } from "./catalog/agent-routes.ts";
import { threadRoutes } from "./catalog/thread-routes.ts";
import type { ThreadRoutesDependencies } from "./catalog/thread-routes.ts";
import { chatFault } from "./openai/fault-body.ts";
import { itemsIn, pageOf, pageQuery, pageReply } from "../http/paging.ts";
import type { Route, Surface } from "../http/route.ts";

/** Routes of the catalog: agents, tools, conversations. */
export function catalogSurface(deps: AgentRoutesDependencies & ThreadRoutesDependencies): Surface {
  return {
    name: "catalog",
    faultBody: (fault) => chatFault(fault),
    faultShape: "ChatFault",
    routes: [...agentRoutes(deps), toolsRoute(deps), ...threadRoutes(deps)],
  };
}

function shapeOf({ name, description, parameters }: ToolSpec): JsonObject {
  return { name, description, parameters_schema: parameters };
}

function toolsRoute({ tools }: Pick<AgentRoutesDependencies, "tools">): Route {
  const properties = {
    name: { type: "string" },
    description: { type: "string" },
    parameters_schema: { type: "object" },
  };
  return {
    method: "GET",
    path: "/v1/tools",
    summary: "The tools that a conversation can enable.",
    scope: "runs",
    answer: { type: "array", items: { type: "object", properties, required: Object.keys(properties) } },
    query: pageQuery(),
    handle: async (call) => {
      const [page, id] = [pageOf(call), ({ name }: ToolSpec): string => name];
      return pageReply(itemsIn(await tools(call.caller), page, id), page, { id, json: (all) => all.map(shapeOf) });
    },
  };
}
