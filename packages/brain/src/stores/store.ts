import type { Journal, Records } from "@vidro/core";
import type { DamagedRun } from "./damage.ts";
import type { SealKey } from "./seal.ts";

/** Everything that is kept, in one place: the journals of runs, and the small things beside them. */
export interface Store {
  readonly journal: Journal;
  readonly records: Records;
  readonly condition: StoreCondition;
  readonly incarnation: Incarnation;
  /** For a store whose seals are signed. */
  readonly audit?: Audit;
  /** Commits what is waiting and closes; closing the journal does the same. */
  close(): Promise<void>;
}

/** How a store is; asking changes nothing. */
export interface StoreCondition {
  /** Damaged runs that this process has come across. */
  damaged(): readonly DamagedRun[];
  /** How many runs are open; throws a Fault when that cannot be read. */
  openRuns(): OpenRuns;
}

/** How many runs are open. */
export interface OpenRuns {
  readonly running: number;
  readonly asking: number;
  /** Those of both that no process has a lease on. */
  readonly undriven: number;
}

/** What a store may be told when it is opened. */
export interface StoreOptions {
  /** The clock that leases run out by and changes are dated with. */
  readonly now?: () => number;
  /** A person says that the store came back from a backup. */
  readonly restored?: boolean;
  /** What its seals are signed with; without one there are none. */
  readonly sealKey?: SealKey;
}

/** Compares a store with its seals. */
export interface Audit {
  /** Checks all seals against the store, tells each thing that is not as it was sealed, and says what is covered. */
  check(tell: (finding: string) => void): Sealed;
}

/** What the seals of a store cover. */
export interface Sealed {
  readonly seals: number;
  /** Fingerprint of the key that they are signed with. */
  readonly key: string;
  /** When the last one was made. */
  readonly at: number | undefined;
  /** Entries and records that are newer than the last one. */
  readonly unsealedEntries: number;
  readonly unsealedRecords: number;
}

/** Which life of a store this is: one that came back from a backup lacks what happened after the backup. */
export interface Incarnation {
  /** FIRST_GENERATION, and one more each time that the store came back from a backup. */
  readonly generation: number;
  /** The lowest epoch that is given from now on: higher than any that was given before the store came back. */
  readonly floor: number;
  /** How it is known that the store came back from a backup, when that turned out as it was opened. */
  readonly restored?: string;
}
