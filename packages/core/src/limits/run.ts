import { HOUR_MS, KIB, MIB, MINUTE_MS, SECOND_MS } from "./units.ts";

/* Limits of a run and of its model. */

/** Bounds of a run. */
export const RUN_LIMITS = {
  /** Steps of one run [004-26]. */
  steps: 100,
  /** Actions of one run. */
  actions: 100,
  /** Tokens of one run, in and out. */
  tokens: 2_000_000,
  /** Working time of one run. */
  wallMs: 2 * HOUR_MS,
  /** Largest gap between two entries that is added to the working time. */
  silenceMs: HOUR_MS,
  /** Identical calls in a row at which the run stops; the last one is not executed [004-26]. */
  identicalCalls: 4,
  /** Length of a task. */
  taskChars: 256 * KIB,
  /** Steps in a plan that are kept. */
  planSteps: 50,
  /** Length of one line that the model writes for people: a step, an option, a title. */
  lineChars: 2000,
  /** Options of a question. */
  options: 20,
  /** How long a question waits for an answer. */
  answerMs: 24 * HOUR_MS,
  /** Length of an answer. */
  answerChars: 64 * KIB,
  /** Length of a remark to a run. */
  remarkChars: 16 * KIB,
  /** Remarks to one run. */
  remarks: 100,
  /** Open runs resumed at once, and runs remembered as refused or held. */
  recovered: 100_000,
  /** Interval at which open runs without a driving process are searched for. */
  sweepMs: 3 * SECOND_MS,
  /** First delay before a run that could not be resumed is tried again; doubled each time. */
  refusedMs: 3 * SECOND_MS,
  /** Longest such delay. */
  refusedCapMs: 5 * MINUTE_MS,
  /** Runs of a conversation, newest first, among which the one that a new run continues is searched. */
  historyRuns: 10,
  /**
   * How long a hand that cannot be reached is waited for before the outcome of an order counts as unknown: as long as
   * the hand keeps outcomes at least [004-25].
   */
  handMs: 24 * HOUR_MS,
  /** How long a run waits for an unreachable hand before the order. */
  judgeMs: 10 * MINUTE_MS,
  /** How long an order is valid after the hand has received it. */
  orderMs: 5 * MINUTE_MS,
  /** Open hands of this machine, one for each workspace; idle ones are closed first. */
  openHands: 32,
  /** Longest time from an abort request to the end of the run in the journal [G13]. */
  abortMs: 2 * SECOND_MS,
  /** Part of that time in which the model or the hand has to stop. */
  haltMs: SECOND_MS,
  /** How long a request waits for the brain that drives its run. */
  relayMs: 5 * SECOND_MS,
  /** Requests to other brains that are looked at at once. */
  relayed: 1000,
  /** Lifetime of a lease without renewal: together with the sweep less than the 30 s of G9. */
  leaseMs: 20 * SECOND_MS,
} as const;

