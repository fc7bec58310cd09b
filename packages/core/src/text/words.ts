import { MINUTE_MS, SECOND_MS } from "../limits.ts";
import { commandLine, oneLine, quoteWord } from "./printable.ts";
import type { Usage } from "../event.ts";
import { isObject } from "../json.ts";
import type { Json } from "../json.ts";
import { DELEGATE } from "../parent-link.ts";
import type { Action, Plan } from "../tool.ts";

const UNITS = ["B", "kB", "MB", "GB", "TB"] as const;
const KILO = 1000;

/** A duration in words, rounded before its unit is chosen. */
export function spanWords(ms: number): string {
  if (Math.round(ms) < SECOND_MS) return `${Math.round(ms)} ms`;
  const tenths = Math.round(ms / TENTH_MS);
  if (tenths * TENTH_MS < MINUTE_MS) return `${(tenths / 10).toFixed(1)} s`;
  const seconds = Math.floor(tenths / 10);
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3600)];
  return hours === 0 ? `${minutes} min ${seconds % 60} s` : `${hours} h ${minutes % 60} min`;
}

const TENTH_MS = SECOND_MS / 10;

/** A number of bytes in words. */
export function byteWords(bytes: number): string {
  let amount = bytes;
  let unit = 0;
  // What would be rounded up to a thousand is one of the next unit.
  while (amount >= (unit === 0 ? KILO : KILO - 0.05) && unit < UNITS.length - 1) {
    amount /= KILO;
    unit += 1;
  }
  return `${unit === 0 ? amount : amount.toFixed(1)} ${UNITS[unit] ?? ""}`;
}

/** Characters of a run's id that are shown: the last ones, since the first ones of ids are alike. */
export const SHORT_ID_CHARS = 8;

/** A number with its noun. */
export function countWords(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** An amount of US dollars; a small one keeps two digits that are not zero. */
export function dollarWords(usd: number): string {
  if (usd === 0 || usd >= 0.01) return `$${usd.toFixed(2)}`;
  return `$${usd.toFixed(Math.min(MOST_DIGITS, 1 - Math.floor(Math.log10(usd))))}`;
}

/** Digits behind the point at most. */
const MOST_DIGITS = 10;

/** Tokens and cost of one or more calls of a model; what is nothing is left out. */
export function usageWords({ inputTokens, outputTokens, ...parts }: Usage): string {
  const { cachedTokens = 0, thinkingTokens = 0, costUsd = 0, unpricedTokens = 0 } = parts;
  const inside = [
    ...(cachedTokens === 0 ? [] : [`${cachedTokens.toLocaleString("en")} cached`]),
    ...(thinkingTokens === 0 ? [] : [`${thinkingTokens.toLocaleString("en")} thinking`]),
  ];
  const tokens = countWords(inputTokens + outputTokens, "token");
  const words = inside.length === 0 ? tokens : `${tokens} (${inside.join(", ")})`;
  const cost = costUsd === 0 ? "" : ` · ${dollarWords(costUsd)}`;
  if (unpricedTokens === 0) return words + cost;
  const isWhole = unpricedTokens >= inputTokens + outputTokens;
  return `${words}${cost} · price ${isWhole ? "" : `of ${unpricedTokens.toLocaleString("en")} `}not known`;
}

/** What an action does, on one line. */
export function actionWords(action: Action, chars = 120): string {
  const { command, args } = action.input;
  if (typeof command === "string") {
    const rest = Array.isArray(args) ? args.map((word: unknown) => String(word)) : [];
    return oneLine(Array.isArray(args) ? commandLine([command, ...rest]) : command, chars);
  }
  const { tasks } = action.input;
  if (action.tool === DELEGATE && Array.isArray(tasks))
    return oneLine(`${DELEGATE} ${tasks.map((one) => taskOf(one)).join("; ")}`, chars);
  const values = Object.values(action.input).map((value) =>
    typeof value === "string" ? value : JSON.stringify(value),
  );
  return oneLine([action.tool, ...values].join(" "), chars);
}

function taskOf(one: Json): string {
  const task = isObject(one) ? one["task"] : one;
  return typeof task === "string" ? task : JSON.stringify(task);
}

/** Exactly what a plan would do, on one line of any length. */
export function planWords(plan: Plan): string {
  switch (plan.kind) {
    case "process":
      return commandLine(plan.argv);
    case "shell":
      return `shell ${quoteWord(plan.command)}`;
    case "file":
      return `${plan.operation} ${quoteWord(plan.path)}`;
    case "files":
      return plan.files.map((file) => planWords(file)).join(", ");
    case "fetch":
      return `fetch ${quoteWord(plan.url)}`;
    case "facts":
      return `read the facts ${quoteWord(plan.facts)}`;
    case "order":
      return `${plan.tool} ${JSON.stringify(plan.input)}`;
  }
}
