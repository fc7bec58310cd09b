import type { Event } from "./event.ts";

/** Tokens and money that a call of the model used. */
export interface Usage {
  /** The whole prompt, with what was read from and written to the vendor's cache. */
  readonly inputTokens: number;
  /** The whole reply, with its thinking. */
  readonly outputTokens: number;
  /** Part of the prompt that was read from the vendor's cache. */
  readonly cachedTokens?: number;
  /** Part of the prompt that was written to the vendor's cache. */
  readonly cacheWriteTokens?: number;
  /** Part of the reply that is thinking. */
  readonly thinkingTokens?: number;
  /** Cost in US dollars at the price when the reply came; absent when it is nothing, or the price is not known. */
  readonly costUsd?: number;
  /** Tokens of prompt and reply whose price is not known, so that they are in no cost. */
  readonly unpricedTokens?: number;
}

/** What the model used for an event: for a reply, or for a summary of the conversation. */
export function usageIn(event: Event): Usage | undefined {
  return event.type === "model.replied" || event.type === "context.compacted" ? event.usage : undefined;
}

/** The sum of two usages; a part that neither counts stays absent. */
export function addUsage(one: Usage, other: Usage): Usage {
  const sum = (part: keyof Usage): { readonly [part in keyof Usage]?: number } =>
    one[part] === undefined && other[part] === undefined ? {} : { [part]: (one[part] ?? 0) + (other[part] ?? 0) };
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    ...sum("cachedTokens"),
    ...sum("cacheWriteTokens"),
    ...sum("thinkingTokens"),
    ...sum("costUsd"),
    ...sum("unpricedTokens"),
  };
}
