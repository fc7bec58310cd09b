import { createRequire } from "node:module";
import type * as ajv2020 from "ajv/dist/2020.js";
import type { Ajv2020, ErrorObject, ValidateFunction } from "ajv/dist/2020.js";
import { Fault, HTTP_LIMITS, isObject } from "@vidro/core";
import { SCHEMA_OPTIONS } from "@vidro/core/wire/schema-check";
import type { FaultCode, Json, JsonObject } from "@vidro/core";
import type { Route } from "./route.ts";

/** Checks a request against the schemas of its route. */
export interface Validator {
  /** The body with its defaults; BAD_ARGUMENTS, or the route's own code, naming what does not fit. */
  body(value: Json): JsonObject;
  /** The parameters with their defaults; BAD_ARGUMENTS naming what does not fit. */
  query(given: URLSearchParams): { readonly [name: string]: string };
}

const BODIES = { ...SCHEMA_OPTIONS, useDefaults: true } as const;
/** Values of a query are text, so numbers and booleans are coerced. */
const QUERIES = { ...BODIES, coerceTypes: true } as const;

const require = createRequire(import.meta.url);
let bodies: Ajv2020 | undefined;
let queries: Ajv2020 | undefined;

/** Loaded with the first request that needs validation, to keep the start of the server short. */
function ajv(options: typeof BODIES | typeof QUERIES): Ajv2020 {
  const loaded = require("ajv/dist/2020.js") as typeof ajv2020;
  return new loaded.Ajv2020(options);
}

/** A validator for a route; its schemas are compiled when they are first needed. */
export function createValidator(route: Partial<Route>): Validator {
  let checkBody: ValidateFunction | undefined;
  let checkQuery: ValidateFunction | undefined;
  return {
    body(value) {
      if (route.body === undefined) return {};
      checkBody ??= (bodies ??= ajv(BODIES)).compile(route.body);
      return fitToSchema(checkBody, value, { whole: "the body", lacking: route.lacking });
    },
    query(given) {
      if (route.query === undefined) return {};
      checkQuery ??= (queries ??= ajv(QUERIES)).compile(route.query);
      const values = fitToSchema(checkQuery, once(given), { whole: "the query" });
      return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, textOf(value)]));
    },
  };
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

function once(given: URLSearchParams): JsonObject {
  if (given.size > HTTP_LIMITS.queryParameters)
    throw new Fault("BAD_ARGUMENTS", `A query has at most ${HTTP_LIMITS.queryParameters} parameters.`);
  const values = new Map<string, string>();
  for (const [name, value] of given) {
    if (values.has(name)) throw new Fault("BAD_ARGUMENTS", `The query gives ${quoteName(name)} twice: give it once.`);
    values.set(name, value);
  }
  return Object.fromEntries(values);
}

/** The value that is checked, and the fault code of a missing field. */
interface CheckedPart {
  readonly whole: string;
  readonly lacking?: FaultCode | undefined;
}

function fitToSchema(check: ValidateFunction, value: Json, { whole, lacking }: CheckedPart): JsonObject {
  if (check(value)) {
    if (isObject(value)) return value;
    throw new Fault("BAD_ARGUMENTS", `${sentence(whole)} must be an object.`);
  }
  const [error] = check.errors ?? [];
  const path = error === undefined ? "" : pathOf(error);
  const where = path === "" ? whole : `${whole} at ${path}`;
  const code = (error?.keyword === "required" ? lacking : undefined) ?? "BAD_ARGUMENTS";
  throw new Fault(code, `${sentence(where)} ${wordsOf(error)}.`, { detail: { path } });
}

/** JSON pointer to what does not fit; a missing or unknown field is named as if it were there. */
function pathOf({ instancePath, keyword, params }: ErrorObject): string {
  const name: unknown =
    keyword === "required"
      ? params["missingProperty"]
      : keyword === "additionalProperties"
        ? params["additionalProperty"]
        : keyword === "unevaluatedProperties"
          ? params["unevaluatedProperty"]
          : undefined;
  const pointer = typeof name === "string" ? `${instancePath}/${name}` : instancePath;
  return pointer.length > POINTER_CHARS ? `${pointer.slice(0, POINTER_CHARS)}…` : pointer;
}

const POINTER_CHARS = 200;

function wordsOf(error: ErrorObject | undefined): string {
  if (error === undefined) return "does not fit";
  switch (error.keyword) {
    case "required":
      return "is missing";
    case "additionalProperties":
    case "unevaluatedProperties":
      return "is not known here";
    case "enum":
      return `must be one of ${(error.params["allowedValues"] as readonly Json[]).map((value) => JSON.stringify(value)).join(", ")}`;
    case "const":
      return `must be ${JSON.stringify(error.params["allowedValue"])}`;
    default:
      return error.message ?? "does not fit";
  }
}

function quoteName(name: string): string {
  return JSON.stringify(name.slice(0, POINTER_CHARS));
}

function sentence(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
