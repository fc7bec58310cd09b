import { KIB, MIB, MINUTE_MS, SECOND_MS } from "./units.ts";

/* Limits of output, configuration, the command line and clients. */

/** Bounds of what our processes write to pipes and files that others read. */
export const OUTPUT_LIMITS = {
  /** Bytes that may wait for a reader; beyond it log lines are dropped and counted, and other writers wait. */
  unreadBytes: MIB,
} as const;

/** Bounds of programs that work in the background. */
export const BACKGROUND_LIMITS = {
  /** Size of a log file; a longer one is renamed to `.1`, in place of the one before, and a new one begins. */
  logBytes: 8 * MIB,
  /** Wait for a daemon to be ready. */
  readyMs: 2 * MINUTE_MS,
  /** Wait for the first heartbeat of a hand. */
  connectedMs: 45 * SECOND_MS,
  /** Wait for a program to end before its successor is started. */
  endedMs: MINUTE_MS,
  /** Interval at which what is waited for is looked at. */
  lookMs: 50,
  /** Lines of a log that are shown with a failure. */
  shownLines: 10,
  /** Bytes at the end of a log in which its last lines are looked for. */
  tailBytes: 4 * MIB,
} as const;

/** Bounds of `config.json`. */
export const CONFIG_LIMITS = {
  /** Size of the file. */
  fileBytes: 64 * KIB,
} as const;

/** Bounds of the command line. */
export const TERMINAL_LIMITS = {
  /** Last lines of a command's output that are shown; the rest is folded. */
  outputLines: 5,
  /** First lines of a command's output that are shown when it has ended. */
  headLines: 3,
  /** Characters shown of one line of output. */
  lineChars: 4000,
  /** Steps of a plan that are shown during the run. */
  planRows: 10,
  /** Interval between frames of the spinner. */
  spinnerMs: 100,
  /** How long keys typed before a question is shown are read and dropped. */
  strayKeysMs: 30,
  /** A person who struck a key this short ago is still writing: a question waits for them. */
  quietMs: 400,
  /** A person who has begun a text and rests this long is asked a question; their next letter would be an answer. */
  writingMs: 3 * SECOND_MS,
  /** How long the rest of a key that a terminal sends in several bytes is waited for; then Escape was pressed. */
  keyRestMs: 50,
  /** Characters of one paste; the rest is dropped. */
  pastedChars: 256 * KIB,
  /** Completions that are shown; the others are left out. */
  completions: 40,
  /** Size of a file that is put into a task; a larger one is refused. */
  includedBytes: 64 * KIB,
  /** Files that are put into one task. */
  includedFiles: 8,
  /** Interval at which a watcher checks whether the process that drives the run died. */
  takeOverMs: SECOND_MS,
  /** Interval at which a watcher asks whether the brain and the hands of its run are there, and its wait for the answer. */
  vigilMs: 900,
  /** Default number of runs in a list. */
  listedRuns: 20,
  /** Runs, newest first, whose costs are added up. */
  searchedRuns: 10_000,
  /** Runs that an audit reads per page. */
  auditedRuns: 500,
  /** Shortest end of an id that identifies a run. */
  idEndChars: 4,
  /** Earlier tasks that the arrow keys recall. */
  history: 100,
  /** Size of the fault log; a larger one is started anew. */
  logBytes: MIB,
} as const;

/** Bounds of what past runs are searched for. */
export const REVIEW_LIMITS = {
  /** Runs, newest first, in which actions that a rule would have allowed are looked for. */
  searchedRuns: 500,
  /** Runs that are read per page. */
  pageRuns: 100,
  /** Actions that are shown; the others are counted. */
  shownActions: 10,
  /** Actions that another policy would decide otherwise and that are shown; the others are counted. */
  shownVerdicts: 100,
} as const;

/** Bounds of `codegen`. */
export const CODE_LIMITS = {
  /** Runs, newest first, among which the last one of a folder is searched. */
  searchedRuns: 50,
} as const;

/** Bounds of the pages of the web console. */
export const CONSOLE_LIMITS = {
  /** Interval at which lists are read again. */
  pollMs: 2 * SECOND_MS,
  /** Interval at which a duration that still grows is shown again. */
  tickMs: SECOND_MS,
  /** Interval at which agents and tools are read again. */
  catalogMs: 10 * SECOND_MS,
  /** Interval at which the telemetry of a hand is read again. */
  telemetryMs: 5 * SECOND_MS,
  /** Telemetry that is drawn. */
  telemetryS: 300,
  /** Interval at which a brain that is away is looked for. */
  lookMs: 500,
  /** Longest time that entries of a journal are folded before the page is drawn again. */
  foldMs: 6,
  /** Runs in a list. */
  runs: 500,
  /** Runs that are searched for open questions. */
  openRuns: 200,
  /** Entries before a question that hold its plan and its action. */
  entriesBeforeQuestion: 24,
  /** Entries of the knowledge in a list. */
  knowledge: 100,
  /** Runs of a conversation that are shown. */
  chatRuns: 20,
  /** Characters of one line of text that are shown. */
  lineChars: 2000,
  /** Characters of one block of text that are shown. */
  blockChars: 20_000,
  /** Characters of a whole output that are read from a hand to be shown; all of it can be saved. */
  outputChars: 8 * MIB,
  /** Lines of a whole output that are shown at once. */
  outputLines: 500,
  /** Characters of one entry of a journal that are shown. */
  entryChars: 100_000,
} as const;

/** Bounds of a client of a brain. */
export const CLIENT_LIMITS = {
  /** Retries before a brain is given up; any data from it resets the count. */
  retries: 8,
  /** First delay between attempts, doubled each time. */
  backoffMs: SECOND_MS,
  /** Longest delay between attempts. */
  backoffCapMs: 10 * SECOND_MS,
  /** Longest delay that a brain may ask for. */
  retryAfterCapMs: MINUTE_MS,
  /** A connection that lasted this long resets the retries, even without data. */
  steadyMs: 10 * SECOND_MS,
  /** Silence after which a connection is treated as dead; a live brain sends heartbeats more often. */
  silenceMs: 45 * SECOND_MS,
  /** Delay after which a person is told what is waited for. */
  noticeMs: SECOND_MS,
  /** Wait for a brain to answer a request. */
  requestMs: MINUTE_MS,
  /** Size of one line of a run's events; fits a whole reply of a model with every character escaped. */
  lineBytes: 32 * MIB,
  /** Size of one answer. */
  answerBytes: 32 * MIB,
  /** Wait for a daemon to prove that it runs. */
  probeMs: 2 * SECOND_MS,
} as const;

/** Bounds of commands from files. */
export const COMMAND_FILE_LIMITS = {
  /** Commands of a home and a project together. */
  commands: 100,
  /** Size of one file. */
  fileBytes: 64 * KIB,
  /** Length of a description that is shown. */
  descriptionChars: 120,
  /** Length of a hint that is shown. */
  hintChars: 60,
  /** Hidden characters that a refusal shows. */
  shownHidden: 5,
} as const;
