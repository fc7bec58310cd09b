import { isInvalid } from "./failure.ts";
import type { Failure } from "./failure.ts";
import type { Heuristic } from "./heuristic.ts";
import { mendInput } from "./mend.ts";
import type { MendOptions } from "./mend.ts";

const INVALID =
  /^(?:INVALID_SCHEMA|INVALID_INPUT|VALIDATION_ERROR|BAD_ARGUMENTS|UNPROCESSABLE|FST_ERR_VALIDATION|ERR_VALIDATION)$/;

/** Makes an input fit its schema: fields by another name, values of another type, defaults for what is missing. */
export function fixSchemaValidation(options: MendOptions = {}): Heuristic {
  return {
    action: "fix_schema_validation",
    severity: "medium",
    description: "The input does not fit its schema: mapping names, types and defaults.",
    attempts: 1,
    issue: "invalid_schema",
    decision: "apply_semantic_mapping",
    fits: (failure, { operation, input }) =>
      operation.schema !== undefined && input !== undefined && isRefusal(failure),
    async mend({ operation: { schema }, input }) {
      if (schema === undefined || input === undefined) return undefined;
      const { value, changes } = mendInput(input, schema, options);
      return changes.length === 0 ? undefined : { input: value, metadata: { changes } };
    },
  };
}

function isRefusal({ status, code, name }: Failure): boolean {
  return status === 400 || status === 422 || isInvalid(name) || INVALID.test(code);
}
