import { watch as watchFolder } from "node:fs";
import type { FSWatcher } from "node:fs";
import { basename, dirname, join } from "node:path";
import { asFault, Fault, WATCH_LIMITS } from "@vidro/core";
import { errnoCode, Folder } from "../../files/files.ts";
import type { FolderEntry } from "../../files/files.ts";
import type { WatchEventType } from "./watch-log.ts";

/** Receives the events of a watched tree. */
type WatchObserver = (type: WatchEventType, file: string, why?: string) => void;

/** The last known state of a file or folder. */
interface TreeNode {
  readonly isFolder: boolean;
  /** Changes with every change of a file. */
  readonly mark: string;
  /** The entries of a folder, by name. */
  readonly children?: Map<string, TreeNode>;
}

/** The folder that is watched, and the only name in it that counts; without `only`, all do. */
interface WatchRoot {
  readonly path: string;
  readonly only?: string;
}

/**
 * Detects changes below a path. The kernel reports in which folder something changed, and that folder is compared with
 * its last known state, so the number, order or loss of kernel events does not matter. A folder is listened to before
 * it is listed. Symlinks are treated as files and never followed.
 */
export class WatchedTree {
  readonly #place: WatchRoot;
  readonly #see: WatchObserver;
  readonly #isReserved: (path: string) => boolean;
  readonly #listeners = new Map<string, FSWatcher>();
  readonly #changed = new Set<string>();
  readonly #root: Map<string, TreeNode> = new Map();
  #entries = 0;
  #isQuiet = true;
  #toldTooMany = false;
  #looking: Promise<void> = Promise.resolve();
  #settling: NodeJS.Timeout | undefined;
  #rescan: NodeJS.Timeout | undefined;
  #closed = false;

  private constructor(place: WatchRoot, see: WatchObserver, isReserved: (path: string) => boolean) {
    this.#place = place;
    this.#see = see;
    this.#isReserved = isReserved;
  }

  /** Starts to watch a real path; throws TOOL_FAILED if it does not exist. */
  static async at(path: string, see: WatchObserver, isReserved: (path: string) => boolean): Promise<WatchedTree> {
    const tree = new WatchedTree(await placeOf(path), see, isReserved);
    await tree.#look(tree.#place.path, tree.#root, 0);
    tree.#isQuiet = false;
    tree.#rescan = setInterval(() => tree.#change(tree.#place.path, true), WATCH_LIMITS.rescanMs).unref();
    return tree;
  }

