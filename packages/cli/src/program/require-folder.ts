import { statSync } from "node:fs";
import { resolve } from "node:path";
import { asFault, Fault } from "@vidro/core";

/** The absolute path of a folder that exists; BAD_REQUEST when it does not, or when the current folder is gone. */
export function requireFolder(path: string): string {
  let found: string;
  try {
    found = resolve(path);
    if (statSync(found).isDirectory()) return found;
  } catch (cause) {
    const gone = path === "." ? "The current folder is gone" : `There is no folder ${path}`;
    throw new Fault("BAD_REQUEST", `${gone} (${asFault(cause).message}).`, { cause });
  }
  throw new Fault("BAD_REQUEST", `${found} is not a folder.`);
}
