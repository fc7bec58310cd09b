import { delimiter, isAbsolute } from "node:path";
import { QUIET_ENV } from "../policy/default-policy.ts";
import { isWithin } from "../files/is-within.ts";

/** Variables that programs need and that contain no secrets. */
const ALLOWED = new Set(["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR"]);

/** Variables that every program gets, so that none waits for input or colours its output. */
const FIXED = { TERM: "dumb", NO_COLOR: "1", ...QUIET_ENV };

const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** The environment that processes of a hand get: an allowlist, since any other variable may hold a key. */
export function buildEnvironment(env: NodeJS.ProcessEnv, workspace: string): { readonly [name: string]: string } {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (ALLOWED.has(entry[0]) || entry[0].startsWith("LC_")),
  );
  return { ...Object.fromEntries(kept), ...FIXED, PATH: searchPath(env, workspace) };
}

/**
 * PATH without relative folders and without folders of the workspace: otherwise a project's file named `ls` would run
 * as `ls`. If the workspace contains the home folder, folders in it stay, because programs are installed there.
 */
function searchPath({ PATH = "", HOME }: NodeJS.ProcessEnv, workspace: string): string {
  const isProject = HOME === undefined || !isWithin(workspace, HOME);
  const folders = PATH.split(delimiter).filter(
    (folder) => isAbsolute(folder) && !(isProject && isWithin(workspace, folder)),
  );
  return folders.length === 0 ? DEFAULT_PATH : folders.join(delimiter);
}
