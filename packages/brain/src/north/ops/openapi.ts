import type { Json, JsonObject } from "@vidro/core";
import { isObject } from "@vidro/core";
import { envelopeSchema } from "../../http/envelope.ts";
import type { Route, Surface } from "../../http/route.ts";

const JSON_TYPE = "application/json";
const NDJSON_TYPE = "application/x-ndjson";

/** Facts about the API as a whole. */
interface OpenApiFacts {
  readonly version: string;
  readonly surfaces: readonly Surface[];
}

/** The OpenAPI 3.1 document of all routes, made from the schemas that validate requests. */
export function openApi({ version, surfaces }: OpenApiFacts): JsonObject {
  const paths: { [path: string]: { [method: string]: Json } } = {};
  for (const surface of surfaces) {
    for (const route of surface.routes) {
      (paths[route.path] ??= {})[route.method.toLowerCase()] = operation(surface, route);
    }
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Vidro",
      version,
      description: "A brain decides, hands execute, and the whole way is glass.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    tags: surfaces.map(({ name }) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "A token as `vidro tokens create` prints it." },
      },
      schemas: { Event: EVENT },
    },
  };
}

/** A line of a glass box. */
const EVENT: JsonObject = {
  type: "object",
  description: "One line of the way; the last one is `result`, whose `data` is the JSON answer, or `error`.",
  required: ["type", "timestamp", "requestId"],
  properties: {
    type: { enum: ["status", "intent_analysis", "healing", "interactive_healing_request", "result", "error"] },
    timestamp: { type: "integer", description: "Milliseconds since the epoch." },
    requestId: { type: "string" },
  },
};

function operation(surface: Surface, route: Route): JsonObject {
  const { scope } = route;
  return {
    operationId: operationId(route),
    tags: [surface.name],
    summary: route.summary,
    parameters: parametersOf(route),
    ...(route.body === undefined
      ? {}
      : { requestBody: { required: true, content: { [JSON_TYPE]: { schema: envelopeSchema(route) } } } }),
    responses: responsesOf(route),
    security: scope === undefined ? [] : [{ token: [] }],
    ...(scope === undefined ? {} : { description: `A token with the scope \`${scope}\` is needed.` }),
  };
}

/** `GET /v1/agents/{uuid}` is `getV1AgentsUuid`. */
function operationId({ method, path }: Route): string {
  const words = path.split(/\W+/).filter((word) => word !== "");
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

function parametersOf({ path, query, method }: Route): readonly Json[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const required: Json | undefined = query?.["required"];
  const inQuery = Object.entries(isObject(query?.["properties"]) ? query["properties"] : {}).map(([name, schema]) => ({
    name,
    in: "query",
    required: Array.isArray(required) && required.includes(name),
    schema: schema ?? {},
  }));
  return [...inPath, ...inQuery, ...(method === "POST" ? [IDEMPOTENCY_KEY] : [])];
}

const IDEMPOTENCY_KEY: JsonObject = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "The same key gives the same answer for a day, and nothing is done twice.",
  schema: { type: "string", minLength: 1, maxLength: 255 },
};

/** The header with the cursor of the next page. */
const NEXT_PAGE: JsonObject = {
  "X-Next-Cursor": {
    description: "The `after` of the next page; there is none with the last one.",
    schema: { type: "string" },
  },
};

function responsesOf({ answer, produces = [], scope, body, query }: Route): JsonObject {
  const own = Object.fromEntries(produces.map((type) => [type, { schema: { type: "string" } }]));
  const content = {
    [JSON_TYPE]: { schema: answer },
    [NDJSON_TYPE]: { schema: { $ref: "#/components/schemas/Event" } },
  };
  return {
    "200": {
      description: "The answer.",
      ...(isObject(query?.["properties"]) && "limit" in query["properties"] ? { headers: NEXT_PAGE } : {}),
      content: isWritten(answer) ? { ...own, ...content } : own,
    },
    ...(scope === undefined ? {} : { "401": fault("No token, or none that is valid."), "403": fault("Not allowed.") }),
    ...(body === undefined && query === undefined
      ? {}
      : { "422": fault("Something does not fit; the message names it.") }),
    default: fault("It failed; the body says what and why in the words of this surface."),
  };
}

/** A route whose answer has an empty schema writes no JSON. */
function isWritten(answer: JsonObject): boolean {
  return Object.keys(answer).length > 0;
}

function fault(description: string): JsonObject {
  return { description, content: { [JSON_TYPE]: { schema: { type: "object" } } } };
}
