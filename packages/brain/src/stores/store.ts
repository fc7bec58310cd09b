import type { Journal, Records } from "@vidro/core";

/** Everything that is kept, in one place: the journals of runs, and the small things beside them. */
export interface Store {
  readonly journal: Journal;
  readonly records: Records;
  /** Commits what is waiting and closes; closing the journal does the same. */
  close(): Promise<void>;
}

/** What a store may be told when it is opened. */
export interface StoreOptions {
  /** The clock that leases run out by and changes are dated with. */
  readonly now?: () => number;
}
