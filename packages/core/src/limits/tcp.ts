import { HOUR_MS, KIB, MIB, MINUTE_MS, SECOND_MS } from "./units.ts";

/* The TCP agent protocol, and what a hand tells over it. */

/** Bounds of the TCP agent protocol; those of its frames are in CODEC_LIMITS. */
export const TCP_LIMITS = {
  /** Where a hand listens unless told otherwise. */
  port: 4000,
  /** How often a client shows that it lives, and the kernel looks for dead peers [002-03, 002-13]. */
  heartbeatMs: 30 * SECOND_MS,
  /** Heartbeats of a client that may go unanswered before it counts the connection as dead. */
  heartbeatsMissed: 3,
  /** Connections at a time; more are closed at once. */
  connections: 1024,
  /** Connections without a session; the oldest gives way to a new one. */
  strangers: 256,
  /** From the connection to a session. */
  authMs: 10 * SECOND_MS,
  /** Silence after which a session is over [002-27]. */
  idleMs: 30 * MINUTE_MS,
  /** From the first byte of a frame to its last. */
  frameMs: 30 * SECOND_MS,
  /** Requests of one connection that are answered later. */
  inFlight: 8,
  /** Orders and judgements of one connection that a brain waits for. */
  orders: 64,
  /** Tokens that are not good which one address may show at once, over all its connections. */
  authBurst: 40,
  /** How many more of them it may show in a second after that. */
  authPerSecond: 0.5,
  /** Addresses whose tokens are counted; the one that was quiet the longest is forgotten. */
  authAddresses: 4096,
  /** Requests that may come at once [002-49]. */
  burst: 30,
  /** Requests that may come in a second after that [002-49]. */
  perSecond: 10,
  /** A token that AUTH takes. */
  tokenChars: 4096,
  /** An `id` and an `act` [002-10]. */
  nameChars: 64,
  /** The id under which an effect happens at most once. */
  actionChars: 128,
  /** What may be unsent before nothing more is read from the peer. */
  unsentBytes: 256 * KIB,
  /** How long such a peer may take before its connection is closed. */
  drainMs: 30 * SECOND_MS,
  /** How long what a refused peer still sends is read and dropped, so that it sees why. */
  lingerMs: SECOND_MS,
  /** How long a client that has closed its end is still answered: one that hung up looks the same. */
  farewellMs: 5 * SECOND_MS,
  /** How often overdue connections are looked for. */
  sweepMs: 250,
  /** The longest frame that a client may let itself be sent; enough for any outcome, every character escaped. */
  answerBytes: 4 * MIB,
  /** Arguments of a command [002-36]. */
  args: 32,
  /** One argument [002-36]. */
  argChars: 512,
  /** Least time of a command [002-36]. */
  commandFloorMs: SECOND_MS,
  /** Time of a command unless it asks for another [002-36]. */
  commandMs: 5 * SECOND_MS,
  /** Longest time that a command may ask for [002-36]. */
  commandCapMs: MINUTE_MS,
  /** Processes that one answer lists unless asked for more [002-35]. */
  processes: 100,
  /** Processes that one answer lists [002-35]. */
  processesCap: 1000,
  /** Wait of a client for an answer. */
  requestMs: 30 * SECOND_MS,
  /** Wait of a client for a connection and its greeting. */
  connectMs: 10 * SECOND_MS,
  /** Requests that a client has in flight. */
  pending: 1024,
  /** Wait for the answer of a server of others beyond the time of its command. */
  foreignAnswerMs: 10 * SECOND_MS,
} as const;

/** Bounds of a hand's view of its machine over time. */
export const SAMPLE_LIMITS = {
  /** How often the machine is looked at. */
  everyMs: SECOND_MS,
  /** Samples that are kept: an hour's [002-30]. */
  kept: HOUR_MS / SECOND_MS,
  /** Seconds that are told unless asked for others. */
  seconds: 60,
} as const;

/** Bounds of watching files. */
export const WATCH_LIMITS = {
  /** Seconds that a path is watched unless asked for others [002-33]. */
  seconds: 60,
  /** Most seconds that a path is watched [002-33]. */
  secondsCap: 3600,
  /** Paths that are watched at a time. */
  active: 64,
  /** Watches whose events are kept. */
  kept: 1000,
  /** How long events are kept after their watch is over. */
  keptMs: 24 * HOUR_MS,
  /** Events of one watch; one more says that there were others. */
  events: 20_000,
  /** Files and folders below one watched path. */
  entries: 20_000,
  /** Folders below one watched path that the kernel tells of at once; changes in others are found by looking again. */
  folders: 2048,
  /** How deep below a watched path changes are seen. */
  depth: 32,
  /** Rest between a change and the look at it: changes that come together are looked at together. */
  settleMs: 50,
  /** How often everything is looked at again, as the kernel may have dropped what it had to tell. */
  rescanMs: 10 * SECOND_MS,
  /** Events in one answer unless asked for others [002-34]. */
  page: 1000,
  /** Most events in one answer [002-34]. */
  pageCap: 10_000,
} as const;
