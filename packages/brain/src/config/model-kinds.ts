import { isObject } from "@vidro/core";
import type { ModelFacts, ModelPrice } from "@vidro/core";
import type { SettingKind } from "./setting-kinds.ts";

/* Kinds of settings that tell of models. */

const PRICE_FIELDS = ["input", "output", "cached", "cacheWrite"] as const;
const AMOUNT = /^\d{1,6}(?:\.\d{1,6})?$/;

/** A price as two to four amounts with slashes between them. */
export const modelPrice: SettingKind<ModelPrice> = {
  allowed: "dollars per million tokens as input/output, input/output/cached or input/output/cached/cache-write",
  read(given) {
    const amounts = typeof given === "string" ? given.split("/").map((amount) => amount.trim()) : [];
    const isPrice =
      amounts.length >= 2 && amounts.length <= PRICE_FIELDS.length && amounts.every((one) => AMOUNT.test(one));
    if (!isPrice) return undefined;
    return Object.fromEntries(amounts.map((amount, index) => [PRICE_FIELDS[index], Number(amount)]));
  },
};

/** An amount of US dollars above nothing. */
export const dollars: SettingKind<number> = {
  allowed: "an amount of US dollars above 0, such as 2.50",
  read(given) {
    const amount = typeof given === "string" && AMOUNT.test(given.trim()) ? Number(given) : given;
    return typeof amount === "number" && amount > 0 && amount < 1_000_000 ? amount : undefined;
  },
};

type FieldCheck = (value: unknown) => boolean;

const isCount: FieldCheck = (value) => Number.isSafeInteger(value) && (value as number) > 0;
const isAmount: FieldCheck = (value) => typeof value === "number" && value >= 0 && value < 1_000_000;
const isFlag: FieldCheck = (value) => typeof value === "boolean";

/** Prices are compared by the text of their days: one that no calendar has would never hold, or always. */
function isDay(value: unknown): boolean {
  if (typeof value !== "string" || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return false;
  const day = new Date(`${value}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(value);
}

const PRICE_CHECKS: { readonly [field in keyof Required<ModelPrice>]: FieldCheck } = {
  input: isAmount,
  output: isAmount,
  cached: isAmount,
  cacheWrite: isAmount,
  abovePromptTokens: isCount,
  from: isDay,
};

const isPrice: FieldCheck = (value) =>
  hasFields(value, PRICE_CHECKS) && isAmount(value["input"]) && isAmount(value["output"]);

const FACT_CHECKS: { readonly [field in keyof Required<ModelFacts>]: FieldCheck } = {
  vendor: (value) => typeof value === "string",
  window: isCount,
  answer: isCount,
  tools: isFlag,
  images: isFlag,
  pdfs: isFlag,
  thinking: isFlag,
  showsThinking: isFlag,
  parallelCalls: isFlag,
  refusesForcedTools: isFlag,
  prices: (value) => Array.isArray(value) && value.length > 0 && value.every(isPrice),
};

/** Facts by the name of a model: an object, or the same as JSON text. */
export const factsByModel: SettingKind<{ readonly [model: string]: ModelFacts }> = {
  allowed: 'an object such as {"my-model": {"window": 32768, "prices": [{"input": 1, "output": 2}]}}',
  read(given) {
    const value = typeof given === "string" ? parsedOrNothing(given) : given;
    const isRight = isObject(value) && Object.values(value).every((facts) => hasFields(facts, FACT_CHECKS));
    return isRight ? (value as { readonly [model: string]: ModelFacts }) : undefined;
  },
};

/** Whether a value is an object whose fields are all known and right. */
function hasFields(
  value: unknown,
  checks: { readonly [field: string]: FieldCheck },
): value is { readonly [field: string]: unknown } {
  if (!isObject(value)) return false;
  return Object.entries(value).every(
    ([field, given]) => Object.hasOwn(checks, field) && checks[field]?.(given) === true,
  );
}

function parsedOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
