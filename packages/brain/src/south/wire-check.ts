import { createRequire } from "node:module";
import type * as ajv from "ajv/dist/2020.js";
import { createSchemaCompiler, explainMismatch } from "@vidro/core/wire/schema-check";
import type { SchemaCompiler, SchemaValidator } from "@vidro/core/wire/schema-check";
import type { JsonObject } from "@vidro/core";

/** Explains what is wrong with a received value, and where; undefined when it fits its schema. */
export type Check = (value: JsonObject) => string | undefined;

/** Removes unknown fields, and optional fields that do not fit their schema. */
type LenientReader = (value: JsonObject) => JsonObject;

/**
 * A reader for values of a schema. It removes fields without a schema, the named optional fields where they do not fit,
 * and every null that the schema does not allow, since some peers write null for a missing field.
 */
export function lenientReader(schema: JsonObject, optional: readonly string[]): LenientReader {
  const fields = (schema["properties"] ?? {}) as { readonly [field: string]: JsonObject };
  const alone = (field: string): JsonObject => ({ type: "object", properties: { [field]: fields[field] ?? {} } });
  const check = schemaChecks(Object.fromEntries(optional.map((field) => [field, alone(field)])));
  const takesNull = ({ type }: JsonObject): boolean =>
    type === undefined || (Array.isArray(type) && type.includes("null"));
  const isGood = (value: JsonObject, field: string): boolean =>
    Object.hasOwn(fields, field) &&
    (value[field] !== null || takesNull(fields[field] ?? {})) &&
    (!optional.includes(field) || check(field)?.(value) === undefined);
  return (value) => Object.fromEntries(Object.entries(value).filter(([field]) => isGood(value, field)));
}

const require = createRequire(import.meta.url);
let compiler: SchemaCompiler | undefined;

/** A check for each of these schemas, which must be trusted; each is compiled at its first use. */
export function schemaChecks(schemas: { readonly [name: string]: JsonObject }): (name: string) => Check | undefined {
  const compiled = new Map<string, SchemaValidator>();
  return (name) => {
    const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
    if (schema === undefined) return undefined;
    return (value) => {
      const validate = compiled.get(name) ?? compile(schema);
      compiled.set(name, validate);
      const mismatch = explainMismatch(validate, value, "the message");
      return mismatch === undefined ? undefined : `${mismatch}.`;
    };
  };
}

function compile(schema: JsonObject): SchemaValidator {
  // Loaded with the first message, so that the brain starts sooner.
  compiler ??= createSchemaCompiler((require("ajv/dist/2020.js") as typeof ajv).Ajv2020);
  return compiler.compile(schema);
}
