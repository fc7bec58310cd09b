import { Fault } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import type { KeptToolRow, KeptTools } from "../catalog/kept-tools.ts";
import { itemsIn, pageOf, pageQuery, pageReply } from "../http/paging.ts";
import type { Reply, Route, RouteCall, Surface } from "../http/route.ts";
import { mayApprove, visibleOwner } from "./approval-rights.ts";
import type { ApprovalRights } from "./approval-rights.ts";
import { plainFault } from "./ops.ts";

/* Tools that models proposed and people approved; they live with their thread, or with all threads of their owner. */

/** Dependencies of this surface. */
export interface KeptToolDependencies extends ApprovalRights {
  readonly keptTools: Pick<KeptTools, "list" | "find" | "remove" | "promote">;
}

/** Lists, shows, removes and promotes approved tools. */
export function keptToolsSurface(deps: KeptToolDependencies): Surface {
  const { keptTools } = deps;
  const named = ({ params, caller }: RouteCall): Promise<KeptToolRow> =>
    keptTools.find(params["tool"] ?? "", visibleOwner(caller));
  const routes: readonly Route[] = [
    {
      method: "GET",
      path: "/v1/tools/proposed",
      scope: "runs",
      summary: "Your tools that a model proposed and a person approved",
      query: pageQuery(),
      answer: ROWS,
      handle: (call) => list(deps, call),
    },
    {
      method: "GET",
      path: "/v1/tools/proposed/{tool}",
      scope: "runs",
      summary: "One of them",
      answer: ROW,
      handle: async (call) => ({ json: jsonOf(await named(call)) }),
    },
    {
      method: "DELETE",
      path: "/v1/tools/proposed/{tool}",
      scope: "runs",
      summary: "Remove an approved tool; later runs do not have it",
      answer: ROW,
      async handle(call) {
        const row = await named(call);
        await keptTools.remove(row);
        return { json: jsonOf(row) };
      },
    },
    {
      method: "POST",
      path: "/v1/tools/proposed/{tool}/promote",
      scope: "runs",
      summary: "Let all threads of its owner have the approved tool of one; takes the right to approve",
      answer: ROW,
      async handle(call) {
        if (!mayApprove(call.caller, deps)) throw new Fault("FORBIDDEN", "scope approve required");
        return { json: jsonOf(await keptTools.promote(await named(call))) };
      },
    },
  ];
  return { name: "kept-tools", faultBody: plainFault, routes };
}

async function list({ keptTools }: KeptToolDependencies, call: RouteCall): Promise<Reply> {
  const [page, id] = [pageOf(call), (row: KeptToolRow): string => row.id];
  const all = await keptTools.list(visibleOwner(call.caller));
  return pageReply(itemsIn(all, page, id), page, { id, json: (shown) => ({ tools: shown.map(jsonOf) }) });
}

function jsonOf({ id, owner, thread, tool, by, at, source }: KeptToolRow): JsonObject {
  const { name, description, parameters, argv = [] } = tool;
  const about = { id, name, owner, ...(thread === undefined ? {} : { thread }) };
  return { ...about, description, parameters, argv, by, at, source };
}

const TEXT = { type: "string" };
const PROPERTIES = {
  id: { type: "string", description: "The name, and behind a dot the thread, unless all threads have the tool." },
  name: TEXT,
  owner: TEXT,
  thread: { type: "string", description: "Absent when all threads of the owner have the tool." },
  description: TEXT,
  parameters: { type: "object", description: "JSON Schema of the input." },
  argv: { type: "array", items: TEXT, description: "The command; {name} stands for an input." },
  by: { type: "string", description: "Who approved it." },
  at: { type: "integer", description: "Milliseconds since the epoch." },
  source: {
    type: "object",
    properties: { run: TEXT, seq: { type: "integer" } },
    required: ["run", "seq"],
    description: "The proposal in its journal.",
  },
};
const REQUIRED = Object.keys(PROPERTIES).filter((name) => name !== "thread");
const ROW = { type: "object", properties: PROPERTIES, required: REQUIRED };
const ROWS = { type: "object", properties: { tools: { type: "array", items: ROW } }, required: ["tools"] };
