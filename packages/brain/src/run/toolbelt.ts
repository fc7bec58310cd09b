import type { Hand, ToolSpec } from "@vidro/core";
import { LOCAL_OWNER } from "../auth/caller.ts";
import type { AgentProfile } from "../catalog/agent.ts";
import type { KeptTools } from "../catalog/kept-tools.ts";

/** Which tools a run is to have. */
interface ToolChoices {
  readonly tools?: readonly string[];
  readonly agent?: AgentProfile;
  readonly callerTools?: readonly ToolSpec[];
  readonly owner?: string;
  readonly thread: string;
}

/**
 * The tools of a run: those of its hand that it may use, those of its caller, which win, and the approved ones of its
 * thread, which take no other's place and are commands, so that only a run with commands has them.
 */
export async function toolbelt(
  hand: Hand,
  { tools: asked, agent, callerTools = [], owner = LOCAL_OWNER, thread }: ToolChoices,
  kept?: Pick<KeptTools, "of">,
): Promise<readonly ToolSpec[]> {
  const tools = asked ?? agent?.tools ?? undefined;
  const names = new Set(callerTools.map((tool) => tool.name));
  const offered = hand.tools.filter(
    (tool) => !names.has(tool.name) && (tools === undefined || tools.includes(tool.name)),
  );
  const runsCommands = offered.some(({ name }) => name === "command");
  const proposed = runsCommands ? ((await kept?.of({ owner, thread })) ?? []) : [];
  const taken = new Set([...hand.tools.map(({ name }) => name), ...names]);
  return [
    ...offered,
    ...proposed.filter(({ name }) => !taken.has(name)),
    ...callerTools.map((tool) => ({ ...tool, caller: true as const })),
  ];
}
