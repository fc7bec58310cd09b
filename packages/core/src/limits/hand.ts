import { HOUR_MS, KIB, MIB, MINUTE_MS, SECOND_MS } from "./units.ts";

/* What a hand does, and what its policy may say. */

/** Bounds of what a hand does. */
export const HAND_LIMITS = {
  /** Default time of a command. */
  commandMs: 2 * MINUTE_MS,
  /** Longest time that a command may ask for. */
  commandCapMs: HOUR_MS,
  /** From SIGTERM to SIGKILL. */
  graceMs: 5 * SECOND_MS,
  /** From the end of a tool's time to giving it up: longer than a process takes to be ended. */
  overdueMs: 15 * SECOND_MS,
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
  /** Memory of its own that one process in a sandbox may have. */
  memoryBytes: 2048 * MIB,
  /** Memory that all processes of a command may have together, unless the policy says otherwise. */
  treeBytes: 4096 * MIB,
  /** How often that is looked at. */
  memoryLookMs: 200,
  /** What a sandboxed command may write to each of its own empty folders, such as /tmp; they are memory. */
  scratchBytes: 256 * MIB,
  /** How long a sandbox may go on to show a file that was open to all users, or no secret, and is so no longer. */
  closedMs: 10 * SECOND_MS,
  /** Hard links of the hand's user to files outside the workspace, which all users may read, that a sandbox covers. */
  foreignLinks: 256,
  /** Scripts of a package.json that run one another, looked at one in the other. */
  scriptDepth: 4,
  /** How long a hand may go without noticing that another hand or brain was started on its host. */
  statesMs: 2 * SECOND_MS,
  /** How long it may take to cover Vidro's own state before a command. */
  coverMs: 10 * SECOND_MS,
  /** How long a mount namespace in which Vidro's own state is covered is kept after its last use. */
  coverIdleMs: 60 * SECOND_MS,
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
  /** Openings that a ledger remembers: an order that was judged in an older one is not begun. */
  ledgerOpenings: 10_000,
  /** A ledger that is larger is checked when it is opened only where that takes no time. */
  ledgerCheckedBytes: 16 * MIB,
  /** All the whole outputs kept on the hand; the oldest go first. */
  spoolFolderBytes: 1024 * MIB,
  /** Live output that waits for a reader of the action's events; more is dropped. */
  liveWaitingBytes: MIB,
  /** From the end of an action to the search for processes that it left behind. */
  stragglerMs: SECOND_MS,
  /** Interval at which a process tree that was signalled is checked. */
  treePollMs: 25,
  /** How long the trial of the sandbox may take. */
  sandboxTrialMs: 5 * SECOND_MS,
  /** How long the scan for hard links may block the event loop at once. */
  scanSliceMs: 5,
  /** How long a writer of the ledger or of the watches waits for the lock of another process. */
  databaseBusyMs: 5 * SECOND_MS,
  /** Interval at which the file of tokens is checked for changes. */
  tokenFileLookMs: 250,
} as const;

/** Bounds of hands that are reached over a wire, and of the register that knows them. */
export const REGISTER_LIMITS = {
  /** Hands that a brain knows. */
  known: 20_000,
  /** Hands that one run may use. */
  perRun: 100,
  /** The words that choose hands. */
  selectorChars: 16 * KIB,
  /** Why a hand is barred, in words. */
  whyChars: 2000,
  /** How long a hand that is away is remembered for sure: as long as a run waits for one. */
  rememberedMs: 24 * HOUR_MS,
  /** How long a hand that came for one session is remembered when it is gone. */
  visitorMs: 7 * 24 * HOUR_MS,
  /** Hands that one command is carried out on at the same time. */
  atOnce: 16,
  /** A hand's name, and one of its tags. */
  nameChars: 128,
  /** Tags of one hand. */
  tags: 32,
  /** Tools of one hand. */
  tools: 256,
  /** The JSON Schema of one of them, as text. */
  schemaChars: 32 * KIB,
  /** Tools of one hand that only this hand has. */
  ownTools: 64,
  /** What it may say of all of these together, as text. */
  ownToolsChars: 128 * KIB,
  /** What it may say of one of them in words. */
  wordsChars: KIB,
  /** A folder that a hand says it works in, as a model is told of it. */
  folderChars: 256,
  /** Lists of tools that are remembered because several hands may have them. */
  toolLists: 64,
  /** Silence after which either end shows that it lives. */
  heartbeatMs: 15 * SECOND_MS,
  /** Heartbeats missed before a link counts as dead [F10, F11]. */
  heartbeatsMissed: 3,
  /** How long the signature of an approval counts: longer than an order, since the clocks of hosts differ. */
  warrantMs: 10 * MINUTE_MS,
  /** Wait for the judgement of a hand. */
  judgeMs: 30 * SECOND_MS,
  /** From the end of an order's own time to giving it up, on a connection that lives: longer than a hand takes for it. */
  overdueMs: 30 * SECOND_MS,
  /** How long the late end of an order is still heard on a connection that lives: longer than any command may take. */
  endMs: HOUR_MS + 5 * MINUTE_MS,
  /** Late ends of one hand that are kept for a run that still asks. */
  lateEnds: 256,
  /** Orders that are to be stopped when their hands are back. */
  stops: 4096,
  /** Outcomes whose safe arrival a hand is told when it is back. */
  acknowledgements: 10_000,
  /** One message of a link, as it is encoded: `max_payload` of the welcome. */
  messageBytes: MIB,
  /** A message up to this length is read, so that one beyond `messageBytes` is refused by name; a longer one ends its link. */
  readBytes: 2 * MIB,
  /** Parts that one message may come in. */
  fragments: 128,
  /** Orders that wait for their ends on one link. */
  orders: 1024,
  /** First rest before a hand dials again, doubled each time [004-21]. */
  redialMs: SECOND_MS,
  /** Longest rest before a hand dials again. */
  redialCapMs: MINUTE_MS,
  /** Tries at the first connection [004-21]. */
  firstDials: 5,
  /** Hands that listen and that a brain dials. */
  dialled: 1000,
  /** The certificates that one of them is believed by, in PEM. */
  caChars: 64 * KIB,
  /** Wait of who has a hand dialled for how the first try went. */
  firstTryMs: 5 * SECOND_MS,
  /** First rest before a hand is dialled again that refused us: it looks at a token, which may cost it something. */
  refusedMs: MINUTE_MS,
  /** Longest rest before such a hand is dialled again. */
  refusedCapMs: HOUR_MS,
  /** How often a hand makes sure that it was awake: the age of a message that came while it slept is not known [F28]. */
  awakeMs: SECOND_MS,
  /** How long two changes of when a hand was last seen lie apart on disk. */
  seenMs: MINUTE_MS,
  /** Hands or runs that a message names when a word fits several. */
  namedAtMost: 5,
  /** From hanging up to cutting a WebSocket whose peer does not close it. */
  closeMs: 500,
} as const;

