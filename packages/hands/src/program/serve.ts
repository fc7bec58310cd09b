import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { mountingHand } from "../mounting-hand.ts";
import type { HandStateFolder } from "../enrol/hand-state-folder.ts";
import { loadJoinedLink } from "../links/links.ts";
import type { LinkContext } from "../links/links.ts";
import { openReloadablePolicy } from "../policy/policy-file.ts";
import { Sampler } from "../host/sampler.ts";
import { openReceiptSigner } from "../enrol/receipt-signer.ts";
import { exportSpans } from "../export-spans.ts";
import type { Reloadable } from "./signals.ts";

/** Settings of a host that has joined a brain. */
interface ServeOptions extends Pick<LinkContext, "version" | "signal" | "listen" | "up" | "down" | "note"> {
  /** Attempts at the first connection. */
  readonly firstDials: number;
  readonly state: HandStateFolder;
  /** Replaces the workspace that it joined with. */
  readonly workspace?: string;
  /** Receives settings that can be reloaded, before the first order. */
  readonly keep?: (reloadable: Reloadable) => void;
}

/** Serves the brain that this host has joined until the signal fires, over the link that it joined with. */
export async function serveJoinedHand(options: ServeOptions): Promise<void> {
  const { state } = options;
  const identity = await state.readIdentity();
  if (identity === undefined)
    throw new Fault("NOT_FOUND", `No brain was joined with the state in ${state.folder}: vidro-hand join`);
  const workspace = options.workspace ?? identity.workspace;
  const folder = join(state.folder, "hand");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const policy = openReloadablePolicy({ file: join(state.folder, "policy.json"), workspace, state: state.folder });
  options.keep?.({ what: "policy", reload: policy.reload });
  if (policy.warning !== undefined) options.note(policy.warning);
  const own = { id: identity.agentId, workspace, state: folder, reserved: state.folder };
  const hand = await mountingHand(
    { ...own, policy, receipts: openReceiptSigner(state.folder) },
    { file: join(state.folder, "mcp.json"), version: options.version, note: options.note },
  );
  await exportSpans(hand, options.version);
  const sampler = await new Sampler(hand.workspace).start();
  const sample = (): JsonObject | undefined => {
    const latest = sampler.latest();
    return latest === undefined ? undefined : { ...latest };
  };
  try {
    const keepLink = await loadJoinedLink(identity);
    await keepLink({ ...options, hand, sample, bounds: { firstDials: options.firstDials } });
  } finally {
    sampler.stop();
    await hand.close();
  }
}
