import { MODEL_LIMITS, SAMPLING_LIMITS } from "@vidro/core";
import type { JsonObject, Sampling } from "@vidro/core";

/* Sampling parameters of a model in the format of the wires. */

/** The fields of `Params`. */
export const PARAMS: JsonObject = {
  temperature: { type: ["number", "null"] },
  top_p: { type: ["number", "null"] },
  max_tokens: { type: ["integer", "null"] },
  repeat_penalty: { type: ["number", "null"] },
  stop: {
    type: ["string", "array", "null"],
    maxLength: MODEL_LIMITS.stopChars,
    maxItems: MODEL_LIMITS.stops,
    items: { type: "string", minLength: 1, maxLength: MODEL_LIMITS.stopChars },
  },
};

/** Parameters that fit `PARAMS`. */
export interface Params {
  readonly temperature?: number | null;
  readonly top_p?: number | null;
  readonly max_tokens?: number | null;
  readonly repeat_penalty?: number | null;
  readonly stop?: string | readonly string[] | null;
}

/** The parameters for a model, each number clamped to its range; undefined when none is given. */
export function samplingOf(given: Params, mostTokens: number = SAMPLING_LIMITS.maxTokens.most): Sampling | undefined {
  const { temperature, top_p: topP, max_tokens: maxTokens, repeat_penalty: repeatPenalty, stop } = given;
  const tokens = { least: SAMPLING_LIMITS.maxTokens.least, most: mostTokens };
  const stops = (typeof stop === "string" ? [stop] : (stop ?? [])).filter((word) => word !== "");
  const sampling: Sampling = {
    ...(typeof temperature === "number" ? { temperature: clamp(temperature, SAMPLING_LIMITS.temperature) } : {}),
    ...(typeof topP === "number" ? { topP: clamp(topP, SAMPLING_LIMITS.topP) } : {}),
    ...(typeof maxTokens === "number" ? { maxTokens: clamp(maxTokens, tokens) } : {}),
    ...(typeof repeatPenalty === "number"
      ? { repeatPenalty: clamp(repeatPenalty, SAMPLING_LIMITS.repeatPenalty) }
      : {}),
    ...(stops.length > 0 ? { stop: stops } : {}),
  };
  return Object.keys(sampling).length === 0 ? undefined : sampling;
}

function clamp(value: number, { least, most }: { readonly least: number; readonly most: number }): number {
  return Math.min(Math.max(value, least), most);
}