/** Bounds of signed HTTP between a brain and its hands [000-53, 000-54]. */
export const SIGNED_HTTP_LIMITS = {
  /** The clock of who signs may be this far ahead. */
  skewS: 300,
  /** The longest time for which a signature counts; it says so itself. */
  lifeS: 60,
  /** A nonce: 128 bits as base64, without padding. */
  nonceChars: 22,
  /** The longest nonce. */
  nonceCharsAtMost: 64,
  /** The target of a request, and each field of its signature. */
  fieldChars: 1024,
  /** How long a nonce is kept: from the oldest to the newest time that a message may say it was signed at. */
  nonceMs: 2 * 300 * SECOND_MS,
  /** Nonces whose time is up that are removed when a new one is kept. */
  noncesRemoved: 4,
  /** Nonces that a host which listens keeps. */
  nonces: 100_000,
  /** Messages that a hand may send at once. */
  burst: 1000,
  /** How long one more takes after that. */
  everyMs: 20,
  /** Rest between two messages that bring only live output. */
  liveMs: 50,
  /** Root of the keys of a hand. */
  keyBytes: 32,
  /** How long the key before is valid once the next one was used [000-53]. */
  overlapMs: 24 * HOUR_MS,
  /** Longest wait of a hand that asks what waits for it. */
  pollMs: 25 * SECOND_MS,
  /** What waits for a hand. */
  outboxBytes: 8 * MIB,
  /** Messages that a hand sends at once. */
  messages: 64,
  /** How far a host's clock may be off and its hand still go by that of the brain. */
  offsetMs: 24 * HOUR_MS,
  /** How often a message is sent whose reply does not come, before the hand says hello again. */
  tries: 3,
  /** Wait for the reply to a message that only tells something. */
  replyMs: 30 * SECOND_MS,
} as const;

/** Bounds of executors and of what they are told [004]. */
export const EXECUTOR_LIMITS = {
  /** From the start of a brain until it forgets executors that will not come back. */
  sweepAfterMs: 5 * SECOND_MS,
  /** Wait for the handshake. */
  handshakeMs: 10 * SECOND_MS,
  /** How long a handshake is kept [004-05]. */
  keptMs: HOUR_MS,
  /** Kept handshakes whose time is up that are removed when a new one is kept. */
  removed: 4,
  /** Silence of an executor that has an order, or of the person before it, after which nothing is waited for [004-26]. */
  messageMs: 20 * MINUTE_MS,
  /** How long an executor without a ledger may take to tell what came of an order that it got before a cut. */
  lateMs: 10 * SECOND_MS,
  /** The words that an executor brings along about its project. */
  specChars: 64 * KIB,
  /** Files that these words are about. */
  specFiles: 1000,
  /** Names of tools that it may say it knows. */
  knownTools: 256,
  /** One message that an executor is told: what it is to approve is there in full. */
  toldBytes: 4 * MIB,
  /** What the end of a task says of it. */
  summaryChars: 64 * KIB,
  /** Files that were changed that the end of a task lists. */
  filesChanged: 1000,
} as const;

/** Bounds of what hands tell of their hosts. */
export const TELEMETRY_LIMITS = {
  /** How long a sample is kept. */
  keptMs: HOUR_MS,
  /** Samples kept of one hand: one a second for an hour; the oldest are dropped first. */
  samples: 3600,
  /** One sample, as JSON. */
  payloadChars: 4 * KIB,
  /** What a sample takes besides its text. */
  overheadBytes: 128,
  /** All samples of all hands; the oldest are dropped first. */
  bytes: 64 * MIB,
} as const;

/** Bounds of a policy file. */
export const POLICY_LIMITS = {
  /** Entries of any list in it, rules included. */
  items: 1000,
  /** One text in it. */
  textChars: 4096,
  /** Least memory that it may leave a command, in MiB: a shell needs some. */
  memoryMib: 16,
} as const;
