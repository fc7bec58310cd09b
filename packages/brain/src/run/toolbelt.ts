import type { Hand, ToolSpec } from "@vidro/core";
import type { AgentProfile } from "../catalog/agent.ts";

/** Which tools a run is to have. */
interface ToolChoices {
  readonly tools?: readonly string[];
  readonly agent?: AgentProfile;
  readonly callerTools?: readonly ToolSpec[];
}

/** The tools of a run: those of its hand that it may use, and those of its caller, which win. */
export function toolbelt(hand: Hand, { tools: asked, agent, callerTools = [] }: ToolChoices): readonly ToolSpec[] {
  const tools = asked ?? agent?.tools ?? undefined;
  const names = new Set(callerTools.map((tool) => tool.name));
  const offered = hand.tools.filter(
    (tool) => !names.has(tool.name) && (tools === undefined || tools.includes(tool.name)),
  );
  return [...offered, ...callerTools.map((tool) => ({ ...tool, caller: true as const }))];
}
