import { Fault } from "@vidro/core";
import { nearest } from "@vidro/core/text";
import { PROVIDERS } from "./providers.ts";

/** Prefixes of well-known models, for names without a vendor. */
const FAMILIES: readonly (readonly [RegExp, string])[] = [
  [/^(gpt|o\d|chatgpt)/i, "openai"],
  [/^claude/i, "anthropic"],
  [/^gemini/i, "google"],
];

/** The fault of an unknown model name, with the names that are possible. */
export function unknownModel(name: string): Fault {
  const named = PROVIDERS.map(({ name: vendor, single }) => (single === true ? vendor : `${vendor}/<model>`));
  const forms = ["offline", ...named].join(", ");
  const guess = guessName(name);
  const hint = guess === undefined ? "" : ` Did you mean ${guess}?`;
  return new Fault(
    "MODEL_UNKNOWN",
    `No model goes by "${name}".${hint} It may be ${forms}, or any name together with VIDRO_MODEL_URL.`,
  );
}

function guessName(name: string): string | undefined {
  const family = FAMILIES.find(([begins]) => begins.test(name));
  if (family !== undefined) return `${family[1]}/${name}`;
  const [first = "", ...rest] = name.split("/");
  const words = ["offline", ...PROVIDERS.map((provider) => provider.name)];
  const near = nearest(first, words);
  return near === undefined ? undefined : [near, ...rest].join("/");
}
