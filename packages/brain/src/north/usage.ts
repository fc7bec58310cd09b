import { PAGE_LIMITS } from "@vidro/core";
import type { JsonObject, SpendingSums } from "@vidro/core";
import type { Surface } from "../http/route.ts";
import { visibleOwner } from "./approval-rights.ts";
import { plainFault } from "./ops.ts";

/** Dependencies of this surface. */
export interface UsageDependencies {
  readonly spending: Pick<SpendingSums, "list">;
}

/** What models used and cost, by day or thread. */
export function usageSurface(deps: UsageDependencies): Surface {
  return {
    name: "usage",
    faultBody: plainFault,
    routes: [
      {
        method: "GET",
        path: "/v1/usage",
        scope: "runs",
        summary: "What models used and cost by day or thread, newest first; that of all for an administrator",
        query: QUERY,
        answer: { type: "object", required: ["usage"], properties: { usage: { type: "array", items: ROW } } },
        async handle({ query, caller }) {
          const { by = "day", since = "0", limit = String(PAGE_LIMITS.items) } = query;
          const owner = visibleOwner(caller);
          const rows = await deps.spending.list(by === "thread" ? "thread" : "day", {
            since: Number(since),
            limit: Number(limit),
            ...(owner === undefined ? {} : { owner }),
          });
          return { json: { usage: rows.map((row): JsonObject => ({ ...row })) } };
        },
      },
    ],
  };
}

const COUNT = { type: "integer", minimum: 0 };
const QUERY = {
  type: "object",
  additionalProperties: false,
  properties: {
    by: { enum: ["day", "thread"], description: "Default: day." },
    since: { ...COUNT, description: "Only what was used after this time, in milliseconds since the epoch." },
    limit: { type: "integer", minimum: 1, maximum: PAGE_LIMITS.items },
  },
};
const ROW = {
  type: "object",
  required: ["key", "owner", "updatedAt", "runs", "steps", "inputTokens", "outputTokens", "costUsd"],
  properties: {
    key: { type: "string", description: "The day as 2026-12-01 in UTC, or the id of the thread." },
    owner: { type: "string" },
    updatedAt: { ...COUNT, description: "Milliseconds since the epoch." },
    runs: { ...COUNT, description: "Runs that called a model." },
    steps: COUNT,
    inputTokens: COUNT,
    outputTokens: COUNT,
    cachedTokens: { ...COUNT, description: "Part of inputTokens." },
    cacheWriteTokens: { ...COUNT, description: "Part of inputTokens." },
    thinkingTokens: { ...COUNT, description: "Part of outputTokens." },
    unpricedTokens: { ...COUNT, description: "Tokens whose price is not known, which are not in costUsd." },
    costUsd: { type: "number", minimum: 0, description: "US dollars." },
  },
};
