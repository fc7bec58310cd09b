import { Fault, isObject } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";
import type { Route } from "./route.ts";

/*
 * Messages of the agent's wire may have the form of its other channels: flat with a `method`, or with their fields in
 * `params`. `type` is the same as `method`; `id` and `timestamp` may be left out, and are not used here.
 */

const NAME = { type: "string", minLength: 1, maxLength: 128 };
const STAMPS = {
  id: { anyOf: [NAME, { type: "integer" }] },
  timestamp: { anyOf: [NAME, { type: "number" }] },
};

/** The body without its envelope; BAD_REQUEST when it is a message for another route. */
export function unwrapEnvelope({ envelope, body: schema = {} }: Pick<Route, "envelope" | "body">, brought: Json): Json {
  if (envelope === undefined || !isObject(brought)) return brought;
  const { method, type, id, timestamp, ...fields } = brought;
  const word = method ?? type;
  if (word === undefined) return brought;
  if ((method !== undefined && type !== undefined) || typeof word !== "string" || !envelope.includes(word))
    throw new Fault(
      "BAD_REQUEST",
      `A message to this route has the method ${envelope.join(" or ")}, in one of "method" and "type".`,
    );
  if (!isStamp(id) || !isStamp(timestamp))
    throw new Fault("BAD_REQUEST", "The id and the timestamp of a message are short texts or numbers.");
  return bodyIn(fields, isObject(schema["properties"]) ? schema["properties"] : {});
}

function isStamp(value: Json | undefined): boolean {
  if (typeof value === "string") return value.length > 0 && value.length <= NAME.maxLength;
  return value === undefined || typeof value === "number";
}

/** The fields of a message: those in `params`, unless the schema has a field named `params` and that one is meant. */
function bodyIn(fields: JsonObject, properties: JsonObject): Json {
  const { params, ...beside } = fields;
  if (!isObject(params)) return fields;
  const [extra] = Object.keys(beside);
  if ("params" in properties) {
    const isField = extra !== undefined || Object.keys(params).some((name) => !(name in properties));
    return isField ? fields : params;
  }
  if (extra === undefined) return params;
  throw new Fault("BAD_ARGUMENTS", `The body at /${extra.slice(0, NAME.maxLength)} is not known beside params.`);
}

/** The schema of a route's body, with and without its envelope. */
export function envelopeSchema({ envelope, body = {} }: Pick<Route, "envelope" | "body">): JsonObject {
  if (envelope === undefined) return body;
  const method = { type: "string", enum: envelope };
  const wrapped = { type: "object", additionalProperties: false, required: ["method", "params"] };
  return {
    anyOf: [body, { ...wrapped, properties: { ...STAMPS, method, params: body } }],
    description: "`type` says the same as `method`, and the fields may also lie beside it instead of in `params`.",
  };
}
