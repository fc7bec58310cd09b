import { readdirSync, type Dirent } from "node:fs";
import { join } from "node:path";
import { HAND_LIMITS } from "@vidro/core";
import { isAnywhere, matchesPath, matchesWord, type PolicyFolders } from "@vidro/core/policy";
import { SKIPPED_FOLDERS } from "../files/skipped-folders.ts";

/**
 * Existing paths that match a policy's patterns of secrets, because a sandbox hides files by name. Paths in /proc are
 * left out, because a sandbox has its own /proc.
 */
export function findSecretPaths(patterns: readonly string[], places: PolicyFolders): readonly string[] {
  const found = patterns
    .filter((pattern) => !isAnywhere(pattern))
    .flatMap((pattern) => {
      const { root, tail } = takeApart(pattern, places);
      return matchPattern(tail.split("/").slice(1), root);
    });
  const privates = findPrivateFiles(patterns, places).paths;
  return [...new Set([...found, ...privates])].filter((path) => !path.startsWith("/proc/"));
}

/**
 * Files below the places of patterns that name files at any depth. Large generated folders are left out, and a walk ends
 * at HAND_LIMITS.searchFiles entries: then the list is not whole.
 */
export function findPrivateFiles(
  patterns: readonly string[],
  places: PolicyFolders,
): { readonly paths: readonly string[]; readonly isWhole: boolean } {
  const anywhere = patterns.filter((pattern) => isAnywhere(pattern));
  const roots = new Set(anywhere.map((pattern) => takeApart(pattern, places).root));
  const paths: string[] = [];
  let left: number = HAND_LIMITS.searchFiles;
  const open = [...roots];
  for (let folder = open.pop(); folder !== undefined && left > 0; folder = open.pop()) {
    for (const entry of entriesIn(folder)) {
      left -= 1;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!SKIPPED_FOLDERS.has(entry.name)) open.push(path);
      } else if (matchesPath(anywhere, path, places)) paths.push(path);
    }
  }
  return { paths, isWhole: left > 0 };
}

/** The folder that a pattern begins with, and what follows. */
function takeApart(pattern: string, places: PolicyFolders): { readonly root: string; readonly tail: string } {
  const [, place = "", tail = ""] = /^(?:\{(workspace|home|state)\})?(.*)$/s.exec(pattern) ?? [];
  return { root: place === "workspace" || place === "home" || place === "state" ? places[place] : "/", tail };
}

/** Paths that match the rest of a pattern from a folder on; a final `**` is the folder itself. */
function matchPattern([name, ...rest]: readonly string[], folder: string): readonly string[] {
  if (name === undefined || name === "**") return [folder];
  if (!name.includes("*")) return matchPattern(rest, join(folder, name));
  return entriesIn(folder)
    .filter((entry) => matchesWord(name, entry.name))
    .flatMap((entry) => matchPattern(rest, join(folder, entry.name)));
}

function entriesIn(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // The folder does not exist, or is closed to a sandboxed command as well.
    return [];
  }
}
