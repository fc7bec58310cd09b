import { lstatSync, readdirSync } from "node:fs";
import type { Stats } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { HAND_LIMITS } from "@vidro/core";
import { isWithin } from "../../files/is-within.ts";

/*
 * A file in the workspace that has another owner, or a hard link outside of it, does not belong to the workspace.
 * Files that a command names are judged by policy; those that it meets in folders are covered in its view.
 */

/** A file with several hard links, under one of its names. */
interface HardLinkedFile {
  readonly path: string;
  /** Device and inode. */
  readonly identity: string;
  readonly names: number;
  readonly owner: number;
  readonly isOpen: boolean;
}

/** The content of a folder at the time of a scan. */
interface FolderScan {
  /** Inode and times of the folder, which change when a name is added or removed. */
  readonly mark: string;
  readonly entries: number;
  readonly folders: readonly string[];
  readonly linked: readonly HardLinkedFile[];
}

const READ_BY_OTHERS = 0o004;

/** A finished or running scan below a folder. */
interface TreeScan {
  readonly since: number;
  readonly seen: Map<string, FolderScan>;
  readonly found: Promise<LinkedPaths>;
}

/** Hard-linked files below a folder. */
interface LinkedPaths {
  /** Paths of foreign files. */
  readonly foreign: readonly string[];
  readonly linked: readonly HardLinkedFile[];
}

/** Paths of files that have another name which is, or lies in, one of the secret paths. */
export function findSecretTwins(linked: readonly HardLinkedFile[], secrets: readonly string[]): readonly string[] {
  if (linked.length === 0 || secrets.length === 0) return [];
  const isSecret = ({ path }: HardLinkedFile): boolean => secrets.some((secret) => isWithin(secret, path));
  const identities = new Set(linked.filter(isSecret).map(({ identity }) => identity));
  return linked.filter(({ identity }) => identities.has(identity)).map(({ path }) => path);
}

/** Finds foreign files below folders; an unchanged folder is not read again. */
export class ForeignLinks {
  readonly #walks = new Map<string, TreeScan>();

  /**
   * Foreign files among the first `HAND_LIMITS.searchFiles` entries below a folder, at most `HAND_LIMITS.closedMs` old.
   * Package stores and local clones have many links of the same owner that are readable to all users: beyond
   * `HAND_LIMITS.foreignLinks`, only files of other owners and files closed to others are given.
   */
  below(top: string): Promise<LinkedPaths> {
    const before = this.#walks.get(top);
    const now = performance.now();
    if (before !== undefined && now - before.since <= HAND_LIMITS.closedMs) return before.found;
    if (this.#walks.size >= MOST_WALKS) this.#walks.clear();
    const seen = new Map<string, FolderScan>();
    const found = scanTree(top, { before: before?.seen, seen });
    this.#walks.set(top, { since: now, seen, found });
    return found;
  }
}

/** Number of folders whose scans are kept. */
const MOST_WALKS = 16;

/** Results of the previous scan and of this one. */
interface ScanState {
  readonly before: ReadonlyMap<string, FolderScan> | undefined;
  readonly seen: Map<string, FolderScan>;
}

async function scanTree(top: string, { before, seen }: ScanState): Promise<LinkedPaths> {
  const owner = lstatIfAny(top)?.uid;
  const folders = [top];
  let left: number = HAND_LIMITS.searchFiles;
  let since = performance.now();
  for (let next = 0; next < folders.length && left > 0; next += 1) {
    const folder = folders[next] ?? top;
    const found = scanIfChanged(folder, before?.get(folder));
    if (found === undefined) continue;
    left -= found.entries;
    seen.set(folder, found);
    folders.push(...found.folders);
    if (performance.now() - since > HAND_LIMITS.scanSliceMs) {
      await setImmediate();
      since = performance.now();
    }
  }
  const linked = [...seen.values()].flatMap((scan) => scan.linked);
  const foreign = selectForeign(linked, owner);
  const isStore = foreign.length > HAND_LIMITS.foreignLinks;
  const covered = foreign.filter((file) => !isStore || file.owner !== owner || !file.isOpen);
  return { foreign: covered.map(({ path }) => path), linked };
}

function scanIfChanged(folder: string, before: FolderScan | undefined): FolderScan | undefined {
  const stat = lstatIfAny(folder);
  if (stat?.isDirectory() !== true) return undefined;
  const mark = `${stat.ino}:${stat.mtimeMs}:${stat.ctimeMs}`;
  return before?.mark === mark ? before : { mark, ...listFolder(folder) };
}

function selectForeign(linked: readonly HardLinkedFile[], owner: number | undefined): readonly HardLinkedFile[] {
  const here = new Map<string, number>();
  for (const { identity } of linked) here.set(identity, (here.get(identity) ?? 0) + 1);
  return linked.filter((file) => file.owner !== owner || (here.get(file.identity) ?? 0) < file.names);
}

function listFolder(folder: string): Omit<FolderScan, "mark"> {
  const [folders, linked]: [string[], HardLinkedFile[]] = [[], []];
  let entries = 0;
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      entries += 1;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      const stat = entry.isFile() ? lstatIfAny(path) : undefined;
      if (stat !== undefined && stat.nlink > 1) linked.push(hardLinkedFile(path, stat));
    }
  } catch {
    // Removed meanwhile, or closed to this process as well.
  }
  return { entries, folders, linked };
}

function hardLinkedFile(path: string, stat: Stats): HardLinkedFile {
  const isOpen = (stat.mode & READ_BY_OTHERS) !== 0;
  return { path, identity: `${stat.dev}:${stat.ino}`, names: stat.nlink, owner: stat.uid, isOpen };
}

function lstatIfAny(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
