import { createHash } from "node:crypto";
import type { CallerName, ToolSpec } from "@vidro/core";

/* Clients name their tools as they like; model servers take letters, digits, `_` and `-`, 64 of them at most. */

const TAKEN = /^[a-zA-Z0-9_-]{1,64}$/;
/** Characters of a name that is kept before the hash that makes it unique. */
const KEPT_CHARS = 55;
const HASH_CHARS = 8;

/** The name that the model sees: the client's own where servers take it, always the same for the same name. */
export function toolName(name: string, namespace?: string): string {
  const whole = namespace === undefined ? name : `${namespace}__${name}`;
  if (TAKEN.test(whole)) return whole;
  const hash = createHash("sha256").update(whole).digest("hex").slice(0, HASH_CHARS);
  return `${whole.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, KEPT_CHARS)}_${hash}`;
}

/** The client's name of the tool that a model called; `tools` are those of the run. */
export function callerName(tools: readonly ToolSpec[], tool: string): CallerName {
  return tools.find(({ name }) => name === tool)?.called ?? { name: tool };
}
