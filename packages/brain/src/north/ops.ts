import type { ServerResponse } from "node:http";
import type { Fault, Json, JsonObject } from "@vidro/core";
import type { Health } from "../observe/health.ts";
import type { Metrics } from "../observe/metrics.ts";
import { METRICS_TYPE } from "../observe/prometheus.ts";
import { DOCS_PAGE, DOCS_POLICY } from "./ops/docs.ts";
import type { Reply, Route, Surface } from "../http/route.ts";

/** Dependencies of this surface. */
export interface OpsFacts {
  readonly metrics: Metrics;
  /** Health of each part; never rejects. */
  readonly health: () => Promise<{ readonly [thing: string]: Health }>;
  /** Reasons of the parts that are not ok. */
  readonly details?: () => { readonly [thing: string]: string };
  /** The OpenAPI document of all surfaces. */
  readonly openApi: () => JsonObject;
}

/** Health, metrics and the description of the API. */
export function opsSurface({ metrics, health, details = () => ({}), openApi }: OpsFacts): Surface {
  return {
    name: "ops",
    faultBody: plainFault,
    routes: [
      {
        ...plain("/healthz", { summary: "Whether the process is alive", answer: HEALTHZ }, async () => ({
          json: { status: "ok" },
        })),
        answersToTheEnd: true,
      },
      {
        ...plain("/readyz", { summary: "Whether the brain can take work", answer: READYZ }, async ({ isGoing }) =>
          isGoing ? DRAINING : readiness(await health(), details()),
        ),
        answersToTheEnd: true,
        others: { "503": READYZ },
      },
      plain("/openapi.json", { summary: "This API, as OpenAPI 3.1", answer: { type: "object" } }, async () => ({
        json: openApi(),
      })),
      {
        ...plain("/docs/api", { summary: "This API, as a page", answer: {} }, async () =>
          page("text/html; charset=utf-8", DOCS_PAGE),
        ),
        produces: ["text/html"],
      },
      {
        ...plain("/metrics", { summary: "Metrics for Prometheus", answer: {} }, async () => {
          // The check also updates the metrics.
          await health();
          return page(METRICS_TYPE, metrics.text());
        }),
        scope: "metrics",
        produces: ["text/plain"],
      },
    ],
  };
}

/** The form of faults of surfaces without their own. */
export function plainFault({ code, message }: Fault, requestId: string): Json {
  return { ok: false, error: message, code, request_id: requestId };
}

const HEALTHZ = { type: "object", required: ["status"], properties: { status: { const: "ok" } } };
const READYZ = {
  type: "object",
  required: ["status", "checks"],
  properties: {
    status: { type: "string", enum: ["ready", "degraded", "down", "draining"] },
    checks: { type: "object", additionalProperties: { enum: ["ok", "degraded", "down"] } },
    details: { type: "object", additionalProperties: { type: "string" } },
  },
};

/** The answer of a brain that shuts down. */
const DRAINING: Reply = { json: { status: "draining", checks: {} }, status: 503 };

function plain(path: string, about: Pick<Route, "summary" | "answer">, handle: Route["handle"]): Route {
  return { method: "GET", path, scope: undefined, ...about, handle };
}

function readiness(checks: { readonly [thing: string]: Health }, details: { readonly [thing: string]: string }): Reply {
  const found = new Set(Object.values(checks));
  const said = Object.keys(details).length === 0 ? { checks } : { checks, details };
  if (found.has("down")) return { json: { status: "down", ...said }, status: 503 };
  return { json: { status: found.has("degraded") ? "degraded" : "ready", ...said } };
}

function page(type: string, text: string): Reply {
  return {
    async stream(response: ServerResponse) {
      const policy = type.startsWith("text/html") ? { "content-security-policy": DOCS_POLICY } : {};
      response.writeHead(200, { "content-type": type, "content-length": Buffer.byteLength(text), ...policy });
      response.end(text);
    },
  };
}