/** Bounds of prompts and model replies. */
export const MODEL_LIMITS = {
  /** Length of the conversation in a prompt; beyond it old turns are compacted. */
  contextChars: 400 * 1000,
  /** Characters of a token, until the model's server has counted a prompt. */
  charsPerToken: 3,
  /** Least count of a prompt's tokens from which characters for a token are taken. */
  countedTokens: 500,
  /** Share of a model's window that a prompt may fill; the rest is for the reply and for errors of the estimate. */
  promptShare: 0.8,
  /** Target length of compaction, low enough that the next step needs none. */
  compactedChars: 200 * 1000,
  /** Length to which compaction cuts old tool output. */
  oldOutputChars: 400,
  /** Length of one text in a turn; of a longer one its beginning and its end are kept. */
  turnChars: 40 * 1000,
  /** Last turns of a conversation that compaction does not change. */
  freshTurns: 8,
  /** The same for the first, second and third compaction because of one reply that the window had no room for. */
  squeezedFreshTurns: [4, 1, 0],
  /** Share of a conversation that a compaction keeps after the model's window had no room for it. */
  squeezedShare: 0.5,
  /** Share of the length that the window had no room for at which the conversation is compacted from then on. */
  learntShare: 0.8,
  /** Least length of a conversation that is compacted, whatever window a server claims to have. */
  leastContextChars: 4000,
  /** Length of what a run knows of the earlier runs of its conversation. */
  historyChars: 128 * 1000,
  /** The same as a share of the model's window, where that is less. */
  historyShare: 0.25,
  /** Length of the digest of compacted turns. */
  digestChars: 16 * KIB,
  /** Cached models; the least recently used is dropped first. */
  kept: 32,
  /** How long the check of an answer against its caller's schema may take: a pattern in it may never end. */
  formatMs: SECOND_MS,
  /** Length of what an answer lacks, as the model is told. */
  mismatchChars: 500,
  /** Length of one reply of a model [F25]. */
  replyChars: 2 * MIB,
  /** Wait for the first chunk of a reply [000-23]. */
  firstTokenMs: 120 * SECOND_MS,
  /** Wait between two chunks of a reply [000-23]. */
  betweenTokensMs: 60 * SECOND_MS,
  /** Attempts at one step before its fault is final. */
  attempts: 4,
  /** First delay between attempts, doubled each time. */
  backoffMs: SECOND_MS,
  /** Longest delay between attempts. */
  backoffCapMs: 5 * SECOND_MS,
  /** Longest delay that a server may ask for. */
  retryAfterCapMs: MINUTE_MS,
  /** How long interactive healing waits for a person [001-31]. */
  askedMs: 30 * SECOND_MS,
  /** Stop sequences of a request. */
  stops: 16,
  /** Length of one stop sequence. */
  stopChars: 256,
  /** Length of a server's error text in a fault. */
  wordsChars: 1000,
  /** How long a command that prints a key may take. */
  keyCommandMs: 30 * SECOND_MS,
  /** Size of what it prints. */
  keyBytes: 64 * KIB,
  /** Length of its error that is told. */
  keyErrorChars: 300,
  /** Keys of one source that are kept out of journals, the newest ones. */
  readKeys: 16,
  /** Size of one event of a model's stream, checked before it is parsed. */
  eventBytes: 8 * MIB,
  /** Unread part of a reply beyond which its server is made to wait. */
  unreadBytes: 64 * KIB,
  /** Wait when model servers on this machine are searched for. */
  probeMs: 150,
  /** Wait for a connection when a person checks whether a model server is reachable. */
  reachMs: 2 * SECOND_MS,
  /** Wait for a server to list its models. */
  listMs: 5 * SECOND_MS,
  /** Models that are taken from the list of one server. */
  listed: 500,
  /** Calls of a model in its test. */
  testSteps: 4,
} as const;

/** Ranges of the sampling parameters; values outside are clamped [000-11]. */
export const SAMPLING_LIMITS = {
  temperature: { least: 0, most: 2 },
  topP: { least: 0, most: 1 },
  maxTokens: { least: 1, most: 4096 },
  repeatPenalty: { least: 0.5, most: 2 },
} as const;

/** Bounds of the built-in model. */
export const OFFLINE_LIMITS = {
  /** Characters of a task that it reads. */
  taskChars: 8 * KIB,
  /** Words of a task that it reads; quoted commands may be more. */
  taskWords: 64,
  /** Questions that one task may hold. */
  wants: 3,
  /** Quoted commands that one task may hold. */
  commands: 20,
  /** Words of a task that is read as a follow-up to the one before. */
  followUpWords: 6,
  /** Earlier tasks of a conversation that it considers. */
  history: 8,
  /** Rows that an answer lists. */
  rows: 10,
  /** Length of a text that an answer gives on one line. */
  lineChars: 300,
  /** Length of a command line in a row of processes. */
  commandChars: 80,
  /** Lines of output that an answer quotes. */
  quotedLines: 40,
  /** Characters of output that an answer quotes. */
  quotedChars: 4 * KIB,
  /** Timeout of a project's tests. */
  testsMs: 15 * MINUTE_MS,
} as const;

/** Bounds of helpers: runs that another run has started. */
export const HELPER_LIMITS = {
  /** Helpers of one action. */
  atOnce: 5,
  /** Helpers of one run. */
  perRun: 20,
  /** Runs above a helper; one as deep as that starts no helpers. */
  depth: 3,
  /** Length of the result of one helper in the outcome; a longer one is cut, and its run has the whole. */
  resultChars: 12_000,
} as const;

/** Bounds of tools that models propose. */
export const PROPOSAL_LIMITS = {
  /** Words of the command, the program included. */
  words: 21,
  /** Length of one word. */
  wordChars: 2000,
  /** Length of the description. */
  textChars: 2000,
  /** Properties of the input. */
  fields: 20,
  /** Length of the schema of the input. */
  schemaChars: 8 * KIB,
  /** Approved tools of one thread. */
  perThread: 20,
  /** Tools that an owner has made available to all its threads. */
  promoted: 50,
} as const;

