import { agentRoutes } from "./catalog/agent-routes.ts";
import type { AgentWorld } from "./catalog/agent-routes.ts";
import { threadRoutes } from "./catalog/thread-routes.ts";
import type { ThreadWorld } from "./catalog/thread-routes.ts";
import { chatFault } from "./openai/fault-body.ts";
import type { Route, Surface } from "./route.ts";

/** What the front end can choose from: agents, tools, conversations. */
export function catalogSurface(world: AgentWorld & ThreadWorld): Surface {
  return {
    name: "catalog",
    faultBody: (fault) => chatFault(fault),
    routes: [...agentRoutes(world), toolsRoute(world), ...threadRoutes(world)],
  };
}

function toolsRoute({ tools }: Pick<AgentWorld, "tools">): Route {
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
    handle: async ({ caller }) => ({
      json: (await tools(caller)).map(({ name, description, parameters }) => ({
        name,
        description,
        parameters_schema: parameters,
      })),
    }),
  };
}
