import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { Fault } from "@vidro/core";

/** The real absolute path of a workspace. Throws NOT_FOUND if it is no folder. */
export function resolveWorkspace(path: string): string {
  try {
    return resolveFolder(path, process.cwd());
  } catch (cause) {
    const way = "bring it back, or start a run in another folder";
    throw new Fault("NOT_FOUND", `The workspace ${path} is no folder that can be entered: ${way}.`, { cause });
  }
}

/** The real path of a folder, relative to `from`. Throws BAD_ARGUMENTS if it is no folder. */
export function resolveFolder(path: string, from: string): string {
  if (path.includes("\0")) throw new Fault("BAD_ARGUMENTS", "A path cannot contain a NUL character.");
  let isFolder: boolean;
  let real: string;
  try {
    real = realpathSync.native(resolve(from, path));
    isFolder = statSync(real).isDirectory();
  } catch (cause) {
    throw new Fault("BAD_ARGUMENTS", `There is no folder ${path} that this hand can enter.`, { cause });
  }
  if (!isFolder) throw new Fault("BAD_ARGUMENTS", `${path} is not a folder.`);
  return real;
}
