import { HOUR_MS, KIB, MIB, MINUTE_MS, SECOND_MS } from "./units.ts";

/* Limits of the wires, the HTTP server, tokens, agents and conversations. */

/** Bounds of the codecs. */
export const CODEC_LIMITS = {
  /** Size of a line of ND-JSON. */
  lineBytes: MIB,
  /** Size of a frame of the TCP agent protocol [002-05]. */
  frameBytes: 256 * KIB,
  /** Size of a frame before AUTH. */
  frameBytesBeforeAuth: 4 * KIB,
  /** Size of one SSE event. */
  sseBytes: MIB,
  /** Nesting depth of JSON, checked before it is parsed. */
  jsonDepth: 64,
} as const;

/** Bounds of a stream that shows a run to a client. */
export const STREAM_LIMITS = {
  /** Encoded pieces that a feed keeps for followers that are slightly behind. */
  windowPieces: 512,
  /** Characters of those pieces. */
  windowChars: 128 * KIB,
  /** Pieces that a feed reads before a follower has taken any. */
  batchPieces: 256,
  /** Characters of those pieces. */
  batchChars: 64 * KIB,
  /** Entries of one window, which is encoded once for all followers that catch up. */
  windowEntries: 64,
  /** Size of the windows cached for later followers. */
  keptBytes: 32 * MIB,
  /** Bytes that are written to all followers in one turn of the event loop. */
  turnBytes: 256 * KIB,
  /** Entries that arrive this soon after the last write are batched for the next one. */
  rushMs: 1,
  /** Turns of the event loop that such a write waits at most. */
  rushTurns: 8,
  /** Unsent bytes beyond which a follower is paused [F13]. */
  unsentBytes: MIB,
  /** How long such a follower may take before its connection is closed; it resumes by its cursor [F13]. */
  drainMs: 30 * SECOND_MS,
  /** Silence after which an event stream sends a heartbeat [000-24]. */
  sseHeartbeatMs: 15 * SECOND_MS,
  /** Silence after which a glass box sends a heartbeat [001]. */
  glassHeartbeatMs: 10 * SECOND_MS,
  /** Reconnection delay that an event stream gives its readers. */
  retryMs: SECOND_MS,
  /** Open runs of one session that are searched for a pending question. */
  sessionRuns: 100,
  /** Last entries of a waiting run that are searched for its question. */
  behindQuestion: 16,
  /** Remembered pairs of a client and a run that it was shown; the oldest is dropped first. */
  witnesses: 10_000,
  /** Turns of a conversation that a caller sends. */
  historyTurns: 1000,
  /** Tools that a caller names for a session or a run. */
  namedTools: 100,
  /** Parameters of a session. */
  params: 64,
} as const;

/** Bounds of paged lists. */
export const PAGE_LIMITS = {
  /** Items in one page. */
  items: 1000,
  /** Default number of runs in one page. */
  runs: 100,
  /** Items that our client requests per page; each may be large. */
  clientItems: 200,
  /** Length of a cursor. */
  cursorChars: 512,
} as const;

/** Bounds of the HTTP server. */
export const HTTP_LIMITS = {
  /** Size of a body. */
  bodyBytes: MIB,
  /** Size of all headers of a request, its first line included. */
  headerBytes: 16 * KIB,
  /** Headers of a request. */
  headers: 100,
  /** Wait for the headers of a request to be complete. */
  headersMs: 10 * SECOND_MS,
  /** Wait for a whole request. */
  requestMs: 30 * SECOND_MS,
  /** How long a connection may be idle between two requests. */
  keepAliveMs: 65 * SECOND_MS,
  /** Silence after which TCP keep-alive probes start. */
  probeIdleMs: 15 * SECOND_MS,
  /** Interval of the search for connections whose peer acknowledges nothing; the second time they are closed [F10]. */
  unansweredMs: 15 * SECOND_MS,
  /** Interval at which overdue connections are closed. */
  overdueMs: SECOND_MS,
  /** Open connections; more are closed at once. */
  connections: 8192,
  /** Requests on one connection. */
  requestsPerConnection: 10_000,
  /** How long open requests may go on when the server shuts down; those that still wait are told to come back. */
  waitingMs: 2 * SECOND_MS,
  /** How long requests may take to finish at shutdown; then they are cut off. */
  drainMs: 5 * SECOND_MS,
  /** Interval at which idle connections are closed during shutdown. */
  sweepMs: 20,
  /** Average reconnection delay given to followers at shutdown; each gets a random one. */
  returnMs: 2 * SECOND_MS,
  /** Longest shutdown of the daemon; unfinished runs are safe in the journal. */
  stopMs: 10 * SECOND_MS,
  /** How long a stream whose token ended may take to send its last event before it is cut. */
  lastWordsMs: SECOND_MS / 2,
  /** Wait for a daemon that may have died. */
  probeMs: SECOND_MS,
  /** How long a browser may cache a CORS preflight, in seconds. */
  preflightS: 600,
  /** Length of an `Idempotency-Key`. */
  keyChars: 255,
  /** How long an answer is kept for requests that repeat its key. */
  answerMs: 24 * HOUR_MS,
  /** Size of an answer that is kept for requests that repeat its key; a larger one is not kept. */
  answerBytes: MIB,
  /** Expired answers removed for each new one. */
  answersRemoved: 4,
  /** Length of a client's own `X-Request-Id`. */
  requestIdChars: 64,
  /** Parameters of a query. */
  queryParameters: 64,
  /** Interval of the 102 Processing answers to a client that asks for them [001-08]. */
  processingMs: 10 * SECOND_MS,
  /** Delay before a glass box opens; an earlier refusal gets its own HTTP status. */
  glassMs: 50,
  /** How long a client may take to read an answer. */
  answeredMs: 30 * SECOND_MS,
  /** How long input of a refused client is read and dropped, so that it receives the answer. */
  lingerMs: SECOND_MS,
  /** Longest time from the end of a token to the end of its connections; the promise is one second. */
  revokedMs: 800,
} as const;

