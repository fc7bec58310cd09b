import { Vidro } from "@vidro/client";
import { Fault } from "@vidro/core";
import { brainAddress } from "./address.ts";
import type { BrainFlags } from "./address.ts";
import { told } from "./remote.ts";

/** What can be changed about hands that sign their messages. Rejections are Faults. */
interface SignedHands {
  rotateKey(named: string): Promise<{ readonly id: string; readonly keyId: string }>;
  allowAddress(named: string, url: string | null): Promise<{ readonly id: string; readonly url: string | null }>;
}

/** Those of the brain that is up: only it can tell them. */
export async function signedHands(flags: BrainFlags): Promise<SignedHands> {
  const address = await brainAddress(flags);
  if (address === undefined) throw new Fault("BRAIN_UNREACHABLE", "No brain is up that knows this hand: vidro up");
  const { url, token } = address;
  const { hands } = new Vidro({ url, ...(token === undefined ? {} : { token }) });
  return {
    rotateKey: (named) => told(hands.rotateKey(named)),
    allowAddress: (named, where) => told(hands.allowAddress(named, where)),
  };
}
