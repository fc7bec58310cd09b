/** Large generated folders that a walk enters only if the pattern names them. */
export const SKIPPED_FOLDERS: ReadonlySet<string> = new Set([".git", "node_modules"]);
