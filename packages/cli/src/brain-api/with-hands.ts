import type { AllHands, Brain } from "@vidro/brain";
import type { HandRow } from "@vidro/core";
import type { HandRecord } from "@vidro/client";
import manifest from "../../package.json" with { type: "json" };
import { brainAddress } from "./address.ts";
import type { BrainFlags } from "./address.ts";
import { folderAt } from "../program/folder.ts";
import { withBrain } from "./with-brain.ts";
import type { HandApi } from "./hand-api.ts";

/** Does some work with the hands of the brain that is meant: a named one, the running daemon, or this user's home. */
export async function withHands<Result>(flags: BrainFlags, work: (hands: HandApi) => Promise<Result>): Promise<Result> {
  const address = await brainAddress(flags);
  if (address !== undefined) {
    const { remoteHands } = await import("./remote-hands.ts");
    return work(remoteHands(address));
  }
  return withBrain(async (brain) => {
    const hands = await homeHands(brain, folderAt("."));
    const me = await person();
    const why = "At this machine.";
    return work({
      list: async (select) => (select === undefined ? hands.list(me) : hands.choose(select, me)).map(told),
      find: async (named) => told(hands.find(named, me)),
      revoke: async (named, because = why) => told(await hands.revoke(named, me, because)),
      quarantine: async (named, because = why) => told(await hands.quarantine(named, me, because)),
      release: async (named) => told(await hands.release(named, me)),
    });
  });
}

/** All hands of a brain in this process. */
export async function homeHands(brain: Brain, workspace: string): Promise<AllHands> {
  const { AllHands: All } = await import("@vidro/brain");
  const own = { local: brain.hand, hasLocal: true, workspace, version: manifest.version };
  const hands = new All({ far: brain.hands, ...own, now: Date.now });
  await hands.look();
  return hands;
}

/** The person at this machine, to whom all hands of its home belong. */
export async function person(): Promise<{ readonly owner: string; readonly admin: true }> {
  const { LOCAL_OWNER } = await import("@vidro/brain");
  return { owner: LOCAL_OWNER, admin: true };
}

function told(row: HandRow): HandRecord {
  const { barred = null, why = null, ...rest } = row;
  return { ...rest, barred, why, tools: row.tools.map(({ name }) => name), telemetry: null };
}
