import type { ToolSpec } from "@vidro/core";
import { toolOfWireName } from "@vidro/core/wire/executor-ws";
import type { Handshake } from "@vidro/core/wire/executor-ws";
import { acceptTools } from "../register/accept-tools.ts";

/** The tools that a model may call on an executor, and which of the names that it declared were accepted. */
export interface Toolbelt {
  readonly tools: readonly ToolSpec[];
  readonly accepted: readonly string[];
  readonly rejected: readonly string[];
}

/**
 * The tools that an executor declares: the standard ones by their names, with the brain's schemas, and its own, whose
 * schemas the model sees and the brain never compiles [004-04].
 */
export function makeToolbelt(handshake: Handshake, standard: readonly ToolSpec[]): Toolbelt {
  const { known_tools, custom_tools = [] } = handshake;
  const meant = [...new Set(known_tools)].map((wire) => {
    return { wire, tool: standard.find(({ name }) => name === toolOfWireName(wire)) };
  });
  const known = meant.flatMap(({ tool }) => (tool === undefined ? [] : [tool]));
  const offered = [...known, ...custom_tools];
  const { tools, refused } = acceptTools({ offered, standard, host: hostName(handshake) });
  return {
    tools,
    accepted: [
      ...meant.flatMap(({ wire, tool }) => (tool === undefined ? [] : [wire])),
      ...tools.slice(known.length).map(({ name }) => name),
    ],
    rejected: [...meant.flatMap(({ wire, tool }) => (tool === undefined ? [wire] : [])), ...refused],
  };
}

/** The name of an executor: the one it gives, or its type. */
export function hostName({ name, client_type }: Handshake): string {
  return name ?? client_type;
}
