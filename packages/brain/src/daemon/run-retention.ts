import { open, rename } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { FOLLOW_LIMITS, HOUR_MS, MIB, RETENTION_LIMITS } from "@vidro/core";
import type { Journal } from "@vidro/core";
import type { Retention } from "../stores/store.ts";
import { makeFolder } from "./home-folder.ts";

/** How long runs are kept. */
interface RetentionRules {
  /** Days for which an ended run is kept; 0 keeps it for ever. */
  readonly days: number;
  /** Size of the store in MiB beyond which its oldest ended runs are deleted earlier; 0 sets no bound. */
  readonly storeMib: number;
  /** Folder that a run is written to before it is deleted. */
  readonly exportTo?: string;
}

/** Dependencies of the deletion of old runs. */
interface RetentionDependencies {
  readonly retention: Retention;
  readonly journal: Pick<Journal, "head" | "read">;
  readonly now: () => number;
}

/** Deletes ended runs that need not be kept longer, a few in each commit. Several brains may do so at once. */
export class RunRetention {
  readonly #deps: RetentionDependencies;
  readonly #rules: RetentionRules;
  readonly #end = new AbortController();
  #work: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: RetentionDependencies, rules: RetentionRules) {
    this.#deps = deps;
    this.#rules = rules;
  }

  /** Deletes what is due once an hour from now on; tells how many runs, or what went wrong. */
  start(tell: (pruned: number) => void, fail: (thrown: unknown) => void): void {
    const look = (): void => {
      this.#work = this.prune().then((pruned) => (pruned > 0 ? tell(pruned) : undefined), fail);
    };
    this.#timer = setInterval(look, RETENTION_LIMITS.lookMs).unref();
  }

  /** Stops between two commits. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#end.abort();
    await this.#work;
  }

  /** Number of runs that are due by their age; none when runs are kept for ever. */
  async count(): Promise<number> {
    const { retention, now } = this.#deps;
    if (this.#rules.days === 0) return 0;
    return (await retention.due(now() - this.#rules.days * 24 * HOUR_MS, Number.MAX_SAFE_INTEGER)).length;
  }

  /** Deletes every run that is due; returns how many. */
  async prune(): Promise<number> {
    const { days, storeMib } = this.#rules;
    const { retention, now } = this.#deps;
    const isTooLarge = async (): Promise<boolean> => storeMib > 0 && ((await retention.bytes()) ?? 0) > storeMib * MIB;
    let pruned = days === 0 ? 0 : await this.#pruneBefore(now() - days * 24 * HOUR_MS, async () => true);
    pruned += await this.#pruneBefore(now() - RETENTION_LIMITS.leastMs, isTooLarge);
    return pruned;
  }

  /** Deletes runs whose last entry is older than `before`, while it is wanted. */
  async #pruneBefore(before: number, isWanted: () => Promise<boolean>): Promise<number> {
    let pruned = 0;
    while (!this.#end.signal.aborted && (await isWanted())) {
      const runs = await this.#deps.retention.due(before, RETENTION_LIMITS.batch);
      if (runs.length === 0) return pruned;
      for (const run of runs) await this.#export(run);
      const count = await this.#deps.retention.prune(runs);
      // Another brain deleted them, or they cannot be deleted: the next look tries again.
      if (count === 0) return pruned;
      pruned += count;
      await sleep(RETENTION_LIMITS.pauseMs, undefined, { signal: this.#end.signal }).catch(() => undefined);
    }
    return pruned;
  }

  /** Writes a run to its file, which is on disk under its name when this returns. */
  async #export(run: string): Promise<void> {
    const { exportTo } = this.#rules;
    const { journal } = this.#deps;
    const head = exportTo === undefined ? undefined : await journal.head(run);
    if (exportTo === undefined || head === undefined) return;
    makeFolder(exportTo);
    const path = join(exportTo, `${run}.ndjson`);
    const draft = `${path}.${process.pid}`;
    {
      await using file = await open(draft, "w", 0o600);
      for (let after = 0; after < head.seq;) {
        const entries = await journal.read(run, after, FOLLOW_LIMITS.batch);
        await file.write(entries.map((entry) => `${JSON.stringify({ run, ...entry })}\n`).join(""));
        after = entries.at(-1)?.seq ?? head.seq;
      }
      await file.sync();
    }
    await rename(draft, path);
  }
}
