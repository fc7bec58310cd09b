import { REGISTER_LIMITS, TELEMETRY_LIMITS } from "@vidro/core";
import type { HandCatalog, HandRow, JsonObject } from "@vidro/core";
import type { TelemetrySample, TelemetryStore } from "../observe/telemetry.ts";
import { plainFault } from "./ops.ts";
import { itemsIn, pageOf, pageQuery, pageReply } from "../http/paging.ts";
import type { RouteCall, Reply, Route, Surface } from "../http/route.ts";
import { SELECTOR } from "./hand-selector.ts";

/* Lists hands: each caller sees those that their runs may use, and an administrator changes them. */

/** Dependencies of this surface. */
interface HandsSurfaceDependencies {
  readonly hands: HandCatalog;
  readonly telemetry: Pick<TelemetryStore, "latest" | "since">;
}

/** Lists, shows, revokes and quarantines hands. */
export function handsSurface(deps: HandsSurfaceDependencies): Surface {
  return {
    name: "hands",
    faultBody: plainFault,
    routes: [
      read("", { summary: "Your hands, by name", query: LIST, answer: ROWS }, async (call) => list(deps, call)),
      read(
        "/{hand}",
        { summary: "A hand, by id or name, and the latest telemetry of its host", answer: SHOWN },
        async (call) => show(deps, call),
      ),
      read(
        "/{hand}/telemetry",
        { summary: "Telemetry samples of a hand's host", query: SECONDS, answer: SAMPLES },
        async (call) => showTelemetry(deps, call),
      ),
      change("revoke", "Revoke a hand for good, at once", (call) =>
        deps.hands.revoke(handIn(call), whyIn(call), call.caller),
      ),
      change("quarantine", "Give a hand no new work", (call) =>
        deps.hands.quarantine(handIn(call), whyIn(call), call.caller),
      ),
      change("release", "Let a hand work again", (call) => deps.hands.release(handIn(call), call.caller)),
    ],
  };
}

function list({ hands }: HandsSurfaceDependencies, { query, caller }: RouteCall): Reply {
  const { select } = query;
  const page = pageOf({ query });
  const rows = select === undefined ? hands.list(caller) : hands.choose(select, caller);
  const id = (row: HandRow): string => row.id;
  return pageReply(itemsIn(rows, page, id), page, { id, json: (shown) => ({ hands: shown.map(rowShape) }) });
}

function show({ hands, telemetry }: HandsSurfaceDependencies, call: RouteCall): Reply {
  const row = hands.find(handIn(call), call.caller);
  const latest = telemetry.latest(row.id);
  const tools = row.tools.map(({ name, description }) => ({ name, description }));
  return { json: { ...rowShape(row), tools, telemetry: latest === undefined ? null : sampleShape(latest) } };
}

function showTelemetry({ hands, telemetry }: HandsSurfaceDependencies, call: RouteCall): Reply {
  const { id } = hands.find(handIn(call), call.caller);
  const samples = telemetry.since(id, Number(call.query["seconds"]) * 1000);
  return { json: { id, samples: samples.map(sampleShape) } };
}

function handIn({ params }: RouteCall): string {
  return params["hand"] ?? "";
}

function whyIn({ body, caller }: RouteCall): string {
  const { why = `By ${caller.owner}.` } = body as { readonly why?: string };
  return why;
}

/** The JSON of a hand. */
export function rowShape(row: HandRow): JsonObject {
  const { id, name, owner, state, barred = null, why = null, gateway, version, workspace, tags } = row;
  return {
    id,
    name,
    owner,
    state,
    barred,
    why,
    gateway,
    version,
    workspace,
    tags,
    tools: row.tools.map((tool) => tool.name),
    last_seen_at: new Date(row.lastSeenAt).toISOString(),
    created_at: new Date(row.createdAt).toISOString(),
  };
}

function sampleShape({ at, payload }: TelemetrySample): JsonObject {
  return { at: new Date(at).toISOString(), payload };
}

type Shapes = Pick<Route, "summary" | "query" | "answer">;

function read(path: string, shapes: Shapes, handle: Route["handle"]): Route {
  return { method: "GET", path: `/v1/hands${path}`, scope: "runs", ...shapes, handle };
}

function change(word: string, summary: string, apply: (call: RouteCall) => Promise<HandRow>): Route {
  return {
    method: "POST",
    path: `/v1/hands/{hand}/${word}`,
    summary,
    scope: "admin",
    body: WHY,
    answer: ROW,
    handle: async (call) => ({ json: rowShape(await apply(call)) }),
  };
}

const TEXT = { type: "string" };
const TEXT_OR_NULL = { type: ["string", "null"] };
const TIME = { type: "string", format: "date-time" };
const FIELDS: JsonObject = {
  id: TEXT,
  name: TEXT,
  owner: TEXT,
  state: { enum: ["ok", "degraded", "down"] },
  barred: { enum: ["revoked", "quarantined", null] },
  why: TEXT_OR_NULL,
  gateway: TEXT,
  version: TEXT,
  workspace: TEXT,
  tags: { type: "array", items: TEXT },
  last_seen_at: TIME,
  created_at: TIME,
};
/** The schema of rowShape(). */
export const ROW = object({ ...FIELDS, tools: { type: "array", items: TEXT } });
const ROWS = object({ hands: { type: "array", items: ROW } });
const SAMPLE = object({ at: TIME, payload: { type: "object" } });
const SHOWN = object({
  ...FIELDS,
  tools: { type: "array", items: object({ name: TEXT, description: TEXT }) },
  telemetry: { anyOf: [SAMPLE, { type: "null" }] },
});
const SAMPLES = object({ id: TEXT, samples: { type: "array", items: SAMPLE } });
const LIST = pageQuery({ select: SELECTOR });
const SECONDS: JsonObject = {
  type: "object",
  additionalProperties: false,
  properties: { seconds: { type: "integer", minimum: 1, maximum: TELEMETRY_LIMITS.keptMs / 1000, default: 60 } },
};
const WHY: JsonObject = {
  type: "object",
  additionalProperties: false,
  properties: { why: { type: "string", minLength: 1, maxLength: REGISTER_LIMITS.whyChars } },
};

/** The schema of an object that requires all these properties. */
function object(properties: JsonObject): JsonObject {
  return { type: "object", required: Object.keys(properties), properties };
}
