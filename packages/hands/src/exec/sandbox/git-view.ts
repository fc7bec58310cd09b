import { createHash } from "node:crypto";
import { lstatSync, realpathSync, type BigIntStats } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { HAND_LIMITS } from "@vidro/core";
import { isWithin } from "../../files/is-within.ts";
import { readFileStart } from "../../files/regular-file.ts";
import { parseIndex, skipEntries, type GitIndex, type HashAlgorithm, type IndexEntry } from "./git-index.ts";
import type { ViewData } from "./view-data.ts";

/*
 * git compares tracked files with its index, and would take the cover of a hidden file for a change. So the hand, which
 * sees the files, compares them itself. In the view of a command that only reads, a copy of the index says of those
 * that have not changed that they are not in the work tree, and git leaves them alone. In the place of one that has
 * changed lies a sentence, so that git finds a change, and shows no content.
 */

/** What a file says in whose place it lies. The zero makes it binary: git says that it differs, and not in what. */
const HIDDEN_TEXT = Buffer.from("This file is hidden from commands; it has changed since git saw it last.\n\0");

/** A repository with hidden files, by their paths on the host. */
interface Repository {
  /** The top of its work tree. */
  readonly top: string;
  /** Real path of its index. */
  readonly index: string;
  readonly hidden: readonly string[];
}

/** A tracked file that is hidden. */
interface HiddenEntry {
  readonly path: string;
  readonly entry: IndexEntry;
}

/** The parts of a view that were made, and the state of the files that they were made of. */
interface MadeView {
  readonly tracked: readonly string[];
  readonly state: string;
  readonly data: readonly ViewData[];
}

/** The views of the repositories that were looked at last, by the paths of their indexes and of what is hidden. */
const made = new Map<string, MadeView>();

/**
 * What lies in the places of indexes and of hidden files, in the view of a command that cannot write, so that git tells
 * the truth about the tracked ones among the hidden paths. Those that a repository's own settings, a damaged or a large
 * index make impossible to compare are left out.
 */
export function findGitData(workspace: string, hidden: readonly string[]): readonly ViewData[] {
  const repositories = new Map<string, Repository>();
  for (const path of hidden) {
    const top = findTop(path, workspace);
    const index = top === undefined ? undefined : findIndex(top);
    if (top === undefined || index === undefined || !isWithin(workspace, index)) continue;
    if (hidden.some((cover) => isWithin(cover, index))) continue;
    repositories.set(index, { top, index, hidden: [...(repositories.get(index)?.hidden ?? []), path] });
  }
  const data: ViewData[] = [];
  for (const repository of repositories.values()) {
    const room = HAND_LIMITS.gitFiles - data.length;
    if (room <= 0) break;
    data.push(...viewOf(repository).data.slice(0, room));
  }
  return data;
}

/** The nearest folder above a path, up to the workspace, that is the top of a work tree. */
function findTop(path: string, workspace: string): string | undefined {
  for (let folder = dirname(path); isWithin(workspace, folder); folder = dirname(folder)) {
    if (lstatIfAny(join(folder, ".git")) !== undefined) return folder;
    if (folder === "/") return undefined;
  }
  return undefined;
}

/** The real path of the index of a work tree; a file `.git` of a submodule or a worktree names its folder. */
function findIndex(top: string): string | undefined {
  try {
    const place = realpathSync.native(join(top, ".git"));
    const named = /^gitdir: ([^\n]+)/u.exec(readText(place))?.[1];
    return realpathSync.native(join(named === undefined ? place : resolve(top, named), "index"));
  } catch {
    return undefined;
  }
}

function viewOf(repository: Repository): MadeView {
  const { index, hidden } = repository;
  const key = JSON.stringify([index, ...hidden]);
  const before = made.get(key);
  if (before !== undefined && before.state === stateOf([index, ...before.tracked])) return before;
  const view = makeView(repository);
  made.delete(key);
  made.set(key, view);
  const [oldest] = made.size > HAND_LIMITS.indexedFolders ? made.keys() : [];
  if (oldest !== undefined) made.delete(oldest);
  return view;
}

function makeView(repository: Repository): MadeView {
  const stat = lstatIfAny(repository.index);
  const bytes = readFileStart(repository.index, HAND_LIMITS.gitIndexBytes);
  const state = stateOf([repository.index]);
  if (stat === undefined || bytes === undefined || bytes.isCut) return { tracked: [], state, data: [] };
  try {
    const index = parseIndex(bytes.bytes);
    const entries = findHiddenEntries(index, repository);
    const tracked = [...new Set(entries.map(({ path }) => path))];
    // Taken before the files are read: what changes meanwhile is read again for the next command.
    const together = stateOf([repository.index, ...tracked]);
    return { tracked, state: together, data: compareEntries(index, entries, { at: repository.index, stat }) };
  } catch (thrown) {
    // An index of another format, which git may know.
    if (thrown instanceof RangeError) return { tracked: [], state, data: [] };
    throw thrown;
  }
}

