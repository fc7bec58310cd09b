import { Fault } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { REQUEST_SCHEMAS } from "@vidro/core/wire/agent-ws-schemas";
import { compiler, explain } from "../tools/check-arguments.ts";
import type { ValidateFunction } from "ajv";

const compiled = new Map<string, ValidateFunction>();

/** Checks a request against the schema of its method; throws BAD_REQUEST that says where it is wrong. */
export async function checkMessage(method: string, fields: JsonObject): Promise<void> {
  const schema = REQUEST_SCHEMAS[method];
  if (schema === undefined) throw new Fault("BAD_REQUEST", `There is no method ${JSON.stringify(method)}.`);
  const validate = compiled.get(method) ?? (await compiler()).compile(schema);
  compiled.set(method, validate);
  if (validate(fields)) return;
  const error = validate.errors?.[0];
  throw new Fault("BAD_REQUEST", `${method}: ${error === undefined ? "wrong fields" : explain(error)}.`);
}
