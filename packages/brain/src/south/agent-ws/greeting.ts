import type { HandDescription, ToolSpec } from "@vidro/core";
import { toolsOfCapabilities } from "@vidro/core/wire/agent-ws";
import type { Hello, Welcome } from "@vidro/core/wire/agent-ws";
import type { Identity } from "../enrolment/identities.ts";
import { acceptTools } from "../register/accept-tools.ts";
import type { AcceptedTools } from "../register/accept-tools.ts";

/** The tools that a hand says it has, as the brain has them, or those that every hand of its capabilities has. */
export async function declaredTools(
  { tools, capabilities }: Hello,
  host: string,
  standardTools: () => Promise<readonly ToolSpec[]>,
): Promise<AcceptedTools> {
  const standard = await standardTools();
  if (tools === undefined || !capabilities.includes("tool.run"))
    return { tools: toolsOfCapabilities(capabilities, standard), refused: [] };
  return acceptTools({ offered: tools, standard, host });
}

/** What a hand is called, whose it is and what it is chosen by is on record; it says only what it can do and where. */
export function describeAgent(
  { version, workspace = ".", receipt_key: receiptKey }: Hello,
  { id, owner, name, tags }: Identity,
  came: Pick<HandDescription, "gateway" | "tools">,
): HandDescription {
  const signing = receiptKey === undefined ? {} : { receiptKey };
  return { id, owner, name, version, workspace, tags, ...signing, ...came };
}

/** What a welcome says besides to a hand that signs. */
export function receiptFields({ receipt_key: key }: Hello): Pick<Welcome, "receipts"> {
  return key === undefined ? {} : { receipts: true };
}
