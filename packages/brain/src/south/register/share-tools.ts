import { REGISTER_LIMITS } from "@vidro/core";
import type { ToolSpec } from "@vidro/core";

const lists = new Map<string, readonly ToolSpec[]>();

/** The same tools, as one list for all hands that have just these: a fleet says the same of itself a thousand times. */
export function shareTools(tools: readonly ToolSpec[]): readonly ToolSpec[] {
  const text = JSON.stringify(tools);
  const known = lists.get(text);
  if (known !== undefined) return known;
  // Hands that have a list keep it; whoever comes next begins another.
  if (lists.size >= REGISTER_LIMITS.toolLists) lists.clear();
  lists.set(text, tools);
  return tools;
}
