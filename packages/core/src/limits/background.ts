import { HOUR_MS, KIB, MIB, MINUTE_MS, SECOND_MS } from "./units.ts";

/** Bounds of processes in the background. */
export const PROCESS_LIMITS = {
  /** Processes of one hand that run at once, kept ones included. */
  running: 16,
  /** Life of one that ends with its run, unless another is asked for, and the longest. */
  lifeMs: HOUR_MS,
  lifeCapMs: 24 * HOUR_MS,
  /** Life of one that is kept after its run, unless another is asked for, and the longest. */
  keptMs: 24 * HOUR_MS,
  keptCapMs: 14 * 24 * HOUR_MS,
  /** Output kept of one; the oldest is dropped. */
  outputBytes: 8 * MIB,
  /** Size of one file of output. */
  segmentBytes: 2 * MIB,
  /** Output that is read of one; a process that says more waits. */
  outputBytesPerSecond: 4 * MIB,
  /** Output that one reading gives. */
  readBytes: 64 * KIB,
  /** Longest wait of a reading for new output. */
  waitMs: MINUTE_MS,
  /** Interval at which such a wait looks for output. */
  lookMs: 50,
  /** How long the start of a process waits for a first sign: output, or an early end. */
  firstSignMs: 700,
  /** Text that is written to a process at once. */
  inputChars: 64 * KIB,
  /** Input that a process has not read yet. */
  unreadBytes: MIB,
  /** Length of its name. */
  nameChars: 32,
  /** Wait for its keeper to start it, and to answer. */
  keeperMs: 30 * SECOND_MS,
  /** Size of a message to or from a keeper. */
  messageBytes: 8 * MIB,
  /** Interval at which a keeper looks whether its process is still on record. */
  recordLookMs: 5 * SECOND_MS,
  /** How long a process that has ended is listed, and how many are. */
  endedMs: 24 * HOUR_MS,
  ended: 200,
} as const;
