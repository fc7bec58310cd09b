import { join } from "node:path";
import { BACKGROUND_LIMITS } from "@vidro/core";
import { HAND_LAUNCHER } from "./background.ts";
import { installService } from "./systemd-unit.ts";

/** Settings of the hand's service. */
interface UnitOptions {
  /** User of the service (default: vidro-hand). */
  readonly user?: string | undefined;
  /** The workspace (default: a folder beside its state). */
  readonly workspace?: string | undefined;
  /** Only returns what would be done. */
  readonly dryRun: boolean;
}

const NAME = "vidro-hand";
const HOME = `/var/lib/${NAME}`;
const SERVICE = {
  name: NAME,
  description: "Vidro hand: carries out what a brain decides, under this host's own policy",
  stopSeconds: BACKGROUND_LIMITS.endedMs / 1000,
} as const;

/** State of the service; beside its workspace, because no tool enters the hand's own state. */
export const SERVICE_STATE: string = join(HOME, "state");

/** Installs the hand as a systemd service under its own user; returns the steps that were, or would be, done. */
export function installUnit({ user = NAME, workspace = join(HOME, "workspace"), dryRun }: UnitOptions): string {
  return installService({
    ...SERVICE,
    command: [HAND_LAUNCHER, "serve", "--state", SERVICE_STATE, "--workspace", workspace],
    workspace,
    owner: { user, home: HOME, folders: [SERVICE_STATE, workspace] },
    dryRun,
  });
}

/** Installs and starts the hand of a state folder as a service of this user. */
export function installUserUnit(state: string, workspace: string): void {
  const command = [HAND_LAUNCHER, "serve", "--state", state];
  installService({ ...SERVICE, command, workspace, dryRun: false });
}
