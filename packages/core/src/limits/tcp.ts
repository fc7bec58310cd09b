import { HOUR_MS, KIB, MIB, MINUTE_MS, SECOND_MS } from "./units.ts";

/* Limits of the TCP agent protocol and of its telemetry and watches. */

/** Bounds of the TCP agent protocol; those of its frames are in CODEC_LIMITS. */
export const TCP_LIMITS = {
  /** Default port of a hand that listens. */
  port: 4000,
  /** Interval of a client's heartbeat and of TCP keep-alive [002-03, 002-13]. */
  heartbeatMs: 30 * SECOND_MS,
  /** Unanswered heartbeats after which a client treats the connection as dead. */
  heartbeatsMissed: 3,
  /** Open connections; more are closed at once. */
  connections: 1024,
  /** Connections without a session; a new one closes the oldest. */
  strangers: 256,
  /** Wait for a session after the connection. */
  authMs: 10 * SECOND_MS,
  /** Silence after which a session ends [002-27]. */
  idleMs: 30 * MINUTE_MS,
  /** From the first byte of a frame to its last. */
  frameMs: 30 * SECOND_MS,
  /** Pending requests of one connection. */
  inFlight: 8,
  /** Pending orders and judgements of a brain on one connection. */
  orders: 64,
  /** Burst of invalid tokens from one address, over all its connections. */
  authBurst: 40,
  /** Invalid tokens per second from one address after the burst. */
  authPerSecond: 0.5,
  /** Addresses whose invalid tokens are counted; the one with the oldest attempt is dropped. */
  authAddresses: 4096,
  /** Burst of requests [002-49]. */
  burst: 30,
  /** Requests per second after the burst [002-49]. */
  perSecond: 10,
  /** Length of a token for AUTH. */
  tokenChars: 4096,
  /** Length of an `id` and of an `act` [002-10]. */
  nameChars: 64,
  /** Length of an action id, under which an effect happens at most once. */
  actionChars: 128,
  /** Unsent bytes beyond which nothing more is read from the peer. */
  unsentBytes: 256 * KIB,
  /** How long such a peer may take before its connection is closed. */
  drainMs: 30 * SECOND_MS,
  /** How long input of a refused peer is read and dropped, so that it receives the reason. */
  lingerMs: SECOND_MS,
  /** How long a half-closed client is still answered; it may have closed completely. */
  farewellMs: 5 * SECOND_MS,
  /** Interval at which overdue connections are closed. */
  sweepMs: 250,
  /** Largest frame that a client may accept; fits any outcome with every character escaped. */
  answerBytes: 4 * MIB,
  /** Arguments of a command [002-36]. */
  args: 32,
  /** Length of one argument [002-36]. */
  argChars: 512,
  /** Least time of a command [002-36]. */
  commandFloorMs: SECOND_MS,
  /** Default time of a command [002-36]. */
  commandMs: 5 * SECOND_MS,
  /** Longest time that a command may ask for [002-36]. */
  commandCapMs: MINUTE_MS,
  /** Default number of processes in one answer [002-35]. */
  processes: 100,
  /** Largest number of processes in one answer [002-35]. */
  processesCap: 1000,
  /** Wait of a client for an answer. */
  requestMs: 30 * SECOND_MS,
  /** Wait of a client for a connection and its greeting. */
  connectMs: 10 * SECOND_MS,
  /** Pending requests of a client. */
  pending: 1024,
  /** Wait for the answer of another vendor's server beyond the timeout of its command. */
  foreignAnswerMs: 10 * SECOND_MS,
} as const;

/** Bounds of a hand's samples of its machine. */
export const SAMPLE_LIMITS = {
  /** Interval between samples. */
  everyMs: SECOND_MS,
  /** Samples kept: one hour [002-30]. */
  kept: HOUR_MS / SECOND_MS,
  /** Default span of the samples in an answer, in seconds. */
  seconds: 60,
} as const;

/** Bounds of watching files. */
export const WATCH_LIMITS = {
  /** Default duration of a watch, in seconds [002-33]. */
  seconds: 60,
  /** Longest duration of a watch, in seconds [002-33]. */
  secondsCap: 3600,
  /** Active watches. */
  active: 64,
  /** Watches whose events are kept. */
  kept: 1000,
  /** How long events are kept after the end of their watch. */
  keptMs: 24 * HOUR_MS,
  /** Events of one watch; one further event reports the overflow. */
  events: 20_000,
  /** Files and folders below one watched path. */
  entries: 20_000,
  /** Folders below one watched path with kernel notifications; changes in others are found by rescans. */
  folders: 2048,
  /** Depth below a watched path to which changes are seen. */
  depth: 32,
  /** Delay from a notification to the scan, so that several changes share one scan. */
  settleMs: 50,
  /** Interval of full rescans, since the kernel may have dropped notifications. */
  rescanMs: 10 * SECOND_MS,
  /** Default number of events in one answer [002-34]. */
  page: 1000,
  /** Largest number of events in one answer [002-34]. */
  pageCap: 10_000,
} as const;
