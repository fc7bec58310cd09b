import { HOUR_MS, KIB, MIB, MINUTE_MS, SECOND_MS } from "./units.ts";

/* What the wires take and give. */

/** Bounds of the codecs. */
export const CODEC_LIMITS = {
  /** A line of ND-JSON. */
  lineBytes: MIB,
  /** A frame of the TCP agent protocol [002-05]. */
  frameBytes: 256 * KIB,
  /** A frame before AUTH. */
  frameBytesBeforeAuth: 4 * KIB,
  /** One SSE event. */
  sseBytes: MIB,
  /** Nesting of JSON before anything walks it. */
  jsonDepth: 64,
} as const;

/** Bounds of a stream that shows a run to a client. */
export const STREAM_LIMITS = {
  /** Encoded pieces that a feed keeps for followers who come a little later. */
  windowPieces: 512,
  /** Characters of those pieces. */
  windowChars: 128 * KIB,
  /** Pieces that a feed reads before a follower has taken any. */
  batchPieces: 256,
  /** Characters of those pieces. */
  batchChars: 64 * KIB,
  /** Entries of one window: what followers that catch up are given alike. */
  windowEntries: 64,
  /** Bytes of the windows that are kept for those who come to them later. */
  keptBytes: 32 * MIB,
  /** Bytes that are written to all followers in one turn of the event loop. */
  turnBytes: 256 * KIB,
  /** Entries that come this soon after the last write are in a rush, and gathered for the next one. */
  rushMs: 1,
  /** Turns of the event loop that such a write waits at most. */
  rushTurns: 8,
  /** What may be unsent to one follower before it is fed no more [F13]. */
  unsentBytes: MIB,
  /** How long such a follower may take before its connection is closed; it comes back by its cursor [F13]. */
  drainMs: 30 * SECOND_MS,
  /** Silence after which an event stream shows that it lives [000-24]. */
  sseHeartbeatMs: 15 * SECOND_MS,
  /** Silence after which a glass box shows that it lives [001]. */
  glassHeartbeatMs: 10 * SECOND_MS,
  /** How long the reader of an event stream that broke off waits before it comes back. */
  retryMs: SECOND_MS,
  /** Open runs of one session that are looked through for the one that asks. */
  sessionRuns: 100,
  /** Last entries of a run that waits among which its question is looked for. */
  behindQuestion: 16,
  /** Pairs of a client and a run that it was shown, which are remembered; the oldest goes first. */
  witnesses: 10_000,
  /** Turns of a conversation that a caller brings along. */
  historyTurns: 1000,
  /** Tools that a caller names for a session or a run. */
  namedTools: 100,
  /** Parameters of a session. */
  params: 64,
} as const;

/** Bounds of lists, which are given page by page. */
export const PAGE_LIMITS = {
  /** Things in one page. */
  items: 1000,
  /** Runs in one page, unless it is said how many. */
  runs: 100,
  /** Things that a client of ours asks for at a time: each may be large. */
  clientItems: 200,
  /** What names the place where a list goes on. */
  cursorChars: 512,
} as const;

