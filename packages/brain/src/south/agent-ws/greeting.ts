import type { HandDescription, ToolSpec } from "@vidro/core";
import { toolsOfCapabilities } from "@vidro/core/wire/agent-ws";
import type { Hello, Welcome } from "@vidro/core/wire/agent-ws";
import type { Identity } from "../enrolment/identities.ts";
import { acceptTools } from "../register/accept-tools.ts";
import type { AcceptedTools } from "../register/accept-tools.ts";

/** The tools that a hello declares, as far as they are accepted; without declarations, those of its capabilities. */
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

/** The description of a hand: its name, owner and tags come from the record, its tools and workspace from its hello. */
export function describeAgent(
  { version, workspace = ".", receipt_key: receiptKey }: Hello,
  { id, owner, name, tags }: Identity,
  came: Pick<HandDescription, "gateway" | "tools">,
): HandDescription {
  const signing = receiptKey === undefined ? {} : { receiptKey };
  return { id, owner, name, version, workspace, tags, ...signing, ...came };
}

/** The field of a welcome that tells a hand with a receipt key that its receipts are kept. */
export function receiptFields({ receipt_key: key }: Hello): Pick<Welcome, "receipts"> {
  return key === undefined ? {} : { receipts: true };
}
