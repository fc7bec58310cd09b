import type { Hand, Records } from "@vidro/core";
import { HandRegister } from "../../packages/brain/src/south/register/hand-register.ts";
import { LocalHands } from "../../packages/brain/src/south/register/local-hands.ts";

/** The hands of a brain that so far has one: this. */
export async function openHands(records: Records, hand: Hand): Promise<HandRegister> {
  const local = new LocalHands(async () => hand);
  await local.show({ workspace: hand.workspace, version: "1.2.3" });
  return new HandRegister({ records, log: () => undefined, now: Date.now, local });
}
