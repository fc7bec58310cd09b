import { Fault, WATCH_LIMITS } from "@vidro/core";
import { findOwnFolders } from "../policy/own-state.ts";
import { holdFolder, type HeldFolder } from "../files/held-folder.ts";
import { isWithin } from "../files/is-within.ts";
import { WatchedTree } from "./watches/watched-tree.ts";
import { WatchLog } from "./watches/watch-log.ts";
import type { EventQuery, Watch, WatchEvent } from "./watches/watch-log.ts";

/** A watch that is running. */
interface ActiveWatch {
  readonly watch: Watch;
  /** Events that are not on disk yet. */
  readonly seen: Omit<WatchEvent, "seq">[];
  tree: WatchedTree | undefined;
  end: NodeJS.Timeout | undefined;
}

/** Settings of the watches of a hand. */
interface WatchesOptions {
  /** The database file. */
  readonly file: string;
  /** A folder whose changes are ignored: the hand's own state, which changes with every recorded event. */
  readonly reserved: string;
  readonly now?: () => number;
}

/** Watches paths for a limited time and records changes; continues after a restart, with an event for the gap. */
export class Watches {
  readonly #log: WatchLog;
  readonly #reserved: HeldFolder;
  readonly #now: () => number;
  readonly #going = new Map<string, ActiveWatch>();
  #keeping: NodeJS.Immediate | undefined;

  private constructor(options: WatchesOptions) {
    this.#log = new WatchLog(options.file);
    this.#reserved = holdFolder(options.reserved);
    this.#now = options.now ?? Date.now;
  }

  /** Opens the watches of a hand and continues those that have not expired. */
  static async open(options: WatchesOptions): Promise<Watches> {
    const watches = new Watches(options);
    watches.#log.prune(watches.#now());
    await Promise.all(watches.#log.open(watches.#now()).map((watch) => watches.#goOn(watch)));
    return watches;
  }

  /** Starts watching a real path; throws RATE_LIMITED with too many watches, TOOL_FAILED if the path does not exist. */
  async begin(path: string, seconds: number): Promise<Watch> {
    if (this.#going.size >= WATCH_LIMITS.active)
      throw new Fault("RATE_LIMITED", `${WATCH_LIMITS.active} paths are watched already; wait until some are over.`, {
        retryAfterMs: WATCH_LIMITS.seconds * 1000,
      });
    const startedAt = this.#now();
    this.#log.prune(startedAt);
    const watch = this.#log.create(path, startedAt, startedAt + seconds * 1000);
    try {
      await this.#start(watch);
    } catch (thrown) {
      this.#log.drop(watch.token);
      throw thrown;
    }
    return watch;
  }

  /** The events of a watch; throws NOT_FOUND for an unknown token. */
  events(token: string, query: EventQuery): readonly WatchEvent[] {
    if (this.#log.find(token) === undefined) throw new Fault("NOT_FOUND", "There is no watch of that token.");
    this.#keep();
    return this.#log.events(token, query);
  }

  /** Stops watching; watches that have not expired continue when they are opened again. */
  async close(): Promise<void> {
    await Promise.all([...this.#going.values()].map((going) => this.#stop(going)));
    clearImmediate(this.#keeping);
    this.#log.close();
  }

  async #goOn(watch: Watch): Promise<void> {
    const restarted = "The hand was restarted; what happened meanwhile was not seen.";
    try {
      const going = await this.#start(watch);
      this.#see(going, { type: "error", file: watch.path, why: restarted });
    } catch {
      this.#log.keep(watch.token, [
        { type: "error", file: watch.path, at: this.#now(), why: `${restarted} It is gone.` },
      ]);
    }
  }

  async #start(watch: Watch): Promise<ActiveWatch> {
    const going: ActiveWatch = { watch, seen: [], tree: undefined, end: undefined };
    this.#going.set(watch.token, going);
    try {
      going.tree = await WatchedTree.at(
        watch.path,
        (type, file, why) => this.#see(going, { type, file, ...(why === undefined ? {} : { why }) }),
        (path) => findOwnFolders(this.#reserved.path).some((folder) => isWithin(folder, path)),
      );
    } catch (thrown) {
      this.#going.delete(watch.token);
      throw thrown;
    }
    going.end = setTimeout(() => void this.#stop(going), watch.expiresAt - this.#now()).unref();
    return going;
  }

  async #stop(going: ActiveWatch): Promise<void> {
    clearTimeout(going.end);
    await going.tree?.close();
    this.#keep();
    this.#going.delete(going.watch.token);
  }

  #see(going: ActiveWatch, change: Omit<WatchEvent, "seq" | "at">): void {
    going.seen.push({ ...change, at: this.#now() });
    // Events of one turn of the event loop are written together.
    this.#keeping ??= setImmediate(() => this.#keep());
  }

  /** Writes what was seen. What a full disk does not take waits for the next time, up to the bound of a watch. */
  #keep(): void {
    this.#keeping = undefined;
    for (const { watch, seen } of this.#going.values()) {
      if (seen.length === 0) continue;
      const events = seen.splice(0);
      try {
        this.#log.keep(watch.token, events);
      } catch {
        seen.unshift(...events.slice(0, WATCH_LIMITS.events));
      }
    }
  }
}
