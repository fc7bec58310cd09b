import { isAbsolute, relative } from "node:path";

/** A name in a path that is empty, "." or "..". */
const ODD_NAME = /\/\.{0,2}(?:\/|$)/u;

/** Whether a path is the folder or lies in it; both are absolute and real. Compares whole names, not prefixes. */
export function isWithin(folder: string, path: string): boolean {
  if (ODD_NAME.test(folder) || ODD_NAME.test(path)) {
    const below = relative(folder, path);
    return below !== ".." && !below.startsWith("../") && !isAbsolute(below);
  }
  return path.startsWith(folder) && (path.length === folder.length || path[folder.length] === "/");
}
