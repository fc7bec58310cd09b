import { readConfig } from "@vidro/brain/config";
import type { Config, SettingFlags } from "@vidro/brain/config";
import { Fault } from "@vidro/core";
import { stateFolder } from "@vidro/hands/config";

/** The folder of all state; BAD_REQUEST when this user has no home folder and VIDRO_HOME is not set. */
export function homeFolder(): string {
  const home = stateFolder();
  if (home !== undefined) return home;
  throw new Fault(
    "BAD_REQUEST",
    "You have no home folder, so Vidro cannot tell where to keep its state: set VIDRO_HOME.",
  );
}

/** All settings of this process, with the values of the command's flags. */
export function commandConfig(flags: SettingFlags = {}): Config {
  const home = stateFolder();
  return readConfig({ ...(home === undefined ? {} : { home }), flags });
}
