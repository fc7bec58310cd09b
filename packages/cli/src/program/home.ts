import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

/** The folder of all state: $VIDRO_HOME, else the user's state directory as XDG has it; none for a user without a home. */
export function stateFolder(env: NodeJS.ProcessEnv): string | undefined {
  const own = env["VIDRO_HOME"];
  if (own !== undefined && own !== "") return resolve(own);
  const state = env["XDG_STATE_HOME"];
  // XDG asks to ignore a relative path.
  if (state !== undefined && isAbsolute(state)) return join(state, "vidro");
  const user = userFolder();
  return user === undefined ? undefined : join(user, ".local", "state", "vidro");
}

function userFolder(): string | undefined {
  try {
    const folder = homedir();
    return isAbsolute(folder) ? folder : undefined;
  } catch {
    // A user without a name, as in many containers, has no home either.
    return undefined;
  }
}
