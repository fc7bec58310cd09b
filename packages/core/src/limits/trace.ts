import { SECOND_MS } from "./units.ts";

/** Bounds of traces. */
export const TRACE_LIMITS = {
  /** Spans that wait to be exported; of more, the newest are dropped and counted. */
  waiting: 4096,
  /** Spans of one request. */
  batch: 512,
  /** How long spans wait for others before they are sent. */
  batchMs: 2 * SECOND_MS,
  /** How long a receiver may take to answer. */
  sendMs: 10 * SECOND_MS,
  /** First delay after a receiver could not take spans, doubled each time. */
  backoffMs: SECOND_MS,
  /** Longest such delay, also where a receiver asks for a longer one. */
  backoffCapMs: 30 * SECOND_MS,
  /** Attempts at one request before its spans are dropped and counted. */
  attempts: 5,
  /** How long the last spans are waited for when a process ends. */
  closeMs: 3 * SECOND_MS,
  /** Characters of a text in a span. */
  textChars: 1000,
  /** Spans that ended as long before a brain was killed may be lost with it: the next brain sends them again. */
  repeatedMs: 10 * SECOND_MS,
} as const;