/** Bounds of the HTTP server. */
export const HTTP_LIMITS = {
  /** A body. */
  bodyBytes: MIB,
  /** All headers of a request together, its first line included. */
  headerBytes: 16 * KIB,
  /** Headers of a request. */
  headers: 100,
  /** Wait for the headers of a request to be complete. */
  headersMs: 10 * SECOND_MS,
  /** Wait for a whole request. */
  requestMs: 30 * SECOND_MS,
  /** How long a connection may rest between two requests. */
  keepAliveMs: 65 * SECOND_MS,
  /** Silence after which the other end of a connection is asked whether it is still there. */
  probeIdleMs: 15 * SECOND_MS,
  /** How often connections are looked for whose other end acknowledges nothing; the second time it is given up [F10]. */
  unansweredMs: 15 * SECOND_MS,
  /** How often overdue connections are looked for. */
  overdueMs: SECOND_MS,
  /** Connections at a time; more are closed at once. */
  connections: 8192,
  /** Requests on one connection. */
  requestsPerConnection: 10_000,
  /** From the wish to end to the end: requests that take longer are cut off. */
  drainMs: 5 * SECOND_MS,
  /** How often connections that have come to rest are closed while the server ends. */
  sweepMs: 20,
  /** About when followers whom a server sends away because it ends may come again; each is told a time of its own. */
  returnMs: 2 * SECOND_MS,
  /** From the wish to end to the end of the daemon; what is left then is safe in the journal. */
  stopMs: 10 * SECOND_MS,
  /** How long a stream whose token ended may take to say so before its connection is cut. */
  lastWordsMs: SECOND_MS / 2,
  /** Wait for a daemon that may be gone. */
  probeMs: SECOND_MS,
  /** For how many seconds a browser may keep what a page of another origin may send. */
  preflightS: 600,
  /** An `Idempotency-Key`. */
  keyChars: 255,
  /** How long an answer is kept for requests that repeat its key. */
  answerMs: 24 * HOUR_MS,
  /** An answer that is kept for requests that repeat its key; a longer one is not. */
  answerBytes: MIB,
  /** Kept answers whose time is up that are removed when a new one is kept. */
  answersRemoved: 4,
  /** A client's own `X-Request-Id`. */
  requestIdChars: 64,
  /** Parameters of a query. */
  queryParameters: 64,
  /** How often a client that asks for it hears that its answer is still worked on [001-08]. */
  processingMs: 10 * SECOND_MS,
  /** Silence before a glass box opens: what is refused sooner is refused with a status of its own. */
  glassMs: 50,
  /** How long a client may take to read an answer. */
  answeredMs: 30 * SECOND_MS,
  /** How long what a refused client still sends is read and dropped, so that it sees the answer. */
  lingerMs: SECOND_MS,
  /** From the end of a token to the end of its connections; the promise is one second. */
  revokedMs: 800,
} as const;

/** Bounds of tokens and of checking them. */
export const TOKEN_LIMITS = {
  /** The part of a token that names it [002-20]. */
  idBytes: 16,
  /** The secret part of a token [002-20]. */
  secretBytes: 32,
  /** What a bearer may send. */
  chars: 8 * KIB,
  /** Scopes of one token. */
  scopes: 64,
  /** One scope. */
  scopeChars: 64,
  /** Memory of one Argon2id hash [002-21]. */
  hashKib: 19 * KIB,
  /** Passes of one hash. */
  hashPasses: 2,
  /** Lanes of one hash. */
  hashLanes: 1,
  /** Hashes that are computed at a time. */
  hashes: 2,
  /** Tokens that wait to be hashed; more are refused. */
  waiting: 64,
  /** When a client that was refused may come again. */
  retryAfterMs: SECOND_MS,
  /** How long a token that was hashed is known without hashing it again. */
  cacheMs: 10 * MINUTE_MS,
  /** Tokens that are known so. */
  cached: 4096,
  /** Tokens in one file of them. */
  listed: 10_000,
  /** Rest before a store that could not be read is asked again which tokens were revoked. */
  recheckMs: 200,
  /** Clocks of those who sign tokens may be this far off. */
  skewMs: 30 * SECOND_MS,
  /** Wait for a set of keys. */
  keysMs: 5 * SECOND_MS,
  /** How long a set of keys is used before it is fetched again. */
  keysCacheMs: 10 * MINUTE_MS,
} as const;

/** Bounds of agents and conversations. */
export const CATALOG_LIMITS = {
  /** Agents that callers made, and files that describe one in a folder. */
  agents: 1000,
  /** An agent's name. */
  nameChars: 64,
  /** An agent's description. */
  descriptionChars: 2000,
  /** The words that begin an agent's prompts. */
  promptChars: 64 * KIB,
  /** The address of an agent's picture, which may hold the picture itself. */
  imageChars: 128 * KIB,
  /** Names of tools in one list. */
  tools: 256,
  /** A file that describes an agent. */
  agentFileBytes: 256 * KIB,
  /** Runs of a conversation that are shown, newest first. */
  threadRuns: 200,
  /** What they say, in characters; when it is more, older runs are left out. */
  threadChars: 4 * MIB,
  /** What a conversation shows of the outcome of one call. */
  outcomeChars: 8 * KIB,
  /** What a caller may keep beside a conversation. */
  metadataFields: 16,
  /** One value of it. */
  metadataChars: 512,
} as const;

/** Bounds of the chat wire. */
export const CHAT_LIMITS = {
  /** Messages of one request. */
  messages: 2048,
  /** Parts of one message. */
  parts: 256,
  /** Calls in one message. */
  calls: 128,
  /** Functions that a caller offers. */
  functions: 128,
  /** The JSON Schema of one of them, as text. */
  schemaChars: 32 * KIB,
  /** A caller's open runs among which the one that a message answers is looked for, newest first. */
  openRuns: 100,
} as const;
