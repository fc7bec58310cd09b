import { dirname, join } from "node:path";
import { Fault, HAND_LIMITS } from "@vidro/core";
import { Folder } from "./files.ts";
import type { FolderEntry } from "./files.ts";
import { compileGlob } from "./glob.ts";
import { isWithin } from "./is-within.ts";

/** One line of a .gitignore file. */
interface IgnoreRule {
  readonly isNegated: boolean;
  readonly isFolderOnly: boolean;
  /** Whether it matches a path relative to the folder of its file. */
  matches(path: string): boolean;
}

/** The .gitignore files of the folders through which a walk goes, the outermost first. */
export class IgnoreFiles {
  #files: { readonly folder: string; readonly rules: readonly IgnoreRule[] }[] = [];

  /** Reads the files of the folders above one, up to the workspace. */
  async readAbove(path: string, workspace: string): Promise<void> {
    const above: string[] = [];
    for (let folder = path; folder !== workspace && isWithin(workspace, folder);)
      above.unshift((folder = dirname(folder)));
    for (const folder of above) {
      await using opened = await Folder.open(folder);
      await this.enter(opened, [{ name: ".gitignore", type: "file" }]);
    }
  }

  /** Reads the file of a folder that a walk enters, and forgets those of folders that it has left. */
  async enter(folder: Folder, entries: readonly FolderEntry[]): Promise<void> {
    this.#files = this.#files.filter((file) => isWithin(file.folder, folder.path));
    if (!entries.some(({ name, type }) => name === ".gitignore" && type === "file")) return;
    const rules = await readRules(folder);
    if (rules.length > 0) this.#files.push({ folder: folder.path, rules });
  }

  /** Whether an entry is ignored: the last line that matches decides, those of inner folders before others. */
  isIgnored(path: string, isFolder: boolean): boolean {
    for (const { folder, rules } of this.#files.toReversed()) {
      // A walk goes on in the parent of a folder that it has left, and asks before it enters the next one.
      if (!isWithin(folder, path)) continue;
      const below = path.slice(folder === "/" ? 1 : folder.length + 1);
      const rule = rules.findLast((one) => (isFolder || !one.isFolderOnly) && one.matches(below));
      if (rule !== undefined) return !rule.isNegated;
    }
    return false;
  }
}

/** The rules of the .gitignore file in a folder; none if it cannot be read or is too large. */
async function readRules(folder: Folder): Promise<readonly IgnoreRule[]> {
  try {
    const seen = await folder.look(".gitignore");
    if (seen === undefined || !seen.isFile() || seen.size > HAND_LIMITS.ignoreBytes) return [];
    const { bytes } = await folder.read(".gitignore");
    return bytes.toString().split(/\r?\n/).slice(0, HAND_LIMITS.ignorePatterns).flatMap(readRule);
  } catch (error) {
    if (error instanceof Fault) return [];
    throw error;
  }
}

/** The rule of one line; none for comments, empty lines and patterns that cannot be read. */
function readRule(line: string): readonly IgnoreRule[] {
  // A run of blanks is looked at from its first one only, which counts when a backslash is before it.
  const text = line.replace(/(?<![\\ ]) +$|(?<=\\ ) +$/, "");
  if (text === "" || text.startsWith("#")) return [];
  const isNegated = text.startsWith("!");
  const pattern = text.slice(isNegated ? 1 : 0);
  const isFolderOnly = pattern.endsWith("/");
  const bare = isFolderOnly ? pattern.slice(0, -1) : pattern;
  // Braces are ordinary characters here.
  const glob = (bare.includes("/") ? bare : join("**", bare)).replaceAll(/[{}]/g, "\\$&");
  try {
    const compiled = compileGlob(glob);
    return [{ isNegated, isFolderOnly, matches: (path) => compiled.matches(path) }];
  } catch (error) {
    if (error instanceof Fault) return [];
    throw error;
  }
}
