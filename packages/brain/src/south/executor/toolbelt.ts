import { CONTROL_TOOLS, HANDS } from "@vidro/core";
import type { ToolSpec } from "@vidro/core";
import { toolNamed } from "@vidro/core/wire/executor";
import type { CustomTool, Handshake } from "@vidro/core/wire/executor";
import { sharedTools } from "../shared-tools.ts";

/** What a model may call on an executor, and what became of each name that the executor gave. */
export interface Toolbelt {
  readonly tools: readonly ToolSpec[];
  readonly accepted: readonly string[];
  readonly rejected: readonly string[];
}

/** A name that every model's server takes. */
const NAME = /^[A-Za-z_][\w-]{0,63}$/;
/** Names that mean something else in a model's answer. */
const TAKEN: ReadonlySet<string> = new Set(["done", "use_tool", ...CONTROL_TOOLS.map(({ name }) => name)]);

/**
 * The tools that an executor declares: those whose names are known and have a schema here, and its own, whose schemas
 * are shown to the model and never compiled [004-04].
 */
export function toolbelt({ known_tools, custom_tools = [] }: Handshake, standard: readonly ToolSpec[]): Toolbelt {
  const tools = new Map<string, ToolSpec>();
  const [accepted, rejected]: [string[], string[]] = [[], []];
  const offer = (name: string, tool: ToolSpec | undefined): void => {
    if (tool === undefined || tools.has(tool.name) || tools.size >= HANDS.tools) return void rejected.push(name);
    tools.set(tool.name, tool);
    accepted.push(name);
  };
  for (const name of new Set(known_tools)) {
    const meant = toolNamed(name);
    offer(
      name,
      standard.find((tool) => tool.name === meant),
    );
  }
  for (const custom of custom_tools) offer(custom.name, isSound(custom) ? specOf(custom) : undefined);
  return { tools: sharedTools([...tools.values()]), accepted, rejected };
}

function isSound({ name, parameters }: CustomTool): boolean {
  return NAME.test(name) && !TAKEN.has(name) && JSON.stringify(parameters).length <= HANDS.schemaChars;
}

function specOf({ name, description, parameters, idempotent = false }: CustomTool): ToolSpec {
  return { name, description, parameters, idempotent };
}
