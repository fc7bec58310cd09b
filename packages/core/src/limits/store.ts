import { HOUR_MS, KIB, MIB, MINUTE_MS, SECOND_MS } from "./units.ts";

/* Limits of the store, of the daemon and of redaction. */

/** Bounds of the journal's store. */
export const STORE_LIMITS = {
  /** How long a commit waits for the commit of another process. */
  busyMs: 5 * SECOND_MS,
  /** Delay before such a commit is retried. */
  retryMs: 1,
  /** How long a commit with an unknown outcome is retried on a new connection before its callers get the fault. */
  doubtMs: 5 * SECOND_MS,
  /** Delay before such a commit is retried. */
  reopenMs: 100,
  /** First delay before a run appends again to a busy, full or failing store; doubled each time. */
  backoffMs: 100,
  /** Longest such delay. */
  backoffCapMs: 5 * SECOND_MS,
  /** Calls that wait for a busy or failing store; more are refused. */
  waiting: 100_000,
  /** An I/O error with less free disk space than this is reported as a full disk. */
  roomBytes: 256 * KIB,
  /** Calls that wait for one commit; a full queue is committed at once. */
  batch: 1024,
  /** Runs whose last entry is cached for appending. */
  heads: 4096,
  /** Damaged runs that are listed. */
  damagedRuns: 1000,
  /** Least time between two writes of the file with the number of entries of a store. */
  markMs: 100,
  /** How long committed entries wait for their seal, unless a run ends before. */
  sealMs: 5 * SECOND_MS,
  /** Entries, and records, that one seal covers; the rest waits for the next. */
  sealEntries: 4096,
  /** Runs, records and seals that an audit reads at once. */
  auditPage: 256,
  /** Pages that one step of a backup copies: all, since a commit between two steps would begin it again. */
  copyPages: 2 ** 31 - 1,
  /** Length from which a text of an entry is kept once under its hash, however many entries have it. */
  partChars: 1024,
} as const;

/** Bounds of the knowledge base. */
export const KNOWLEDGE_LIMITS = {
  /** Entries of one brain; beyond it the oldest unverified one of the owner with the most of them is removed. */
  entries: 1_000_000,
  /** Length of a title, of a tag and of a query. */
  titleChars: 500,
  /** Length of a snippet. */
  snippetChars: 8 * KIB,
  /** Tags of an entry. */
  tags: 20,
  /** Characters of a word that count. */
  wordChars: 64,
  /** Memory for pages of its database. */
  cacheKib: 16 * KIB,
  /** Words of a query that count. */
  queryWords: 16,
  /** Matching entries of one search that are ranked, the newest first. */
  ranked: 1000,
  /** Queries of one research. */
  queries: 8,
  /** Documents that a research gives at most, and unless another number is asked for. */
  docs: 20,
  docsUnasked: 5,
} as const;

/** Bounds of the documents in configured folders. */
export const DOCUMENT_LIMITS = {
  /** Folders that can be configured. */
  folders: 20,
  /** Documents of one folder; the others are left out, and the status says so. */
  files: 50_000,
  /** Entries of one folder of files that are looked at. */
  entries: 100_000,
  /** Size of a document; a larger one is left out. */
  fileBytes: MIB,
  /** Folders below each other. */
  depth: 32,
  /** Sections of one document; the rest of it is left out. */
  sections: 1000,
  /** Length of a section; a longer one is cut into several. */
  sectionChars: 4 * KIB,
  /** Length of what a search gives of a section. */
  snippetChars: 2 * KIB,
  /** Reasons why something was left out that a status names. */
  reasons: 10,
  /** Time between two looks at the folders. */
  everyMs: 5 * MINUTE_MS,
} as const;

/** Bounds of a search of the web. */
export const SEARCH_LIMITS = {
  /** Length of a query. */
  queryChars: 1000,
  /** Results that a search gives. */
  results: 8,
  /** Length of a result's title, of its extract and of its address. */
  titleChars: 300,
  snippetChars: 2 * KIB,
  urlChars: 4096,
  /** Size of a service's answer. */
  answerBytes: 4 * MIB,
  /** How long a service may take. */
  waitMs: 20 * SECOND_MS,
} as const;

/** Bounds of a store in PostgreSQL. */
export const POSTGRES_LIMITS = {
  /** Connections of one brain, besides the one for wakes. */
  connections: 8,
  /** Connections of one brain for its knowledge. */
  knowledgeConnections: 2,
  /** Rows that the sum of one day or thread is spread over, so that brains that commit at once do not wait for a row. */
  spendingShards: 16,
  /** How long an unused connection stays open. */
  idleMs: 30 * SECOND_MS,
  /** How long connecting may take. */
  connectMs: 5 * SECOND_MS,
  /** How long the server works on one statement before it gives it up. */
  statementMs: 20 * SECOND_MS,
  /** How long a reply is waited for before the connection counts as lost. */
  replyMs: 25 * SECOND_MS,
  /** How long a brain waits at its start for a server that is not there. */
  openMs: 30 * SECOND_MS,
  /** First delay before work is repeated on another connection, doubled each time, and the longest. */
  retryMs: 20,
  retryCapMs: 500,
  /** Entries before the end of a run from which followers of many runs read them with one statement. */
  endEntries: 8,
  /** Interval at which the counters of watched runs and kinds are read, in case a wake was lost. */
  lookMs: 2 * SECOND_MS,
  /** Delay in which changes gather for one notification to other brains. */
  tellMs: 5,
  /** Changes that wait for it; more are found by the next look. */
  untold: 10_000,
  /** Length of one notification; PostgreSQL takes less than 8000 bytes. */
  notifyChars: 2000,
  /** Last characters kept of what pg_dump or pg_restore writes when it fails. */
  saidChars: 2000,
} as const;

