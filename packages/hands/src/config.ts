import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { INVITATION_VARIABLE } from "@vidro/core/wire/enrolment";

/* All that a hand reads from its environment. */

/**
 * The folder of all state: VIDRO_HOME, else `vidro` in the state directory of the XDG specification; undefined for a
 * user without a home folder.
 */
export function stateFolder(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const own = env["VIDRO_HOME"];
  return own === undefined || own === "" ? usualStateFolder(env) : resolve(own);
}

/** The folder of all state where VIDRO_HOME names none; undefined for a user without a home folder. */
export function usualStateFolder(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const state = env["XDG_STATE_HOME"];
  // The specification says to ignore a relative path.
  if (state !== undefined && isAbsolute(state)) return join(state, "vidro");
  const user = userFolder();
  return user === undefined ? undefined : join(user, ".local", "state", "vidro");
}

/** The state of `vidro-hand`: the folder that systemd gives its service, else `joined` in the folder of all state. */
export function handStateFolder(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const { STATE_DIRECTORY: service } = env;
  if (service !== undefined && service !== "") return service;
  const home = stateFolder(env);
  return home === undefined ? undefined : join(home, "joined");
}

/** The folder of this user's own systemd units; undefined for a user without a home folder. */
export function userUnitFolder(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const { XDG_CONFIG_HOME: config } = env;
  if (config !== undefined && isAbsolute(config)) return join(config, "systemd/user");
  const user = userFolder();
  return user === undefined ? undefined : join(user, ".config/systemd/user");
}

/** The environment that processes of a hand get a part of. */
export function processEnvironment(): NodeJS.ProcessEnv {
  return process.env;
}

/** The invitation in the environment. It is removed from there, so that no process that is started later has it. */
export function takeInvitation(): string | undefined {
  const { [INVITATION_VARIABLE]: given } = process.env;
  delete process.env[INVITATION_VARIABLE];
  return given === "" ? undefined : given;
}

function userFolder(): string | undefined {
  try {
    const folder = homedir();
    return isAbsolute(folder) ? folder : undefined;
  } catch {
    // A user without a name, as in many containers, has no home folder either.
    return undefined;
  }
}