/** Bounds of schedules. */
export const SCHEDULE_LIMITS = {
  /** Schedules of one owner. */
  perOwner: 100,
  /** Length of the times of a schedule. */
  cronChars: 256,
  /** Days in which a schedule has to come due: four years, with the leap day. */
  days: 4 * 366,
  /** Longest time between two looks at the schedules. */
  lookMs: MINUTE_MS,
  /** Shortest time between two looks. */
  leastMs: 10,
  /** Delay after a look that failed. */
  retryMs: 5 * SECOND_MS,
  /** A time that passed longer ago than this was missed. */
  graceMs: MINUTE_MS,
  /** Missed times that are stepped through; of more, only those of the last hour are. */
  missedTimes: 100,
  missedMs: HOUR_MS,
  /** How far ahead of a time it is looked whether the clocks are set back. */
  setBackMs: 3 * HOUR_MS,
} as const;

/** Bounds of hooks. */
export const HOOK_LIMITS = {
  /** Hooks of one owner. */
  perOwner: 50,
  /** Length of the body of a call. */
  payloadChars: 64 * KIB,
  /** Calls of one hook within `rateMs`, at one brain. */
  callsPerRate: 60,
  rateMs: MINUTE_MS,
  /** How far the time of a signature may be from now. */
  clockMs: 5 * MINUTE_MS,
  /** Signatures of one call that are looked at. */
  signatures: 8,
} as const;

/** Bounds of webhooks. */
export const WEBHOOK_LIMITS = {
  /** Webhooks of a brain. */
  webhooks: 50,
  /** Messages that wait for one webhook; over it the oldest are given up. */
  waiting: 2000,
  /** Longest time between two looks at the messages that wait. */
  lookMs: MINUTE_MS,
  /** Shortest time between two looks. */
  leastMs: 10,
  /** How long a receiver may take to answer. */
  sendMs: 15 * SECOND_MS,
  /** Delays before the second and each further attempt; after the last one a message is given up. */
  delaysMs: [
    5 * SECOND_MS,
    5 * MINUTE_MS,
    30 * MINUTE_MS,
    2 * HOUR_MS,
    5 * HOUR_MS,
    10 * HOUR_MS,
    14 * HOUR_MS,
    20 * HOUR_MS,
    24 * HOUR_MS,
  ],
  /** Length of a message; a longer one leaves the event out, which can be read by its run and seq. */
  bodyChars: 256 * KIB,
  /** Characters of the task in a message. */
  taskChars: 2000,
  /** Length of the address of a webhook. */
  urlChars: 2048,
} as const;

/** Bounds of files that models see. */
export const FILE_LIMITS = {
  /** Size of one image: in base64 it fits into one message of a hand, and into the body of a request. */
  imageBytes: 512 * KIB,
  /** Pixels of its longer side. */
  imageSide: 8000,
  /** Size of a PDF that a model gets as a file; of a larger one it gets the text. */
  pdfBytes: 512 * KIB,
  /** Pages of such a PDF: a vendor counts each as a text and an image. */
  pdfPages: 32,
  /** Files of one task or message. */
  files: 8,
  /** Files of one task together, in base64. */
  taskChars: 704 * KIB,
  /** Files of earlier turns that a run knows, in base64; older ones are left out. */
  historyChars: 704 * KIB,
  /** What a file counts for in the room of a conversation. */
  countedChars: 6000,
  /** Length of a file's name. */
  nameChars: 256,
  /** Images fetched from addresses that are kept in memory, since clients send a conversation again with each turn. */
  fetchedImages: 16,
  /** How long such an image counts before it is fetched again. */
  fetchedMs: 10 * MINUTE_MS,
} as const;

/** Bounds of reading the text of a PDF. */
export const PDF_LIMITS = {
  /** All that its compressed parts become together. */
  inflatedBytes: 16 * MIB,
  /** Values and operators that are read; eight characters of text count as one. */
  steps: 4_000_000,
  /** Pages of one file. */
  pages: 5000,
  /** Text of one file in a message of a chat; a longer one is cut. */
  attachedChars: 128 * KIB,
  /** Nesting of values, of the tree of pages, and of forms in a page. */
  depth: 32,
  /** The highest code of a character in a font. */
  codes: 65_535,
} as const;