/** Bounds of the bus between brains. */
export const BUS_LIMITS = {
  /** How long connecting may take. */
  connectMs: 5 * SECOND_MS,
  /** Interval of the messages that a brain sends to itself, and after how much silence the bus counts as down. */
  probeMs: SECOND_MS,
  lostMs: 4 * SECOND_MS,
  /** First delay before the next attempt to connect, doubled each time, and the longest. */
  retryMs: 50,
  retryCapMs: 2 * SECOND_MS,
  /** Commands that wait for the server; more are dropped. */
  queued: 20_000,
  /** Length of one message; a longer one is dropped. */
  messageChars: 16 * MIB,
  /** Items of a task's stream, about, and how long it is kept after the last one [004-14]. */
  streamed: 10_000,
  streamMs: 24 * HOUR_MS,
  /** Length of one item of a stream; the text of a longer one is left out. */
  itemChars: 64 * KIB,
} as const;

/** Bounds of orders to hands that are connected to another brain. */
export const RELAY_LIMITS = {
  /** Interval at which a brain says that it lives and which calls of others it works on. */
  beatMs: 2 * SECOND_MS,
  /** Silence after which a brain counts as gone, and a call as lost. */
  silentMs: 8 * SECOND_MS,
  /** Calls of one other brain that a brain works on at once; more are refused. */
  calls: 10_000,
} as const;

/** Bounds of the lock that allows one daemon per home. */
export const DAEMON_LIMITS = {
  /** Attempts of a refused daemon to read which process holds the home, and the delay in between. */
  namedTries: 50,
  namedMs: 20,
} as const;

/** Bounds of a daemon's health checks. */
export const HEALTH_LIMITS = {
  /** Interval of the checks. */
  lookMs: 2 * SECOND_MS,
  /** Free disk space below which it reports a low disk, and below which it reports a full one. */
  lowBytes: 512 * MIB,
  fullBytes: MIB,
  /** Share of used file descriptors from which it reports a shortage. */
  descriptorShare: 0.9,
  /** Window of the worst event loop delay, in seconds. */
  lagSeconds: 60,
  /** Runs, newest first, whose journals are verified once after the start, and the delays in between. */
  surveyedRuns: 1000,
  surveyRestMs: 20,
} as const;

/** Bounds of records, which are stored beside the journals. */
export const RECORD_LIMITS = {
  /** Length of the body of one record. */
  bodyBytes: MIB,
  /** Length of a record's kind, id or owner. */
  nameChars: 512,
  /** Revocations in the file beside the store; beyond it invitations and tokens that were revoked first are dropped. */
  revocations: 40_000,
  /** How long a revocation is kept after its record has expired, for clocks that were wrong. */
  revocationExpiredMs: 24 * HOUR_MS,
} as const;

/** Bounds of redaction. */
export const REDACT_LIMITS = {
  /** A shorter known secret is not searched for: it would match ordinary words. */
  secretChars: 8,
  /** A shorter string under a name that suggests a secret is not redacted. */
  namedChars: 6,
  /** Span within which the context of a secret is recognised; a stream holds back at most twice as much, and lines of base64. */
  holdChars: 512,
  /** A private key block without an end marker is assumed to end here. */
  privateKeyChars: 16 * KIB,
  /** Lines of base64 that are redacted before the end marker of a private key without a begin marker. */
  keyBlockChars: 4 * KIB,
  /** Depth to which a value is searched; deeper parts are replaced. */
  depth: 128,
  /** Field names whose check is cached. */
  names: 1024,
  /** A longer name is not cached. */
  nameChars: 64,
  /** Texts without secrets that are known from before; all are forgotten when there are more. */
  cleanTexts: 1024,
  /** A longer text is not kept. */
  cleanTextChars: 256,
} as const;

/** Bounds of following a run. */
export const FOLLOW_LIMITS = {
  /** Entries read at once. */
  batch: 256,
  /** Live events that wait for one slow follower; older ones are dropped. */
  live: 1024,
  /** Characters of the newest words of models that are kept for followers to come, of all runs; the oldest run's are dropped. */
  recentChars: 4 * 1024 * 1024,
  /** Pieces of one run among them that do not join; more begin anew. */
  recentPieces: 64,
  /** Interval at which a follower polls for entries of another process. */
  pollMs: 50,
} as const;

/** Bounds of the deletion of old runs. */
export const RETENTION_LIMITS = {
  /** Runs that are looked at together. */
  page: 256,
  /** Runs that one commit deletes. */
  batch: 20,
  /** Pause between two such commits, in which others write. */
  pauseMs: 50,
  /** Interval at which old runs are looked for. */
  lookMs: HOUR_MS,
  /** Days for which an ended run is kept, unless the settings say otherwise. */
  days: 365,
  /** Largest size of a store in a file before its oldest ended runs are deleted earlier, in MiB. */
  storeMib: 20 * 1024,
  /** An ended run is kept at least so long, however large the store is. */
  leastMs: 24 * HOUR_MS,
} as const;
