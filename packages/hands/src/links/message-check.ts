import { Fault } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { REQUEST_SCHEMAS } from "@vidro/core/wire/agent-ws-schemas";
import { explainMismatch } from "@vidro/core/wire/schema-check";
import type { SchemaValidator } from "@vidro/core/wire/schema-check";
import { loadSchemaCompiler } from "../schema-compiler.ts";

const compiled = new Map<string, SchemaValidator>();

/** Checks a request against the schema of its method; throws BAD_REQUEST that says where it is wrong. */
export async function checkMessage(method: string, fields: JsonObject): Promise<void> {
  const schema = REQUEST_SCHEMAS[method];
  if (schema === undefined) throw new Fault("BAD_REQUEST", `There is no method ${JSON.stringify(method)}.`);
  const validate = compiled.get(method) ?? (await loadSchemaCompiler()).compile(schema);
  compiled.set(method, validate);
  const mismatch = explainMismatch(validate, fields, "the message");
  if (mismatch !== undefined) throw new Fault("BAD_REQUEST", `${method}: ${mismatch}.`);
}