/** The entries of hidden files that are there; one that is gone is seen as gone. */
function findHiddenEntries({ entries }: GitIndex, { top, hidden }: Repository): readonly HiddenEntry[] {
  const covers = new Set(hidden);
  const isHidden = (path: string): boolean => {
    for (let at = path; at.length > top.length; at = dirname(at)) if (covers.has(at)) return true;
    return false;
  };
  return entries
    .map((entry) => ({ path: join(top, entry.path), entry }))
    .filter(({ path, entry }) => !entry.isLeftAlone && !isSubmodule(entry) && isHidden(path));
}

function compareEntries(
  index: GitIndex,
  entries: readonly HiddenEntry[],
  { at, stat }: { readonly at: string; readonly stat: BigIntStats },
): readonly ViewData[] {
  if (entries.length === 0) return [];
  const heedsMode = !/^[ \t]*filemode[ \t]*=[ \t]*false[ \t\r]*$/imu.test(
    readText(join(commonFolder(dirname(at)), "config")),
  );
  const seconds = Number(stat.mtimeMs / 1000n);
  const how: Comparison = { algorithm: index.algorithm, seconds, heedsMode };
  const isSame = ({ path, entry }: HiddenEntry): boolean => !entry.isConflict && isUnchanged(path, entry, how);
  const same = new Set(entries.filter(isSame));
  const changed = new Map<string, ViewData>();
  for (const { path } of entries.filter((one) => !same.has(one))) {
    const mode = lstatIfAny(path)?.mode;
    if (mode === undefined || changed.size === HAND_LIMITS.gitFiles) continue;
    changed.set(path, { at: path, bytes: HIDDEN_TEXT, id: "hidden", rights: isExecutable(mode) ? "0755" : "0644" });
  }
  const bytes = skipEntries(
    index,
    [...same].map(({ entry }) => entry),
  );
  const id = createHash("sha256").update(bytes).digest("hex");
  return [{ at, bytes, id, rights: "0644", seconds }, ...changed.values()];
}

/** How files are compared with entries. */
interface Comparison {
  readonly algorithm: HashAlgorithm;
  /** When the index was written. */
  readonly seconds: number;
  /** Whether the right to execute counts. */
  readonly heedsMode: boolean;
}

const TYPE = 0o170000;
const REGULAR = 0o100000;
const SUBMODULE = 0o160000;
const EXECUTABLE = 0o100;

const isExecutable = (mode: bigint | number): boolean => (Number(mode) & EXECUTABLE) !== 0;
const isSubmodule = ({ mode }: IndexEntry): boolean => (mode & TYPE) === SUBMODULE;

/**
 * Whether a file is what its entry says. As git does, its times tell, unless it was changed when the index was written;
 * else its content does, as it is on disk, without the filters that the repository's settings may name.
 */
function isUnchanged(path: string, entry: IndexEntry, { algorithm, seconds, heedsMode }: Comparison): boolean {
  const stat = lstatIfAny(path);
  if (stat?.isFile() !== true || (entry.mode & TYPE) !== REGULAR) return false;
  if (heedsMode && isExecutable(stat.mode) !== isExecutable(entry.mode)) return false;
  const { seen } = entry;
  if (seen.size !== 0 && seen.size !== low(stat.size)) return false;
  if (isSeen(stat, entry) && seen.modified[0] < seconds) return true;
  const content = readFileStart(path, HAND_LIMITS.fileBytes);
  if (content === undefined || content.isCut) return false;
  const sum = createHash(algorithm).update(`blob ${content.bytes.length}\0`).update(content.bytes);
  return sum.digest("hex") === entry.hash;
}

function isSeen(stat: BigIntStats, { seen }: IndexEntry): boolean {
  return (
    seen.size === low(stat.size) &&
    seen.inode === low(stat.ino) &&
    isTime(seen.modified, stat.mtimeNs) &&
    isTime(seen.changed, stat.ctimeNs)
  );
}

const NANOSECONDS = 1_000_000_000n;

function isTime([seconds, rest]: readonly [number, number], time: bigint): boolean {
  return seconds === low(time / NANOSECONDS) && rest === Number(time % NANOSECONDS);
}

/** The lowest 32 bits. */
const low = (value: bigint): number => Number(BigInt.asUintN(32, value));

/** The folder of a repository that its worktrees share. */
function commonFolder(folder: string): string {
  const named = readText(join(folder, "commondir")).trim();
  return named === "" ? folder : resolve(folder, named);
}

/**
 * Identities of some files. One that was changed within the last moments has none that could be equal to another, since
 * a further change may have the same times.
 */
function stateOf(paths: readonly string[]): string {
  return JSON.stringify(
    paths.map((path) => {
      const stat = lstatIfAny(path);
      if (stat === undefined) return "";
      const isSettled = Date.now() - Number(stat.ctimeMs) > HAND_LIMITS.settledMs;
      const moment = isSettled ? "" : ` ${performance.now()}`;
      return `${stat.dev} ${stat.ino} ${stat.mode} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}${moment}`;
    }),
  );
}

function readText(path: string): string {
  return readFileStart(path, HAND_LIMITS.gitConfigBytes)?.bytes.toString("utf8") ?? "";
}

function lstatIfAny(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
