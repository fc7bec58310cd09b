import { realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { HTTP_LIMITS } from "@vidro/core";
import { installService } from "@vidro/hands/systemd-unit";
import { EXIT } from "../program/exit-codes.ts";
import { print } from "../program/output.ts";
import { homeFolder } from "../program/settings.ts";

/** In the bundle of a clone this is a link, and the bundle may be removed. */
const LAUNCHER = realpathSync(join(import.meta.dirname, "..", "..", "bin", "vidro"));
const HOME = "/var/lib/vidro";

/** Makes the daemon a service of systemd: of the system for root, with a user of its own; else of this user. */
export async function installDaemonUnit(flags: {
  readonly dryRun?: boolean;
  readonly workspace?: string;
}): Promise<number> {
  const isRoot = process.getuid?.() === 0;
  const workspace = flags.workspace ?? (isRoot ? join(HOME, "workspace") : ".");
  const [home, folder] = [isRoot ? join(HOME, "state") : homeFolder(), resolve(workspace)];
  const told = installService({
    name: "vidro",
    description: "Vidro: a brain that serves HTTP, with a hand for its folder",
    command: [LAUNCHER, "up", "--json", "--supervised"],
    environment: { VIDRO_HOME: home },
    workspace: folder,
    stopSeconds: (2 * HTTP_LIMITS.stopMs) / 1000,
    ...(isRoot ? { owner: { user: "vidro", home: HOME, folders: [home, folder] } } : {}),
    dryRun: flags.dryRun === true,
  });
  print(...told.trimEnd().split("\n"));
  return EXIT.ok;
}