  /** Stops watching; resolves when all changes up to now are reported. */
  async close(): Promise<void> {
    clearTimeout(this.#settling);
    clearInterval(this.#rescan);
    if (this.#changed.size > 0) this.#lookAtChanged();
    await this.#looking;
    this.#closed = true;
    for (const listener of this.#listeners.values()) listener.close();
    this.#listeners.clear();
  }

  #change(path: string, everywhere = false): void {
    if (this.#closed) return;
    this.#changed.add(path);
    if (everywhere) for (const folder of this.#listeners.keys()) this.#changed.add(folder);
    this.#settling ??= setTimeout(() => this.#lookAtChanged(), WATCH_LIMITS.settleMs).unref();
  }

  #lookAtChanged(): void {
    this.#settling = undefined;
    const changed = [...this.#changed].sort();
    this.#changed.clear();
    this.#looking = this.#looking.then(() => this.#lookAt(changed));
  }

  async #lookAt(changed: readonly string[]): Promise<void> {
    for (const path of changed) {
      const found = this.#find(path);
      if (found !== undefined && !this.#closed) await this.#look(path, found.children, found.depth);
    }
  }

  /** The last known state of a folder; undefined if it was removed. */
  #find(path: string): { readonly children: Map<string, TreeNode>; readonly depth: number } | undefined {
    const names = path
      .slice(this.#place.path.length)
      .split("/")
      .filter((name) => name !== "");
    let children = this.#root;
    for (const name of names) {
      const next = children.get(name)?.children;
      if (next === undefined) return undefined;
      children = next;
    }
    return { children, depth: names.length };
  }

  /** Compares a folder with its last known state; new folders are scanned too. */
  async #look(path: string, known: Map<string, TreeNode>, depth: number): Promise<void> {
    this.#listen(path);
    try {
      await using folder = await Folder.open(path);
      const { entries } = await folder.entries(WATCH_LIMITS.entries);
      const wanted = entries.filter(({ name }) => this.#isWanted(join(path, name), name));
      const there = new Set(wanted.map(({ name }) => name));
      for (const [name, gone] of known) if (!there.has(name)) this.#forget(known, join(path, name), gone);
      for (const entry of wanted) await this.#compare(folder, entry, { known, depth });
    } catch (thrown) {
      // A removed folder is noticed in its parent; only the root has none.
      if (path === this.#place.path) this.#forgetVanished(known, thrown);
    }
  }

  async #compare(
    folder: Folder,
    { name, type }: FolderEntry,
    { known, depth }: { readonly known: Map<string, TreeNode>; readonly depth: number },
  ): Promise<void> {
    const path = join(folder.path, name);
    const stat = await folder.look(name).catch(() => undefined);
    if (stat === undefined) return;
    const isFolder = type === "folder";
    const before = known.get(name);
    const mark = `${stat.ino} ${isFolder ? "" : `${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`}`;
    if (before?.isFolder === isFolder) {
      if (before.mark === mark) return;
      if (!isFolder) {
        known.set(name, { isFolder, mark });
        return this.#tell("modify", path);
      }
    }
    if (before !== undefined) this.#forget(known, path, before);
    if (this.#entries >= WATCH_LIMITS.entries) return this.#tellTooMany();
    this.#entries += 1;
    const children = isFolder ? new Map<string, TreeNode>() : undefined;
    known.set(name, children === undefined ? { isFolder, mark } : { isFolder, mark, children });
    this.#tell(isFolder ? "addDir" : "add", path);
    if (children !== undefined && depth < WATCH_LIMITS.depth) await this.#look(path, children, depth + 1);
  }

  #forget(known: Map<string, TreeNode>, path: string, { isFolder, children }: TreeNode): void {
    for (const [name, child] of children ?? []) this.#forget(children ?? known, join(path, name), child);
    known.delete(basename(path));
    this.#entries -= 1;
    this.#listeners.get(path)?.close();
    this.#listeners.delete(path);
    this.#tell(isFolder ? "unlinkDir" : "unlink", path);
  }

  #forgetVanished(known: Map<string, TreeNode>, thrown: unknown): void {
    const { path } = this.#place;
    const isGone = thrown instanceof Fault && errnoCode(thrown.cause) === "ENOENT";
    for (const [name, gone] of known) if (isGone) this.#forget(known, join(path, name), gone);
    const listener = this.#listeners.get(path);
    if (listener === undefined) return;
    listener.close();
    this.#listeners.delete(path);
    this.#tell(isGone ? "unlinkDir" : "error", path, isGone ? undefined : asFault(thrown).message);
  }

  /** Changes in folders without a listener, beyond the bound or refused by the kernel, are found by the rescan. */
  #listen(path: string): void {
    if (this.#listeners.has(path) || this.#listeners.size >= WATCH_LIMITS.folders || this.#closed) return;
    try {
      const listener = watchFolder(path, { persistent: false }, () => this.#change(path));
      listener.on("error", () => this.#change(dirname(path)));
      this.#listeners.set(path, listener);
    } catch {
      // Removed already, or the kernel has no free inotify watch.
    }
  }

  #isWanted(path: string, name: string): boolean {
    return (this.#place.only === undefined || this.#place.only === name) && !this.#isReserved(path);
  }

  #tell(type: WatchEventType, path: string, why?: string): void {
    if (!this.#isQuiet && !this.#closed) this.#see(type, path, why);
  }

  #tellTooMany(): void {
    if (this.#toldTooMany) return;
    this.#toldTooMany = true;
    this.#see(
      "error",
      this.#place.path,
      `More than ${WATCH_LIMITS.entries} files and folders; the others are not seen.`,
    );
  }
}

/** A folder is watched itself; a file is watched through its folder, so that its removal and return are noticed. */
async function placeOf(path: string): Promise<WatchRoot> {
  if (path === "/") return { path };
  await using parent = await Folder.open(dirname(path));
  const stat = await parent.look(basename(path));
  if (stat === undefined) throw new Fault("TOOL_FAILED", `There is no ${path} to watch.`);
  return stat.isDirectory() ? { path } : { path: dirname(path), only: basename(path) };
}
