import { isAbsolute, relative } from "node:path";

/** Whether a path is the folder or lies in it; both are absolute and real. Compares whole names, not prefixes. */
export function isWithin(folder: string, path: string): boolean {
  const below = relative(folder, path);
  return below !== ".." && !below.startsWith("../") && !isAbsolute(below);
}
