/*
 * How hand and brain compile their schemas and word what does not fit. Core imports nothing, so the Ajv class is given
 * to it; the types here are the part of Ajv that is used.
 */

/**
 * Ajv options for Vidro's own schemas, which are JSON Schema 2020-12. Unknown keywords are refused, formats are
 * annotations. The schemas are not checked against the meta-schema at run time, which would cost 20 ms at start; tests
 * do that.
 */
export const SCHEMA_OPTIONS = {
  strict: true,
  strictTypes: false,
  strictTuples: false,
  strictRequired: false,
  validateFormats: false,
  meta: false,
  validateSchema: false,
} as const;

/** Additional options for peers that send text for numbers, leave out defaults and add unknown fields. */
export const LENIENT_SCHEMA_OPTIONS = { coerceTypes: true, useDefaults: true, removeAdditional: true } as const;

/** What an Ajv error says of a value that does not fit. */
export interface SchemaError {
  /** JSON pointer to the value. */
  readonly instancePath: string;
  readonly params: { readonly [name: string]: unknown };
  readonly message?: string | undefined;
}

/** A compiled schema; `errors` is of the last call. */
export interface SchemaValidator {
  (value: unknown): unknown;
  errors?: readonly SchemaError[] | null;
}

/** Compiles schemas; an Ajv is one. */
export interface SchemaCompiler {
  compile(schema: object): SchemaValidator;
}

/** A class of compilers: `Ajv2020`, which hand and brain load when they first need it. */
export type SchemaCompilerClass = new (options: object) => SchemaCompiler;

/** Makes a compiler with the options that hand and brain share; it throws for a schema that it cannot use. */
export function createSchemaCompiler(Ajv: SchemaCompilerClass, options: object = {}): SchemaCompiler {
  const ajv = new Ajv({ ...SCHEMA_OPTIONS, ...options });
  return {
    compile(schema) {
      // Ajv's own extension: such a schema answers with promises, which are rejected without a caller that waits.
      if ("$async" in schema) throw new Error('"$async" is not of JSON Schema');
      return ajv.compile(schema);
    },
  };
}

/** The first thing that does not fit, as words without a full stop; undefined if the value fits. */
export function explainMismatch(validate: SchemaValidator, value: unknown, whole: string): string | undefined {
  if (validate(value) === true) return undefined;
  const error = validate.errors?.[0];
  return error === undefined ? `${whole} is wrong` : explainError(error, whole);
}

function explainError({ instancePath, params, message }: SchemaError, whole: string): string {
  const where = instancePath === "" ? whole : instancePath.slice(1).replaceAll("/", ".");
  const { additionalProperty, allowedValues } = params;
  if (typeof additionalProperty === "string") return `${where} has no field ${JSON.stringify(additionalProperty)}`;
  if (Array.isArray(allowedValues)) return `${where} must be one of ${allowedValues.join(", ")}`;
  return `${where} ${message ?? "is wrong"}`;
}
