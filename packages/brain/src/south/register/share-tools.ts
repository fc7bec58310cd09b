import { REGISTER_LIMITS } from "@vidro/core";
import type { ToolSpec } from "@vidro/core";

const lists = new Map<string, readonly ToolSpec[]>();

/** Returns one shared list for all hands with equal tools, to save memory in a large fleet. */
export function shareTools(tools: readonly ToolSpec[]): readonly ToolSpec[] {
  const text = JSON.stringify(tools);
  const known = lists.get(text);
  if (known !== undefined) return known;
  // Hands keep their list; later hands share a new one.
  if (lists.size >= REGISTER_LIMITS.toolLists) lists.clear();
  lists.set(text, tools);
  return tools;
}
