import { HOUR_MS, KIB, MIB, MINUTE_MS, SECOND_MS } from "./units.ts";

/* Limits of a hand and of its policy file. */

/** Bounds of a hand's tools, processes and ledger. */
export const HAND_LIMITS = {
  /** Default time of a command. */
  commandMs: 2 * MINUTE_MS,
  /** Longest time that a command may ask for. */
  commandCapMs: HOUR_MS,
  /** Delay from SIGTERM to SIGKILL. */
  graceMs: 5 * SECOND_MS,
  /** Delay from a tool's timeout to giving it up: longer than ending a process takes. */
  overdueMs: 15 * SECOND_MS,
  /** Delay from the end of a process to closing its pipes. */
  pipesMs: 2 * SECOND_MS,
  /** Beginning of an output that an outcome keeps. */
  headBytes: 64 * KIB,
  /** End of an output that an outcome keeps. */
  tailBytes: 64 * KIB,
  /** Whole output kept on the hand. */
  spoolBytes: 64 * MIB,
  /** Bytes of a whole output that a hand sends in one message; as base64 they fit into one. */
  spoolPartBytes: 256 * KIB,
  /** Live output of one action. */
  liveBytesPerSecond: 256 * KIB,
  /** Size of all AGENTS.md files that a model is given; the rest is left out. */
  guideBytes: 32 * KIB,
  /** Folders from the workspace upwards in which an AGENTS.md is looked for. */
  guides: 16,
  /** Changed files of a git repository that a model is told of at the start of a task. */
  toldChanges: 20,
  /** Length of the state of a repository that a hand on another host tells. */
  gitFactChars: 8000,
  /** How long git may take to tell the state of a repository at the start of a task. */
  gitStatusMs: 2 * SECOND_MS,
  /** Arguments of a command. */
  args: 1024,
  /** Length of one argument. */
  argChars: 128 * KIB,
  /** Private memory of one sandboxed process. */
  memoryBytes: 2048 * MIB,
  /** Memory of all processes of a command together, unless the policy sets another. */
  treeBytes: 4096 * MIB,
  /** Interval at which the memory of a command is measured. */
  memoryLookMs: 200,
  /** Size of each empty folder of a sandboxed command, such as /tmp; it is held in memory. */
  scratchBytes: 256 * MIB,
  /** How long a sandbox may still show a file after it became private or secret. */
  closedMs: 10 * SECOND_MS,
  /** World-readable hard links to files outside the workspace that a sandbox covers. */
  foreignLinks: 256,
  /** Index of a git repository that a sandbox corrects for hidden files; of a larger one git takes them as changed. */
  gitIndexBytes: 32 * MIB,
  /** Indexes and changed files for which a sandbox has a file that git can compare; further ones git takes as changed. */
  gitFiles: 64,
  /** Settings of a git repository that a sandbox heeds. */
  gitConfigBytes: 64 * KIB,
  /** Scripts of package.json files that are followed to find the files that a command runs. */
  scripts: 32,
  /** How long a hand may take to notice that another hand or brain was started on its host. */
  statesMs: 2 * SECOND_MS,
  /** How long it may take to cover Vidro's own state before a command. */
  coverMs: 10 * SECOND_MS,
  /** How long a mount namespace in which Vidro's own state is covered is kept after its last use. */
  coverIdleMs: 60 * SECOND_MS,
  /** Sandboxes that wait for a command; beyond it the one that has waited longest is ended. */
  warmCells: 4,
  /** From the end of a sandboxed command to the start of the sandbox for the next one. */
  cellDelayMs: 20,
  /** From the first command of a process to the start of the launcher for the next ones. */
  launcherDelayMs: 20,
  /** Output of a command that waits in a pipe for the hand. */
  outputPipeBytes: 256 * KIB,
  /** How long a sandbox waits for a command before it is ended. */
  cellIdleMs: 60 * SECOND_MS,
  /** Length of the address of a page. */
  urlChars: 4096,
  /** Body of a page that is read, before and after decompression. */
  pageBytes: 4 * MIB,
  /** Text of a page that an outcome keeps. */
  pageChars: 64 * KIB,
  /** Redirections that are followed within one host. */
  redirects: 5,
  /** Time for one page, with its redirections. */
  fetchMs: 30 * SECOND_MS,
  /** Size of a file that a tool reads or writes. */
  fileBytes: 8 * MIB,
  /** Bytes that one read of a file returns. */
  readBytes: 128 * KIB,
  /** Entries that a listing or a search returns. */
  entries: 1000,
  /** Entries that a search meets. */
  searchFiles: 200_000,
  /** Time that a search takes before other work of its process goes on. */
  walkMs: 8,
  /** Names of files that ripgrep gives for a search. */
  candidateBytes: 16 * MIB,
  /** Folders whose private files are known, for commands that follow each other. */
  indexedFolders: 8,
  /** Age of a folder's last change from which its times tell it apart from any later change. */
  settledMs: 2 * SECOND_MS,
  /** Bytes that a search reads. */
  searchBytes: 256 * MIB,
  /** Characters of one line that a search shows. */
  lineChars: 400,
  /** Length of a text or regular expression to search for. */
  searchChars: KIB,
  /** Matches that a search leaves out before a page. */
  searchOffset: 1_000_000,
  /** Lines around each match that a search shows, on either side. */
  contextLines: 20,
  /** Depth of the groups of a regular expression. */
  regexDepth: 50,
  /** Instructions of a compiled regular expression. */
  regexSize: 4000,
  /** States of a regular expression's automaton that are kept; beyond it they are made anew. */
  regexStates: 1000,
  /** Steps to make states of one search's automaton: about a second. */
  regexSteps: 3_000_000,
  /** Size of a .gitignore file, and patterns in it, that a search heeds. */
  ignoreBytes: 64 * KIB,
  ignorePatterns: 1000,
  /** Depth of folders that a search enters. */
  folderDepth: 64,
  /** Length of a path. */
  pathChars: 4096,
  /** Symlinks followed while a path is resolved. */
  links: 40,
  /** Length of a glob pattern. */
  globChars: 1024,
  /** Patterns to which the braces of one glob expand. */
  globBranches: 64,
  /** Size of a patch that a tool returns or takes. */
  patchBytes: 512 * KIB,
  /** Files that one patch changes, and that one undo puts back. */
  patchFiles: 256,
  /** How long the former content of changed files is kept, and how much of it; the oldest is removed first. */
  undoMs: 7 * 24 * HOUR_MS,
  undoBytes: 256 * MIB,
  /** Lines added and removed beyond which two texts are not compared. */
  diffLines: 4000,
  /** Line comparisons while a patch is located in a changed file. */
  patchCompares: 5_000_000,
  /** How long an outcome is kept after the brain has it. */
  ledgerMs: 24 * HOUR_MS,
  /** Outcomes kept, regardless of age. */
  ledgerEntries: 100_000,
  /** Ids of evicted actions that are remembered, so that they are refused. */
  evictedEntries: 1_000_000,
  /** Openings that a ledger remembers: an order that was judged in an older one is refused. */
  ledgerOpenings: 10_000,
  /** A larger ledger gets only the fast checks when it is opened. */
  ledgerCheckedBytes: 16 * MIB,
  /** Total size of the whole outputs kept on the hand; the oldest are removed first. */
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

/** Bounds of remote hands and of the register that lists them. */
export const REGISTER_LIMITS = {
  /** Hands in the register of a brain. */
  known: 20_000,
  /** Hands that one run may use. */
  perRun: 100,
  /** Length of a hand selector. */
  selectorChars: 16 * KIB,
  /** Length of the reason why a hand is barred. */
  whyChars: 2000,
  /** Least time for which a disconnected hand stays in the register: as long as a run waits for one. */
  rememberedMs: 24 * HOUR_MS,
  /** How long a hand of a single session stays in the register after it disconnects. */
  visitorMs: 7 * 24 * HOUR_MS,
  /** Hands that execute one command concurrently. */
  atOnce: 16,
  /** A hand's name, and one of its tags. */
  nameChars: 128,
  /** Tags of one hand. */
  tags: 32,
  /** Tools of one hand. */
  tools: 256,
  /** Length of the JSON Schema of one tool, as text. */
  schemaChars: 32 * KIB,
  /** Tools of one hand that only this hand has. */
  ownTools: 64,
  /** Length of the specs of all own tools of a hand together, as text. */
  ownToolsChars: 128 * KIB,
  /** Length of the description of one own tool. */
  wordsChars: KIB,
  /** Length of a hand's workspace path in a prompt. */
  folderChars: 256,
  /** Tool lists cached because several hands may share them. */
  toolLists: 64,
  /** Silence after which either end sends a heartbeat. */
  heartbeatMs: 15 * SECOND_MS,
  /** Heartbeats missed before a link counts as dead [F10, F11]. */
  heartbeatsMissed: 3,
  /** How long a warrant is valid: longer than an order, since the clocks of hosts differ. */
  warrantMs: 10 * MINUTE_MS,
  /** Wait for the judgement of a hand. */
  judgeMs: 30 * SECOND_MS,
  /** How long a hand on another host may take to tell the facts of its host; a run starts without them then. */
  factsMs: 3 * SECOND_MS,
  /** Delay from an order's timeout to giving it up on a live connection: longer than the hand's own delay. */
  overdueMs: 30 * SECOND_MS,
  /** How long a late end of an order is accepted on a live connection: longer than any command may take. */
  endMs: HOUR_MS + 5 * MINUTE_MS,
  /** Late ends of one hand that are kept for the runs that wait for them. */
  lateEnds: 256,
  /** Orders to stop when their hands reconnect. */
  stops: 4096,
  /** Outcomes to acknowledge when their hands reconnect. */
  acknowledgements: 10_000,
  /** Encoded size of one message of a link: `max_payload` of the welcome. */
  messageBytes: MIB,
  /** Up to this size a message beyond `messageBytes` is refused with a reply; a larger one closes the link. */
  readBytes: 2 * MIB,
  /** WebSocket fragments of one message. */
  fragments: 128,
  /** Pending orders of one link. */
  orders: 1024,
  /** First delay before a hand reconnects, doubled each time [004-21]. */
  redialMs: SECOND_MS,
  /** Longest delay before a hand reconnects: a whole fleet is back so long after its brain, or as soon as it can be served. */
  redialCapMs: 30 * SECOND_MS,
  /** Attempts at the first connection [004-21]. */
  firstDials: 5,
  /** Hands that listen and that a brain dials. */
  dialled: 1000,
  /** Size of the PEM certificates that verify a dialled hand. */
  caChars: 64 * KIB,
  /** How long the request to dial a hand waits for the first attempt. */
  firstTryMs: 5 * SECOND_MS,
  /** First delay before a hand that refused the token is dialled again; checking a token is costly for it. */
  refusedMs: MINUTE_MS,
  /** Longest delay before such a hand is dialled again. */
  refusedCapMs: HOUR_MS,
  /** Interval at which a hand detects that its host slept: the age of a message received meanwhile is unknown [F28]. */
  awakeMs: SECOND_MS,
  /** Least time between two writes of when a hand was last seen. */
  seenMs: MINUTE_MS,
  /** Hands or runs that an error names when a name is ambiguous. */
  namedAtMost: 5,
  /** Delay from the close frame to the end of a WebSocket whose peer does not close it. */
  closeMs: 500,
} as const;

/** Bounds of signed HTTP between a brain and its hands [000-53, 000-54]. */
export const SIGNED_HTTP_LIMITS = {
  /** How far the signer's clock may be ahead. */
  skewS: 300,
  /** Longest validity that a signature may state. */
  lifeS: 60,
  /** A nonce: 128 bits as base64, without padding. */
  nonceChars: 22,
  /** The longest nonce. */
  nonceCharsAtMost: 64,
  /** Length of a request target, and of each field of its signature. */
  fieldChars: 1024,
  /** How long a nonce is kept: the whole span of accepted timestamps. */
  nonceMs: 2 * 300 * SECOND_MS,
  /** Expired nonces removed for each new one. */
  noncesRemoved: 4,
  /** Nonces kept by a hand that listens. */
  nonces: 100_000,
  /** Messages that a hand may send at once. */
  burst: 1000,
  /** Time after which one more message is allowed. */
  everyMs: 20,
  /** Delay between two messages with live output only. */
  liveMs: 50,
  /** Size of the root key of a hand. */
  keyBytes: 32,
  /** How long the previous key stays valid after the first use of the next one [000-53]. */
  overlapMs: 24 * HOUR_MS,
  /** Longest wait of a poll. */
  pollMs: 25 * SECOND_MS,
  /** Size of all messages that wait for a hand. */
  outboxBytes: 8 * MIB,
  /** Messages in one request of a hand. */
  messages: 64,
  /** Largest clock offset at which a hand adopts the brain's clock. */
  offsetMs: 24 * HOUR_MS,
  /** Attempts to send a message before the hand says hello again. */
  tries: 3,
  /** Wait for the reply to a notification. */
  replyMs: 30 * SECOND_MS,
} as const;

/** Bounds of executors and of the messages to them [004]. */
export const EXECUTOR_LIMITS = {
  /** Delay from the start of a brain to removing executors that do not reconnect. */
  sweepAfterMs: 5 * SECOND_MS,
  /** Wait for the handshake. */
  handshakeMs: 10 * SECOND_MS,
  /** How long a handshake is kept [004-05]. */
  keptMs: HOUR_MS,
  /** Expired handshakes removed for each new one. */
  removed: 4,
  /** Silence of an executor with a pending order or question after which the wait ends [004-26]. */
  messageMs: 20 * MINUTE_MS,
  /** How long an executor without a ledger may take after a reconnection to report an earlier order. */
  lateMs: 10 * SECOND_MS,
  /** Length of the project description that an executor sends. */
  specChars: 64 * KIB,
  /** Files that the project description lists. */
  specFiles: 1000,
  /** Tool names that an executor lists. */
  knownTools: 256,
  /** Size of one message to an executor: an action to approve is sent in full. */
  toldBytes: 4 * MIB,
  /** Length of the summary at the end of a task. */
  summaryChars: 64 * KIB,
  /** Changed files that the end of a task lists. */
  filesChanged: 1000,
} as const;

/** Bounds of the telemetry of hands. */
export const TELEMETRY_LIMITS = {
  /** How long a sample is kept. */
  keptMs: HOUR_MS,
  /** Samples kept of one hand: one a second for an hour; the oldest are dropped first. */
  samples: 3600,
  /** Length of one sample, as JSON. */
  payloadChars: 4 * KIB,
  /** Memory of a sample besides its text. */
  overheadBytes: 128,
  /** Size of all samples of all hands; the oldest are dropped first. */
  bytes: 64 * MIB,
} as const;

/** Bounds of a policy file. */
export const POLICY_LIMITS = {
  /** Entries of any list in it, rules included. */
  items: 1000,
  /** Length of one text in it. */
  textChars: 4096,
  /** Least memory limit of a command that it may set, in MiB; a shell needs some. */
  memoryMib: 16,
} as const;

/** Bounds of skills. */
export const SKILL_LIMITS = {
  /** Skills of a home, and of a project. */
  skills: 50,
  /** Folders of a project that are looked at for skills; the others are left out. */
  folders: 200,
  /** Characters of a description that a model is told. */
  descriptionChars: 500,
  /** Size of one file of a skill. */
  fileBytes: 64 * KIB,
  /** Beginning of a project's SKILL.md that is read for its name and description. */
  headBytes: 4 * KIB,
  /** Other files of a skill that are named. */
  files: 100,
  /** Length of the path of such a file. */
  pathChars: 1024,
} as const;
