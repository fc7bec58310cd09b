import type { Event, Usage } from "./event.ts";

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
