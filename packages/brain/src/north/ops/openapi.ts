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
      description:
        "A brain decides, hands execute, and the whole way is glass. `x-streams` of an answer has the media types that `Accept` may ask for instead of JSON.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    tags: surfaces.map(({ name }) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "A token as `vidro tokens create` prints it." },
        password: { type: "http", scheme: "basic", description: "The same token as the password of any user." },
      },
      schemas: { Event: EVENT, Fault: FAULT, ChatFault: CHAT_FAULT },
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

const TEXT: JsonObject = { type: "string" };

/** A fault of most surfaces. */
const FAULT: JsonObject = {
  type: "object",
  required: ["ok", "error", "code", "request_id"],
  properties: {
    ok: { type: "boolean", const: false },
    error: { type: "string", description: "What happened, and what was wrong." },
    code: { type: "string", description: "The name of the fault." },
    request_id: TEXT,
  },
};

/** A fault of the surfaces that OpenAI's clients use. */
const CHAT_FAULT: JsonObject = {
  type: "object",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      required: ["message", "type", "param", "code"],
      properties: {
        message: TEXT,
        type: TEXT,
        param: { type: ["string", "null"], description: "The field at fault." },
        code: { type: "string", description: "The name of the fault." },
      },
    },
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
      : {
          requestBody: { required: true, content: { [JSON_TYPE]: { schema: separateTypes(envelopeSchema(route)) } } },
        }),
    responses: responsesOf(route, surface),
    security: scope === undefined ? [] : [{ token: [] }, { password: [] }],
    description: scope === undefined ? "No token is needed." : `A token with the scope \`${scope}\` is needed.`,
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

function responsesOf(route: Route, surface: Surface): JsonObject {
  const { answer, produces = [], scope, body, query, status = 200, others = {} } = route;
  const own = Object.fromEntries(produces.map((type) => [type, { schema: { type: "string" } }]));
  const lines = { [NDJSON_TYPE]: { schema: { $ref: "#/components/schemas/Event" } } };
  const fault = (description: string): JsonObject => ({
    description,
    content: { [JSON_TYPE]: { schema: { $ref: `#/components/schemas/${surface.faultShape ?? "Fault"}` } } },
  });
  const also = Object.entries(others).map(([code, schema]) => [
    code,
    { description: "Another answer.", content: { [JSON_TYPE]: { schema } } },
  ]);
  return {
    [String(status)]: {
      description: "The answer.",
      ...(isObject(query?.["properties"]) && "limit" in query["properties"] ? { headers: NEXT_PAGE } : {}),
      // Programs that make code of this document take all media types of an answer for one mixed type.
      ...(isWritten(answer)
        ? { content: { [JSON_TYPE]: { schema: separateTypes(answer) } }, "x-streams": { ...own, ...lines } }
        : { content: own }),
    },
    ...(scope === undefined
      ? { "421": fault("The brain does not go by that name.") }
      : { "401": fault("No token, or none that is valid."), "403": fault("Not allowed.") }),
    ...(body === undefined && query === undefined
      ? {}
      : { "422": fault("Something does not fit; the message names it.") }),
    ...(Object.fromEntries(also) as JsonObject),
    default: fault("It failed; the body says what and why."),
  };
}

/** Keywords that belong to one type; all others stay where they are. */
const KEYWORDS: { readonly [type: string]: readonly string[] } = {
  string: ["minLength", "maxLength", "pattern", "enum"],
  array: ["items", "minItems", "maxItems"],
  object: ["properties", "required", "additionalProperties", "maxProperties"],
};

/** The schema with one type in each of its parts: programs that make code from it know no mixed types. */
function separateTypes(schema: JsonObject): JsonObject {
  const parts = Object.entries(schema).map(([name, value]) => [name, separateTypesIn(value)] as const);
  const { type, ...rest } = Object.fromEntries(parts);
  const types = Array.isArray(type) ? (type as readonly string[]) : [];
  if (types.filter((each) => each !== "null").length < 2) return type === undefined ? rest : { type, ...rest };
  const owned = new Set(Object.values(KEYWORDS).flat());
  const shared = Object.fromEntries(Object.entries(rest).filter(([name]) => !owned.has(name)));
  const anyOf = types.map((each) => {
    const own = Object.entries(rest).filter(([name]) => KEYWORDS[each]?.includes(name) === true);
    return { type: each, ...Object.fromEntries(own) };
  });
  return { ...shared, anyOf };
}

function separateTypesIn(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) return (value as readonly Json[]).map((each) => separateTypesIn(each) ?? null);
  return isObject(value) ? separateTypes(value) : value;
}

/** A route whose answer has an empty schema writes no JSON. */
function isWritten(answer: JsonObject): boolean {
  return Object.keys(answer).length > 0;
}
