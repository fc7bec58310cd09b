import { KIB, MIB, MINUTE_MS, SECOND_MS } from "@vidro/core";

/*
 * Every bound of this package has a name here. A clause in brackets is where the published contract asks for it; the
 * others are ours. Units come last in a name.
 */

/** Bounds of reading an Accept header. */
export const NEGOTIATION_LIMITS = {
  /** Media ranges that are looked at; more are ignored. */
  ranges: 64,
} as const;

/** Bounds of a glass box and a black box. */
export const BOX_LIMITS = {
  /** Silence after which a heartbeat goes out: a `status` in a glass box, 102 in a black one [001-08]. */
  heartbeatMs: 10 * SECOND_MS,
  /** How long a route may still refuse in plain HTTP, unless it tells something before: then 200 goes out [001-05]. */
  graceMs: 5,
  /** Bytes that wait for a slow reader, beside what the transport itself holds; more events are dropped. */
  unsentBytes: MIB,
  /** How long a reader may take nothing before it is cut off. */
  drainMs: 30 * SECOND_MS,
  /** Events that are held: until the end in a black box, for a slow reader in a glass box [001-32]. */
  heldEvents: 1000,
  /** One event on its way, as a line; the result may be longer. */
  eventChars: 64 * KIB,
  /** The X-AON-Report header [001-21]. */
  reportChars: 4 * KIB,
  /** One action in that header. */
  actionChars: 64,
  /** How long a black box works before it answers with a timeout of its own [001-03]. */
  blackMs: 2 * MINUTE_MS,
  /** The same for a glass box, whose reader sees that it is alive. */
  glassMs: 60 * MINUTE_MS,
  /** The answer of a route, beyond which it is too large for one event. */
  answerBytes: 16 * MIB,
  /** Secrets that one request may ask to hide. */
  secrets: 256,
} as const;

/** Bounds of healing. */
export const HEALING_LIMITS = {
  /** All the healing of one operation, its waits included [001-32]. */
  totalMs: 30 * SECOND_MS,
  /** First rest before a retry, doubled each time. */
  backoffMs: SECOND_MS,
  /** Longest rest before a retry. */
  backoffCapMs: 5 * SECOND_MS,
  /** Tries of one heuristic for one operation, unless it says otherwise. */
  attempts: 3,
  /** Runs of one operation, whatever heals it. */
  runs: 16,
  /** How deep the causes of an error are looked at. */
  causes: 4,
  /** What is kept of an error's message. */
  messageChars: 1000,
  /** Heuristics of one healer. */
  heuristics: 100,
} as const;

/** Bounds of mending an input that does not fit its schema. */
export const MEND_LIMITS = {
  /** Nesting of an input that is mended; what lies deeper stays as it is. */
  depth: 8,
  /** Fields of one object beyond which it is not mended. */
  fields: 256,
  /** Items of one list that are mended. */
  items: 1000,
  /** A longer field name is never taken for a misspelling. */
  nameChars: 64,
} as const;

/** Bounds of asking a person. */
export const QUESTION_LIMITS = {
  /** No answer in this time is an escalation [001-31]. */
  answerMs: 30 * SECOND_MS,
  /** Questions that wait at once; more are escalated straight away. */
  open: 1000,
  /** Questions about one operation. */
  times: 3,
} as const;

/** Bounds of reading a stream. */
export const READ_LIMITS = {
  /** One line; the last one has the whole result, and numbers may be longer there than in the answer. */
  lineBytes: 64 * MIB,
  /** What is kept of an answer that is no stream of events. */
  bodyChars: 4 * KIB,
} as const;

/** Bounds of checking a server. */
export const CHECK_LIMITS = {
  /** One request of the check. */
  probeMs: 30 * SECOND_MS,
  /** One answer to it. */
  bodyBytes: 4 * MIB,
} as const;
