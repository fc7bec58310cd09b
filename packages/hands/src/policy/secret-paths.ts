import { readdirSync, type Dirent } from "node:fs";
import { basename, join } from "node:path";
import { HAND_LIMITS } from "@vidro/core";
import { isAnywhere, matchesWord, type PolicyFolders } from "@vidro/core/policy";
import { PrivateFileIndex } from "./private-files.ts";
import type { PrivateFiles } from "./private-files.ts";

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

/** Indexes by what they are of, the one used last behind the others. */
const indexes = new Map<string, PrivateFileIndex>();

/** Files below the places of patterns that name files at any depth. */
export function findPrivateFiles(patterns: readonly string[], places: PolicyFolders): PrivateFiles {
  const names = new Map<string, string[]>();
  for (const pattern of patterns.filter((one) => isAnywhere(one))) {
    const { root, tail } = takeApart(pattern, places);
    names.set(root, [...(names.get(root) ?? []), basename(tail)]);
  }
  const found = [...names].map(([root, wanted]) => indexOf(root, wanted).find());
  return { paths: found.flatMap(({ paths }) => paths), isWhole: found.every(({ isWhole }) => isWhole) };
}

function indexOf(root: string, names: readonly string[]): PrivateFileIndex {
  const key = JSON.stringify([root, names]);
  const index = indexes.get(key) ?? new PrivateFileIndex(root, names);
  indexes.delete(key);
  indexes.set(key, index);
  const [oldest] = indexes.size > HAND_LIMITS.indexedFolders ? indexes.keys() : [];
  if (oldest !== undefined) indexes.delete(oldest);
  return index;
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
