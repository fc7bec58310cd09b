import { readdirSync } from "node:fs";
import { join } from "node:path";
import { matchesWord, type PolicyFolders } from "@vidro/core/policy";

/**
 * Where the secrets that a policy names by patterns are now, if they are there: a sandbox hides files and folders by
 * name. What lies in /proc is left out, since a sandbox has its own.
 */
export function findSecretPaths(patterns: readonly string[], places: PolicyFolders): readonly string[] {
  const found = patterns.flatMap((pattern) => {
    const [, place = "", tail = ""] = /^(?:\{(workspace|home|state)\})?(.*)$/s.exec(pattern) ?? [];
    const root = place === "workspace" || place === "home" || place === "state" ? places[place] : "/";
    return matchPattern(tail.split("/").slice(1), root);
  });
  return [...new Set(found)].filter((path) => !path.startsWith("/proc/"));
}

/** Where the rest of a pattern leads from a folder; a last `**` is the folder itself. */
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
    // What cannot be listed is not there, or is shut to a sandboxed command as well.
    return [];
  }
}
