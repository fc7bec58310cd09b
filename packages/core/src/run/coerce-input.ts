import { parseJson } from "../codec/json.ts";
import { isObject } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";

/*
 * Models write arguments that mean the right thing in the wrong form: a number as text, one path where a list is wanted,
 * an object as text. What the schema leaves no doubt about is put right; everything else is left to the schema's check,
 * whose words go back to the model.
 */

/** The input in the forms that the schema asks for; the same object when nothing had to be changed. */
export function coerceInput(input: JsonObject, schema: JsonObject): JsonObject {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? (schema["required"] as readonly Json[]) : [];
  let isChanged = false;
  const fields = Object.entries(input).flatMap(([name, value]): readonly (readonly [string, Json | undefined])[] => {
    const wanted = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!isObject(wanted)) return [[name, value]];
    // Many models give every field, and null where they mean none.
    if (value === null && !typesOf(wanted).includes("null") && !required.includes(name)) {
      isChanged = true;
      return [];
    }
    const coerced = coerceValue(value, wanted);
    isChanged ||= coerced !== value;
    return [[name, coerced]];
  });
  return isChanged ? Object.fromEntries(fields) : input;
}

function coerceValue(value: Json | undefined, schema: JsonObject): Json | undefined {
  const types = typesOf(schema);
  if (isObject(value) && (types.length === 0 || types.includes("object"))) return coerceInput(value, schema);
  if (Array.isArray(value) && types.includes("array")) return coerceItems(value as readonly Json[], schema);
  if (types.length === 0 || types.some((type) => isOfType(value, type))) return value;
  for (const type of types) {
    const coerced = COERCIONS[type]?.(value, schema);
    if (coerced !== undefined && isOfType(coerced, type)) return coerced;
  }
  return value;
}

function coerceItems(value: readonly Json[], { items }: JsonObject): Json {
  if (!isObject(items)) return value;
  const coerced = value.map((item) => coerceValue(item, items) ?? item);
  return coerced.some((item, index) => item !== value[index]) ? coerced : value;
}

type Coercion = (value: Json | undefined, schema: JsonObject) => Json | undefined;

const NUMBER = /^\s*-?\d{1,15}(?:\.\d{1,15})?\s*$/;
const asNumber: Coercion = (value) => (typeof value === "string" && NUMBER.test(value) ? Number(value) : undefined);

const COERCIONS: { readonly [type: string]: Coercion } = {
  integer: asNumber,
  number: asNumber,
  boolean: (value) => {
    const word = typeof value === "string" ? value.trim().toLowerCase() : "";
    return word === "true" ? true : word === "false" ? false : undefined;
  },
  string: (value) => (typeof value === "number" || typeof value === "boolean" ? String(value) : undefined),
  object: (value, schema) => {
    const parsed = parseText(value);
    return isObject(parsed) ? coerceInput(parsed, schema) : undefined;
  },
  array: (value, schema) => {
    const parsed = parseText(value);
    if (Array.isArray(parsed)) return coerceItems(parsed as readonly Json[], schema);
    const isOne = typeof value === "string" || typeof value === "number";
    return isOne ? coerceItems([value], schema) : undefined;
  },
};

function typesOf({ type }: JsonObject): readonly string[] {
  if (typeof type === "string") return [type];
  return Array.isArray(type) ? type.filter((one): one is string => typeof one === "string") : [];
}

function isOfType(value: Json | undefined, type: string): boolean {
  switch (type) {
    case "integer":
      return Number.isInteger(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    case "null":
      return value === null;
    default:
      return typeof value === type;
  }
}

function parseText(value: Json | undefined): unknown {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return undefined;
  try {
    return parseJson(value);
  } catch {
    return undefined;
  }
}

/**
 * An input that is no JSON, as far as it is clear what was meant: without a fence around it, without commas before a
 * closing bracket. Undefined otherwise; text that was cut off is never completed.
 */
export function mendJsonText(text: string): JsonObject | undefined {
  const begun = text.replace(/^\s*```\w*\s*/, "").trim();
  const bare = begun.endsWith("```") ? begun.slice(0, -3).trim() : begun;
  for (const attempt of [bare, withoutTrailingCommas(bare)]) {
    const parsed = parseText(attempt);
    if (isObject(parsed)) return parsed;
  }
  return undefined;
}

/**
 * Text in quotes is left as it is: a comma before a bracket may be part of what was said. Quotes that are not closed go
 * to the end: what begins at each of them is not looked at again.
 */
function withoutTrailingCommas(text: string): string {
  return text.replaceAll(/"(?:\\.|[^"\\])*(?:"|\\?$)|,(?=\s*[}\]])/gs, (found) => (found === "," ? "" : found));
}
