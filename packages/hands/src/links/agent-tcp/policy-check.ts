import { randomUUIDv7 } from "node:crypto";
import { Fault } from "@vidro/core";
import type { Hand, JsonObject, Plan } from "@vidro/core";

/** The plan of a tool call that the hand's policy allows; throws POLICY_DENIED or FORBIDDEN otherwise. */
export async function requireAllowed(hand: Hand, tool: string, input: JsonObject): Promise<Plan> {
  const id = `act_${randomUUIDv7()}`;
  const found = await hand.judge({ id, tool, input, callId: id });
  if ("code" in found) throw new Fault(found.code, found.message);
  const { decision, reason, rule } = found.verdict;
  if (decision === "deny") throw new Fault("POLICY_DENIED", `${reason} (rule ${rule})`);
  const why = `It needs a person's approval, which cannot be given on this wire: ${reason} (rule ${rule})`;
  if (decision === "ask") throw new Fault("FORBIDDEN", why);
  return found.plan;
}
