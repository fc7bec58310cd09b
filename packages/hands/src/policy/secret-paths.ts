import { readdirSync } from "node:fs";
import { join } from "node:path";
import { matchesWord, type PolicyFolders } from "@vidro/core/policy";

/**
 * Existing paths that match a policy's patterns of secrets, because a sandbox hides files by name. Paths in /proc are
 * left out, because a sandbox has its own /proc.
 */
export function findSecretPaths(patterns: readonly string[], places: PolicyFolders): readonly string[] {
  const found = patterns.flatMap((pattern) => {
    const [, place = "", tail = ""] = /^(?:\{(workspace|home|state)\})?(.*)$/s.exec(pattern) ?? [];
    const root = place === "workspace" || place === "home" || place === "state" ? places[place] : "/";
    return matchPattern(tail.split("/").slice(1), root);
  });
  return [...new Set(found)].filter((path) => !path.startsWith("/proc/"));
}

/** Paths that match the rest of a pattern from a folder on; a final `**` is the folder itself. */
function matchPattern([name, ...rest]: readonly string[], folder: string): readonly string[] {
  if (name === undefined || name === "**") return [folder];
  if (!name.includes("*")) return matchPattern(rest, join(folder, name));
  return namesIn(folder)
    .filter((entry) => matchesWord(name, entry))
    .flatMap((entry) => matchPattern(rest, join(folder, entry)));
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // The folder does not exist, or is closed to a sandboxed command as well.
    return [];
  }
}
