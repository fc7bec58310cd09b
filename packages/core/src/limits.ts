/*
 * Every bound has a name here. A clause in brackets is where a published contract asks for it;
 * the others are ours. Units come last in a name.
 */

const KIB = 1024;
const MIB = 1024 * KIB;
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Bounds of a run. */
export const RUN = {
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
  /** Open runs that are taken up again at boot. */
  recovered: 100_000,
  /** Earlier runs of a conversation that a new one is told about. */
  historyRuns: 10,
  /** How long a hand that cannot be reached is waited for before the outcome of an order counts as unknown. */
  handMs: 10 * MINUTE_MS,
  /** How long an order to a hand is good for after the hand has it. */
  orderMs: 5 * MINUTE_MS,
  /** How long a lease holds without being renewed. */
  leaseMs: 30 * SECOND_MS,
} as const;

/** Bounds of what a model is given and gives. */
export const MODEL = {
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
  /** What a fault keeps of a server's own words. */
  wordsChars: 1000,
  /** One event of a model's stream, before anything reads it. */
  eventBytes: 8 * MIB,
  /** Wait for a model server on this machine to show itself. */
  probeMs: 150,
  /** Wait for a server to list its models. */
  listMs: 5 * SECOND_MS,
} as const;

/** Bounds of what a hand does. */
export const HAND = {
  /** Default time of a command. */
  commandMs: 2 * MINUTE_MS,
  /** Longest time that a command may ask for. */
  commandCapMs: HOUR_MS,
  /** From SIGTERM to SIGKILL. */
  graceMs: 5 * SECOND_MS,
  /** Pipes are closed this long after the process is gone. */
  pipesMs: 2 * SECOND_MS,
  /** Beginning of an output that an outcome keeps. */
  headBytes: 64 * KIB,
  /** End of an output that an outcome keeps. */
  tailBytes: 64 * KIB,
  /** Whole output kept on the hand. */
  spoolBytes: 64 * MIB,
  /** Live output of one action. */
  liveBytesPerSecond: 256 * KIB,
  /** Arguments of a command. */
  args: 1024,
  /** One argument. */
  argChars: 128 * KIB,
  /** A file that a tool reads or writes. */
  fileBytes: 8 * MIB,
  /** What reading a file gives at once. */
  readBytes: 128 * KIB,
  /** Entries that a listing or a search gives. */
  entries: 1000,
  /** Files that a search looks into. */
  searchFiles: 50_000,
  /** Bytes that a search looks through. */
  searchBytes: 256 * MIB,
  /** What a search shows of one line. */
  lineChars: 400,
  /** How deep below its start a search goes. */
  folderDepth: 64,
  /** A path. */
  pathChars: 4096,
  /** Symlinks followed while a path is resolved. */
  links: 40,
  /** A glob pattern. */
  globChars: 1024,
  /** Patterns that the braces of one glob may stand for. */
  globBranches: 64,
  /** A patch that a tool gives or takes. */
  patchBytes: 512 * KIB,
  /** Lines added and removed beyond which two texts are not compared. */
  diffLines: 4000,
  /** Lines compared while a patch looks for the place where it fits now. */
  patchCompares: 5_000_000,
  /** How long an outcome is kept after the brain has it. */
  ledgerMs: 24 * HOUR_MS,
  /** Outcomes kept, whatever their age. */
  ledgerEntries: 100_000,
  /** Ids of forgotten actions that are still refused. */
  evictedEntries: 1_000_000,
  /** All the whole outputs kept on the hand; the oldest go first. */
  spoolFolderBytes: 1024 * MIB,
  /** Live output that waits for whoever reads the action's events; more is dropped. */
  liveWaitingBytes: MIB,
} as const;

/** Bounds of the codecs. */
export const CODEC = {
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

/** Bounds of keeping secrets out of what is kept and shown. */
export const REDACT = {
  /** A known secret that is shorter is not looked for: it would be found in innocent words. */
  secretChars: 8,
  /** A string under a telling name that is shorter is left as it is. */
  namedChars: 6,
  /** What tells that something is a secret lies within this; a stream holds back at most twice as much. */
  holdChars: 512,
  /** A private key block whose end does not come is taken to end here. */
  privateKeyChars: 16 * KIB,
  /** Nesting of a value that is looked through; what lies deeper is replaced. */
  depth: 128,
  /** Names of fields that are remembered as looked at. */
  names: 1024,
  /** A longer name is not remembered. */
  nameChars: 64,
} as const;

/** Bounds of following a run. */
export const FOLLOW = {
  /** Entries read at once. */
  batch: 256,
  /** Live events that wait for one slow follower; older ones are dropped. */
  live: 1024,
  /** How often a follower looks for entries that another process wrote. */
  pollMs: 50,
} as const;

/** Bounds of the journal's store. */
export const STORE = {
  /** How long a commit waits for another process to end its own. */
  busyMs: 5 * SECOND_MS,
  /** Rest before such a commit is tried again. */
  retryMs: 1,
  /** Calls that wait for one commit; a full queue is committed at once. */
  batch: 1024,
  /** Runs whose last entry is remembered, so that appending need not look it up. */
  heads: 4096,
} as const;

/** Bounds of a policy file. */
export const POLICY = {
  /** Entries of any list in it, rules included. */
  items: 1000,
  /** One text in it. */
  textChars: 4096,
} as const;

/** Bounds of the built-in model. */
export const OFFLINE = {
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

/** Bounds of the command line. */
export const TERMINAL = {
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
  /** Runs whose hash chains one audit checks, newest first. */
  auditedRuns: 100_000,
  /** Shortest end of an id that names a run. */
  idEndChars: 4,
  /** Earlier tasks that the arrow keys bring back. */
  history: 100,
  /** The log of our own faults; a longer one is begun anew. */
  logBytes: MIB,
  /** Free disk below which doctor warns. */
  freeBytes: 512 * MIB,
} as const;
