import type { Bus, CheckRunSeals, Journal, Records, SpendingSums } from "@vidro/core";
import type { DamagedRun } from "./damage.ts";
import type { SealKey } from "./seal.ts";

/** All state of a brain: the journals of runs, and records beside them. */
export interface Store {
  readonly journal: Journal;
  readonly records: Records;
  readonly spending: SpendingSums;
  readonly condition: StoreCondition;
  readonly incarnation: Incarnation;
  /** Only of a store with signed seals. */
  readonly audit?: Audit;
  /** Absent of a store in memory, which ends with its process. */
  readonly retention?: Retention;
  /** Commits pending work and closes; closing the journal does the same. */
  close(): Promise<void>;
}

/** Condition of a store. */
export interface StoreCondition {
  /** Damaged runs that this process has come across. */
  damaged(): readonly DamagedRun[];
  /** Number of open runs; rejects with a Fault when that cannot be read. */
  openRuns(): Promise<OpenRuns>;
}

/** Deletes ended runs, so that a store does not grow for ever. */
export interface Retention {
  /** Ended runs whose last entry is older than `before`, oldest first, at most `limit`. */
  due(before: number, limit: number): Promise<readonly string[]>;
  /** Deletes those of the runs that have ended, with all that only they have; an audit knows them. Returns how many. */
  prune(runs: readonly string[]): Promise<number>;
  /** Bytes of the content; undefined where another program bounds them. */
  bytes(): Promise<number | undefined>;
}

/** Number of open runs. */
export interface OpenRuns {
  readonly running: number;
  readonly asking: number;
  /** Open runs without a lease. */
  readonly undriven: number;
}

/** Options of a store. */
export interface StoreOptions {
  /** Clock for the end of leases and the dates of changes. */
  readonly now?: () => number;
  /** A person says that the store was restored from a backup. */
  readonly restored?: boolean;
  /** Key of its seals; there are no seals without it. */
  readonly sealKey?: SealKey;
  /** Carries wakes to other brains while it is up. */
  readonly bus?: Bus;
}

/** Compares a store with its seals. */
export interface Audit {
  /** Checks all seals against the store, reports each difference, and returns what is covered. */
  check(tell: (finding: string) => void): SealReport;
  readonly checkRun: CheckRunSeals;
}

/** The extent of a store's seals. */
export interface SealReport {
  readonly seals: number;
  /** Fingerprint of the key that they are signed with. */
  readonly key: string;
  /** Time of the last seal. */
  readonly at: number | undefined;
  /** Number of entries and records that are newer than the last seal. */
  readonly unsealedEntries: number;
  readonly unsealedRecords: number;
}

/** Incarnation of a store: one restored from a backup is another one, since it lacks what happened after the backup. */
export interface Incarnation {
  /** FIRST_GENERATION, plus one for each restore from a backup. */
  readonly generation: number;
  /** Lowest epoch of new leases: higher than any that was given before the restore. */
  readonly floor: number;
  /** Why the store counts as restored, when that was found at this opening. */
  readonly restored?: string;
}
