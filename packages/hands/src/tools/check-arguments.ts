import { Fault } from "@vidro/core";
import { explainMismatch } from "@vidro/core/wire/schema-check";
import type { SchemaValidator } from "@vidro/core/wire/schema-check";
import { loadSchemaCompiler } from "../schema-compiler.ts";
import type { HandTool } from "./tool.ts";

const compiled = new WeakMap<HandTool, SchemaValidator>();

/** Checks an input against its tool's schema; throws BAD_ARGUMENTS that says where it is wrong and how. */
export async function checkArguments(tool: HandTool, input: unknown): Promise<void> {
  // A schema of others is not compiled: it may be of another dialect, or made to be slow.
  if (tool.isForeign === true) return;
  const validate = compiled.get(tool) ?? (await loadSchemaCompiler()).compile(tool.parameters);
  compiled.set(tool, validate);
  const mismatch = explainMismatch(validate, input, "the input");
  if (mismatch !== undefined) throw new Fault("BAD_ARGUMENTS", `${tool.name}: ${mismatch}.`);
}
