import { KIB, MIB, SECOND_MS } from "./units.ts";

/* What is kept, and what is hidden before it is kept. */

/** Bounds of the journal's store. */
export const STORE_LIMITS = {
  /** How long a commit waits for another process to end its own. */
  busyMs: 5 * SECOND_MS,
  /** Rest before such a commit is tried again. */
  retryMs: 1,
  /** How long a commit whose outcome is unknown is tried again on a new connection before its callers are told. */
  doubtMs: 5 * SECOND_MS,
  /** Rest before such a commit is tried again. */
  reopenMs: 100,
  /** First rest before a run appends again to a store that was busy, full or failing; doubled each time. */
  backoffMs: 100,
  /** Longest such rest. */
  backoffCapMs: 5 * SECOND_MS,
  /** Calls that wait for a store that is busy or failing; more are refused. */
  waiting: 100_000,
  /** An I/O error on a disk with less room than this counts as a full disk. */
  roomBytes: 256 * KIB,
  /** Calls that wait for one commit; a full queue is committed at once. */
  batch: 1024,
  /** Runs whose last entry is remembered, so that appending need not look it up. */
  heads: 4096,
  /** Damaged runs whose names are remembered. */
  damagedRuns: 1000,
  /** The least time between two writings of the file that counts the entries of a store. */
  markMs: 100,
  /** How long what was committed waits for its seal, unless a run ends before. */
  sealMs: 5 * SECOND_MS,
  /** Entries, and records, that one seal covers; what is more waits for the next. */
  sealEntries: 4096,
  /** Runs, records and seals that an audit reads at once. */
  auditPage: 256,
} as const;

/** Bounds of being the one daemon of a home. */
export const DAEMON_LIMITS = {
  /** How often one that is refused looks for the name of the one that has the home, and its rest in between. */
  namedTries: 50,
  namedMs: 20,
} as const;

/** Bounds of a daemon's view of itself. */
export const HEALTH_LIMITS = {
  /** How often it looks. */
  lookMs: 2 * SECOND_MS,
  /** Free disk below which it says that there is little, and below which it says that there is none. */
  lowBytes: 512 * MIB,
  fullBytes: MIB,
  /** The share of its descriptors from which on it says that they are few. */
  descriptorShare: 0.9,
  /** The worst delay of the event loop is that of the last so many seconds. */
  lagSeconds: 60,
  /** Runs, newest first, whose journals are read through once after the start, and the rests in between. */
  surveyedRuns: 1000,
  surveyRestMs: 20,
} as const;

/** Bounds of what is kept beside the journals. */
export const RECORD_LIMITS = {
  /** The body of one record. */
  bodyBytes: MIB,
  /** A record's kind, id or owner. */
  nameChars: 512,
} as const;

/** Bounds of keeping secrets out of what is kept and shown. */
export const REDACT_LIMITS = {
  /** A known secret that is shorter is not looked for: it would be found in innocent words. */
  secretChars: 8,
  /** A string under a telling name that is shorter is left as it is. */
  namedChars: 6,
  /** What tells that something is a secret lies within this; a stream holds back at most twice as much. */
  holdChars: 512,
  /** A private key block whose end does not come is taken to end here. */
  privateKeyChars: 16 * KIB,
  /** Lines of base64 before the end of a private key whose first line is not there: no more are known as its own. */
  keyBlockChars: 4 * KIB,
  /** Nesting of a value that is looked through; what lies deeper is replaced. */
  depth: 128,
  /** Names of fields that are remembered as looked at. */
  names: 1024,
  /** A longer name is not remembered. */
  nameChars: 64,
} as const;

/** Bounds of following a run. */
export const FOLLOW_LIMITS = {
  /** Entries read at once. */
  batch: 256,
  /** Live events that wait for one slow follower; older ones are dropped. */
  live: 1024,
  /** How often a follower looks for entries that another process wrote. */
  pollMs: 50,
} as const;
