import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { HAND_LIMITS } from "@vidro/core";
import { matchesWord } from "@vidro/core/policy";
import { SKIPPED_FOLDERS } from "../files/skipped-folders.ts";

/** Files with private names below a folder; `isWhole` is false when the walk was cut short. */
export interface PrivateFiles {
  readonly paths: readonly string[];
  readonly isWhole: boolean;
}

/** What a folder holds, and the identity of the folder when it was read. */
interface ReadFolder {
  readonly identity: string;
  readonly folders: readonly string[];
  readonly files: readonly string[];
  readonly entries: number;
}

/**
 * Files below a folder whose names match one of the patterns. Large generated folders are left out, and a walk ends at
 * HAND_LIMITS.searchFiles entries. A folder is read again only when its times have changed since: commands come often,
 * and each needs the list.
 */
export class PrivateFileIndex {
  readonly #root: string;
  readonly #names: readonly string[];
  #read = new Map<string, ReadFolder>();

  constructor(root: string, names: readonly string[]) {
    this.#root = root;
    this.#names = names;
  }

  /** The files that are there now. */
  find(): PrivateFiles {
    const paths: string[] = [];
    const read = new Map<string, ReadFolder>();
    let left: number = HAND_LIMITS.searchFiles;
    const open = [this.#root];
    for (let path = open.pop(); path !== undefined && left > 0; path = open.pop()) {
      const folder = this.#folderAt(path);
      if (folder === undefined) continue;
      read.set(path, folder);
      left -= folder.entries;
      for (const name of folder.folders) open.push(join(path, name));
      for (const name of folder.files) paths.push(join(path, name));
    }
    this.#read = read;
    return { paths, isWhole: left > 0 };
  }

  #folderAt(path: string): ReadFolder | undefined {
    const identity = identityOf(path);
    const known = this.#read.get(path);
    if (known !== undefined && known.identity === identity) return known;
    try {
      const entries = readdirSync(path, { withFileTypes: true });
      const isPrivate = (name: string): boolean => this.#names.some((pattern) => matchesWord(pattern, name));
      return {
        identity,
        folders: entries.flatMap((one) => (one.isDirectory() && !SKIPPED_FOLDERS.has(one.name) ? [one.name] : [])),
        files: entries.flatMap((one) => (!one.isDirectory() && isPrivate(one.name) ? [one.name] : [])),
        entries: entries.length,
      };
    } catch {
      // The folder does not exist, or is closed to a sandboxed command as well.
      return undefined;
    }
  }
}

/**
 * Inode and times of a folder. A change within the last moments may have the same times as one before it, so a folder that
 * was changed just now has no identity that could be equal to another.
 */
function identityOf(path: string): string {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (found === undefined) return "";
  // No program can set this time, unlike that of the last change of the entries.
  const isSettled = Date.now() - Number(found.ctimeMs) > HAND_LIMITS.settledMs;
  const moment = isSettled ? "" : ` ${performance.now()}`;
  return `${found.dev} ${found.ino} ${found.mtimeNs} ${found.ctimeNs}${moment}`;
}
