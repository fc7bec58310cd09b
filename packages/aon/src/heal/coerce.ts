import type { Json } from "@vidro/core";

const NUMBER = /^[+-]?(?:\d{1,15}(?:\.\d{0,15})?|\.\d{1,15})(?:e[+-]?\d{1,3})?$/i;
const YES: readonly string[] = ["true", "yes", "sim", "si", "sí", "1", "on"];
const NO: readonly string[] = ["false", "no", "nao", "não", "0", "off"];

/** The value as a type that JSON Schema names; undefined when that would lose or make up something. */
export function coerce(value: Json, type: string): Json | undefined {
  switch (type) {
    case "number":
      return asNumber(value);
    case "integer": {
      const number = asNumber(value);
      return Number.isSafeInteger(number) ? number : undefined;
    }
    case "boolean":
      return asBoolean(value);
    case "string":
      return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
    case "array":
      return value === null ? undefined : [value];
    case "null":
      return value === "" || value === "null" ? null : undefined;
    default:
      return undefined;
  }
}

/** Whether a value is of a type that JSON Schema names. */
export function isOfType(value: Json, type: string): boolean {
  switch (type) {
    case "integer":
      return Number.isInteger(value);
    case "array":
      return Array.isArray(value);
    case "null":
      return value === null;
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    default:
      return typeof value === type;
  }
}

function asNumber(value: Json): number | undefined {
  if (typeof value !== "string" || !NUMBER.test(value.trim())) return undefined;
  const number = Number(value);
  // What is too large or too small for a number would become infinity or zero.
  const isKept = Number.isFinite(number) && (number !== 0 || !/^[^e]*[1-9]/i.test(value.trim()));
  return isKept ? number : undefined;
}

function asBoolean(value: Json): boolean | undefined {
  if (value === 1 || value === 0) return value === 1;
  if (typeof value !== "string") return undefined;
  const word = value.trim().toLowerCase();
  if (YES.includes(word)) return true;
  return NO.includes(word) ? false : undefined;
}