/** Bounds of the sessions of the web console. */
export const SESSION_LIMITS = {
  /** How long a sign-in link is valid; it counts once. */
  linkMs: MINUTE_MS,
  /** Sign-in links that are valid at once; a further one ends the oldest. */
  links: 64,
  /** How long a link that answers one question is valid; it counts once. */
  answerLinkMs: 10 * MINUTE_MS,
  /** Links to questions that are valid at once; a further one ends the oldest. */
  answerLinks: 64,
  /** How long a session lasts. */
  lifeMs: 7 * 24 * HOUR_MS,
  /** Sessions of one owner; a further one ends the oldest. */
  sessions: 32,
  /** Size of the secret of a link and of a session. */
  secretBytes: 32,
  /** Length of the cookies of one request that are looked at. */
  cookieChars: 8 * KIB,
} as const;

/** Bounds of tokens and of checking them. */
export const TOKEN_LIMITS = {
  /** Size of the id in a token [002-20]. */
  idBytes: 16,
  /** Size of the secret in a token [002-20]. */
  secretBytes: 32,
  /** Length of a bearer token. */
  chars: 8 * KIB,
  /** Scopes of one token. */
  scopes: 64,
  /** Length of one scope. */
  scopeChars: 64,
  /** Length of the name of its owner. */
  ownerChars: 128,
  /** Memory of one Argon2id hash [002-21]. */
  hashKib: 19 * KIB,
  /** Passes of one hash. */
  hashPasses: 2,
  /** Lanes of one hash. */
  hashLanes: 1,
  /** Hashes computed concurrently. */
  hashes: 2,
  /** Tokens that wait to be hashed; more are refused. */
  waiting: 64,
  /** Delay after which a refused client may retry. */
  retryAfterMs: SECOND_MS,
  /** How long a verified token is cached. */
  cacheMs: 10 * MINUTE_MS,
  /** Verified tokens in the cache. */
  cached: 4096,
  /** Tokens in one token file. */
  listed: 10_000,
  /** Delay before the revoked tokens are read again from a store that failed. */
  recheckMs: 200,
  /** Allowed clock difference of a token's issuer. */
  skewMs: 30 * SECOND_MS,
  /** Wait for a JWKS. */
  keysMs: 5 * SECOND_MS,
  /** How long a JWKS is cached. */
  keysCacheMs: 10 * MINUTE_MS,
} as const;

/** Bounds of agents and conversations. */
export const CATALOG_LIMITS = {
  /** Agents made by callers, and agent files in a folder. */
  agents: 1000,
  /** Length of an agent's name. */
  nameChars: 64,
  /** Length of an agent's description. */
  descriptionChars: 2000,
  /** Length of an agent's system prompt. */
  promptChars: 64 * KIB,
  /** Length of the URL of an agent's picture, which may be a data URL. */
  imageChars: 128 * KIB,
  /** Names of tools in one list. */
  tools: 256,
  /** Size of an agent file. */
  agentFileBytes: 256 * KIB,
  /** Runs of a conversation that are shown, newest first. */
  threadRuns: 200,
  /** Characters of the shown runs; beyond it older runs are left out. */
  threadChars: 4 * MIB,
  /** Characters of one outcome that a conversation shows. */
  outcomeChars: 8 * KIB,
  /** Metadata fields of a conversation. */
  metadataFields: 16,
  /** Length of one metadata value. */
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
  /** Length of a function's name. */
  nameChars: 128,
  /** Length of the JSON Schema of one function, as text. */
  schemaChars: 32 * KIB,
  /** Steps of a run whose tools are all its caller's: such a caller works through hundreds of calls in one turn. */
  callerSteps: 1000,
  /** Tokens of such a run. */
  callerTokens: 100_000_000,
  /** A caller's open runs, newest first, that are searched for the one that a message answers. */
  openRuns: 100,
} as const;
