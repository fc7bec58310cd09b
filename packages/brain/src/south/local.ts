import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Hand, ToolSpec } from "@vidro/core";

/** What a hand in this process needs. */
export interface LocalOptions {
  /** The brain's own folder, which no tool enters. */
  readonly home: string;
  readonly workspace: string;
  readonly env: { readonly [name: string]: string | undefined };
}

/** The name of the hand on the brain's own machine. */
export const LOCAL_HAND = "local";

// Loaded with the first hand: who only reads what was run needs none of it.
const load = () => import("@vidro/hands");

/** The hand of this machine for a workspace. */
export async function openLocalHand({ home, workspace, env }: LocalOptions): Promise<Hand> {
  const { localHand, openPolicy } = await load();
  const state = join(home, "hand");
  await mkdir(state, { recursive: true, mode: 0o700 });
  const policy = openPolicy({ file: join(home, "policy.json"), workspace, state: home });
  return localHand({ id: LOCAL_HAND, workspace, state, reserved: home, policy, env });
}

/** How a connection is kept up: hands that dial a brain and a brain that dials hands rest alike. */
export async function loadRedial() {
  return (await load()).loadRedial();
}

/** The tools that every hand of this version has: what a hand means that names one and does not describe it. */
export async function standardTools(): Promise<readonly ToolSpec[]> {
  const { TOOLS } = await load();
  return TOOLS.map(({ name, description, parameters, idempotent }) => ({ name, description, parameters, idempotent }));
}
