import { isObject } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";
import { VidroError } from "./vidro-error.ts";

/* Reads fields of the brain's answers; what is missing or strange is BAD_ANSWER. */

/** The object that an answer has to be. */
export function objectIn(json: Json | undefined, what: string): JsonObject {
  if (isObject(json)) return json;
  throw badAnswer(what);
}

/** The list that an answer has to be. */
export function listIn(json: Json | undefined, what: string): readonly Json[] {
  if (Array.isArray(json)) return json as readonly Json[];
  throw badAnswer(what);
}

/** A list of names; null when there is none. */
export function optionalNames(json: Json | undefined): readonly string[] | null {
  return json === undefined || json === null ? null : listIn(json, "names").map(String);
}

/** A field that has to be a text. */
export function textField(from: JsonObject, name: string): string {
  const value = from[name];
  if (typeof value === "string") return value;
  throw badAnswer(name);
}

/** A text; null when the field is missing. */
export function optionalTextField(from: JsonObject, name: string): string | null {
  const value = from[name] ?? null;
  return value === null ? null : textField(from, name);
}

/** A field that has to be a number. */
export function numberField(from: JsonObject, name: string): number {
  const value = from[name];
  if (typeof value === "number") return value;
  throw badAnswer(name);
}

function badAnswer(what: string): VidroError {
  return new VidroError("BAD_ANSWER", `The answer has not the shape of a brain's: ${what} is missing or strange.`);
}
