import { Fault } from "@vidro/core";
import type { Ajv, ErrorObject, ValidateFunction } from "ajv";
import type { HandTool } from "./tool.ts";

let ajv: Promise<Ajv> | undefined;

/** What compiles our own schemas; loaded when it is first needed: a hand that only waits pays nothing for it. */
export function compiler(): Promise<Ajv> {
  ajv ??= import("ajv").then(
    // The schemas are ours and the tests have checked them: compiling the schema of schemas first would cost 20 ms.
    (module) => new module.Ajv({ meta: false, validateSchema: false }),
  );
  return ajv;
}

const compiled = new WeakMap<HandTool, ValidateFunction>();

/** Checks an input against its tool's schema; throws BAD_ARGUMENTS that says where it is wrong and how. */
export async function checkArguments(tool: HandTool, input: unknown): Promise<void> {
  const validate = compiled.get(tool) ?? (await compiler()).compile(tool.parameters);
  compiled.set(tool, validate);
  if (validate(input)) return;
  const error = validate.errors?.[0];
  throw new Fault("BAD_ARGUMENTS", `${tool.name}: ${error === undefined ? "wrong input" : explain(error)}.`);
}

/** What is wrong with an input, and where. */
export function explain(error: ErrorObject): string {
  const where = error.instancePath === "" ? "the input" : error.instancePath.slice(1).replaceAll("/", ".");
  const { additionalProperty, allowedValues } = error.params as {
    additionalProperty?: string;
    allowedValues?: unknown[];
  };
  if (additionalProperty !== undefined) return `${where} has no field "${additionalProperty}"`;
  if (allowedValues !== undefined) return `${where} must be one of ${allowedValues.join(", ")}`;
  return `${where} ${error.message ?? "is wrong"}`;
}
