import { KIB, MIB, MINUTE_MS, SECOND_MS } from "./units.ts";

/* What the ends of the wires, people and programs, are shown. */

/** Bounds of what our processes write to pipes and files that others read. */
export const OUTPUT_LIMITS = {
  /** What may wait for a reader: beyond it lines of a log are dropped and counted, and all else waits to be written. */
  unreadBytes: MIB,
} as const;

/** Bounds of `config.json`. */
export const CONFIG_LIMITS = {
  /** The whole file. */
  fileBytes: 64 * KIB,
} as const;

/** Bounds of the command line. */
export const TERMINAL_LIMITS = {
  /** Lines of a running command that are shown; the rest is folded. */
  outputLines: 5,
  /** What is shown of one line of output. */
  lineChars: 4000,
  /** Steps of a plan that are shown while it is carried out. */
  planRows: 10,
  /** How often the spinner turns. */
  spinnerMs: 100,
  /** Keys struck before a question is shown are no answer to it: wait this long for them. */
  strayKeysMs: 30,
  /** How often a watcher looks whether the process that drives the run died. */
  takeOverMs: SECOND_MS,
  /** Runs that a list shows unless told otherwise. */
  listedRuns: 20,
  /** Runs, newest first, among which the end of an id is looked for. */
  searchedRuns: 10_000,
  /** Runs that an audit asks for at once. */
  auditedRuns: 500,
  /** Shortest end of an id that names a run. */
  idEndChars: 4,
  /** Earlier tasks that the arrow keys bring back. */
  history: 100,
  /** The log of our own faults; a longer one is begun anew. */
  logBytes: MIB,
} as const;

/** Bounds of a client of a brain. */
export const CLIENT_LIMITS = {
  /** Tries after the first one before a brain counts as lost; whatever comes from it starts the count anew. */
  retries: 8,
  /** First rest between tries, doubled each time. */
  backoffMs: SECOND_MS,
  /** Longest rest between tries. */
  backoffCapMs: 10 * SECOND_MS,
  /** Longest rest that a brain may ask us to take. */
  retryAfterCapMs: MINUTE_MS,
  /** A connection that lasted this long was a good one, though it brought nothing. */
  steadyMs: 10 * SECOND_MS,
  /** Silence after which a connection counts as dead: a brain that lives is heard from more often. */
  silenceMs: 45 * SECOND_MS,
  /** Wait for a brain to answer a request. */
  requestMs: MINUTE_MS,
  /** One line of a run's events: an entry may hold a whole reply of a model, every character escaped. */
  lineBytes: 32 * MIB,
  /** One answer. */
  answerBytes: 32 * MIB,
  /** Wait for a daemon to show that it lives. */
  probeMs: 2 * SECOND_MS,
} as const;
