import { isAbsolute, relative } from "node:path";

/** Whether a path is the folder or lies in it; both absolute and real. Whole names are compared, never prefixes. */
export function isWithin(folder: string, path: string): boolean {
  const below = relative(folder, path);
  return below !== ".." && !below.startsWith("../") && !isAbsolute(below);
}
