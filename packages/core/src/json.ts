/** A JSON value; everything in a journal is one. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };

/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json | undefined };

/** Whether a value is a plain object (not an array, not null). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The text in a field; undefined when the field is missing or not a text. */
export function textIn(object: JsonObject | undefined, field: string): string | undefined {
  const value = object?.[field];
  return typeof value === "string" ? value : undefined;
}

/** The canonical text of a JSON value: keys are sorted, so that equal values have equal texts and hashes. */
export function canonicalJson(value: Json | undefined): string {
  if (Array.isArray(value)) return `[${value.map((item: Json) => canonicalJson(item)).join(",")}]`;
  if (isObject(value)) {
    let fields = "";
    for (const key of Object.keys(value).sort()) {
      if (value[key] === undefined) continue;
      fields += `${fields === "" ? "" : ","}${JSON.stringify(key)}:${canonicalJson(value[key])}`;
    }
    return `{${fields}}`;
  }
  return JSON.stringify(value ?? null);
}
