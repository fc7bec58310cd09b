import { join } from "node:path";
import type { OpenPolicy } from "@vidro/hands";
import { requireFolder } from "../../program/require-folder.ts";
import { homeFolder } from "../../program/settings.ts";

/** The policy file of this home, which need not exist. */
export function policyFile(): string {
  return join(homeFolder(), "policy.json");
}

/** The policy in a file; with `isInForce`, the host's own where there is one. */
export async function openPolicyAt(file: string, isInForce: boolean): Promise<OpenPolicy> {
  const { openPolicy } = await import("@vidro/hands");
  const only = isInForce ? {} : { hostFile: false as const };
  return openPolicy({ file, workspace: requireFolder("."), state: homeFolder(), ...only });
}
