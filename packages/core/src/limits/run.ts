import { HOUR_MS, KIB, MIB, MINUTE_MS, SECOND_MS } from "./units.ts";

/* What a run and its model may use. */

/** Bounds of a run. */
export const RUN_LIMITS = {
  /** Steps of one run [004-26]. */
  steps: 100,
  /** Actions of one run. */
  actions: 100,
  /** Tokens of one run, in and out. */
  tokens: 2_000_000,
  /** Time at work. */
  wallMs: 2 * HOUR_MS,
  /** What one silence between two entries counts as work, at most. */
  silenceMs: HOUR_MS,
  /** Identical calls in a row before the run stops; the last one is not made [004-26]. */
  identicalCalls: 4,
  /** A task's length. */
  taskChars: 256 * KIB,
  /** Steps in a plan that are kept. */
  planSteps: 50,
  /** One line that the model writes for people: a step, an option, a title. */
  lineChars: 2000,
  /** Options of a question. */
  options: 20,
  /** How long a question waits before silence is the answer. */
  answerMs: 24 * HOUR_MS,
  /** An answer's length. */
  answerChars: 64 * KIB,
  /** Open runs that are taken up again at once, and those that are remembered as refused or held. */
  recovered: 100_000,
  /** How often open runs are looked for that no process drives. */
  sweepMs: 3 * SECOND_MS,
  /** Rest before a run that could not be taken up is tried again; doubled each time. */
  refusedMs: 3 * SECOND_MS,
  /** Longest such rest. */
  refusedCapMs: 5 * MINUTE_MS,
  /** Earlier runs of a conversation that a new one is told about. */
  historyRuns: 10,
  /**
   * How long a hand that cannot be reached is waited for before the outcome of an order counts as unknown: as long as
   * the hand keeps outcomes at least [004-25].
   */
  handMs: 24 * HOUR_MS,
  /** How long a hand that cannot be reached is waited for before anything is ordered. */
  judgeMs: 10 * MINUTE_MS,
  /** How long an order to a hand is good for after the hand has it. */
  orderMs: 5 * MINUTE_MS,
  /** Hands of this machine that are kept open, each for a workspace; those that do nothing are closed first. */
  openHands: 32,
  /** Longest time from the wish to abort a run to its end on record [G13]. */
  abortMs: 2 * SECOND_MS,
  /** How much of that the model or the hand may take to end what is under way. */
  haltMs: SECOND_MS,
  /** How long a lease holds without being renewed: with the sweep behind it less than the 30 s of G9. */
  leaseMs: 20 * SECOND_MS,
} as const;

/** Bounds of what a model is given and gives. */
export const MODEL_LIMITS = {
  /** The conversation in a prompt, in characters; beyond it old turns are compacted. */
  contextChars: 400 * 1000,
  /** What compaction aims for, so that it does not happen again at the next step. */
  compactedChars: 200 * 1000,
  /** Old tool output is cut to this when a conversation is compacted. */
  oldOutputChars: 400,
  /** What a turn of the conversation keeps of one text: its beginning and its end. */
  turnChars: 40 * 1000,
  /** Turns at the end of a conversation that compaction leaves whole. */
  freshTurns: 8,
  /** The digest of compacted turns. */
  digestChars: 16 * KIB,
  /** Models that are kept by name; the one that was not asked for the longest time goes first. */
  kept: 32,
  /** One answer of a model [F25]. */
  replyChars: 2 * MIB,
  /** Wait for the first sign of an answer [000-23]. */
  firstTokenMs: 120 * SECOND_MS,
  /** Wait between two signs of an answer [000-23]. */
  betweenTokensMs: 60 * SECOND_MS,
  /** Tries at one step before its fault is final. */
  attempts: 4,
  /** First rest between tries, doubled each time. */
  backoffMs: SECOND_MS,
  /** Longest rest between tries. */
  backoffCapMs: 5 * SECOND_MS,
  /** Longest rest that a server may ask us to take. */
  retryAfterCapMs: MINUTE_MS,
  /** How long a healing that is stuck waits for a person [001-31]. */
  askedMs: 30 * SECOND_MS,
  /** Words at which a reply ends. */
  stops: 16,
  /** One of them. */
  stopChars: 256,
  /** What a fault keeps of a server's own words. */
  wordsChars: 1000,
  /** One event of a model's stream, before anything reads it. */
  eventBytes: 8 * MIB,
  /** What of an answer waits to be read; its server waits when there is more. */
  unreadBytes: 64 * KIB,
  /** Wait for a model server on this machine to show itself. */
  probeMs: 150,
  /** Wait for a model's server to take a connection, when a person asks whether it does. */
  reachMs: 2 * SECOND_MS,
  /** Wait for a server to list its models. */
  listMs: 5 * SECOND_MS,
} as const;

/** Ranges of how a model draws its words; what lies outside is moved to the nearer end [000-11]. */
export const SAMPLING_LIMITS = {
  temperature: { least: 0, most: 2 },
  topP: { least: 0, most: 1 },
  maxTokens: { least: 1, most: 4096 },
  repeatPenalty: { least: 0.5, most: 2 },
} as const;

/** Bounds of the built-in model. */
export const OFFLINE_LIMITS = {
  /** What it reads of a task. */
  taskChars: 8 * KIB,
  /** Questions that one task may hold. */
  wants: 3,
  /** Quoted commands that one task may hold. */
  commands: 20,
  /** Words of a task that leans on the one before it. */
  followUpWords: 6,
  /** Earlier tasks of a conversation that it looks back to. */
  history: 8,
  /** Rows that an answer lists. */
  rows: 10,
  /** A text that an answer gives on one line. */
  lineChars: 300,
  /** The part of a command line that a row of processes shows. */
  commandChars: 80,
  /** Lines of output that an answer quotes. */
  quotedLines: 40,
  /** Characters of output that an answer quotes. */
  quotedChars: 4 * KIB,
  /** Time of a project's tests. */
  testsMs: 15 * MINUTE_MS,
} as const;
