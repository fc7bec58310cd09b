import type { Hand, Records } from "@vidro/core";
import { AllHands } from "../../packages/brain/src/south/register/all-hands.ts";
import { HandRegister } from "../../packages/brain/src/south/register/hand-register.ts";

/** All hands of a brain that so far has one: this. */
export async function openHands(records: Records, hand: Hand): Promise<AllHands> {
  const far = new HandRegister({ records, log: () => undefined, now: Date.now });
  const { workspace } = hand;
  const local = async (): Promise<Hand> => hand;
  const hands = new AllHands({ far, local, hasLocal: true, workspace, version: "1.2.3", now: Date.now });
  await hands.look();
  return hands;
}
