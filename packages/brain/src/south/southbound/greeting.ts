import { Fault, HANDS } from "@vidro/core";
import type { ToolSpec } from "@vidro/core";
import { toolsOf } from "@vidro/core/wire/southbound";
import type { Hello } from "@vidro/core/wire/southbound";
import type { Identity } from "../enrolment/identities.ts";
import type { HandCard } from "../link.ts";
import { sharedTools } from "../shared-tools.ts";

/** The tools that a hand says it has: described by itself, or the ones that every hand of its capabilities has. */
export async function declaredTools(
  { tools, capabilities }: Hello,
  standardTools: () => Promise<readonly ToolSpec[]>,
): Promise<readonly ToolSpec[]> {
  if (tools === undefined || !capabilities.includes("tool.run")) return toolsOf(capabilities, await standardTools());
  const long = tools.find(({ parameters }) => JSON.stringify(parameters).length > HANDS.schemaChars);
  if (long !== undefined) throw new Fault("PAYLOAD_TOO_LARGE", `The schema of ${long.name} is too long.`);
  return sharedTools(
    tools.map(({ name, description, parameters, idempotent }) => ({ name, description, parameters, idempotent })),
  );
}

/** What a hand is called, whose it is and what it is chosen by is on record; it says only what it can do and where. */
export function cardOf(
  { version, workspace = "." }: Hello,
  { id, owner, name, tags }: Identity,
  came: Pick<HandCard, "gateway" | "tools">,
): HandCard {
  return { id, owner, name, version, workspace, tags, ...came };
}
