import { createSchemaCompiler } from "@vidro/core/wire/schema-check";
import type { SchemaCompiler } from "@vidro/core/wire/schema-check";

let compiler: Promise<SchemaCompiler> | undefined;

/** The compiler of the hand's schemas; Ajv is loaded on the first call, so that an idle hand does not pay for it. */
export function loadSchemaCompiler(): Promise<SchemaCompiler> {
  compiler ??= import("ajv/dist/2020.js").then(({ Ajv2020 }) => createSchemaCompiler(Ajv2020));
  return compiler;
}
