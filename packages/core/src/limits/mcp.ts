import { KIB, MIB, MINUTE_MS, SECOND_MS } from "./units.ts";

/* Limits of the Model Context Protocol (the brain as a server of tools, a hand as a client) and the Agent Client Protocol. */

/** Bounds of the tools that the brain offers to programs. */
export const MCP_LIMITS = {
  /** How long a call waits for its run when it does not say; most clients give up after a minute. */
  waitMs: 45 * SECOND_MS,
  /** How long a call may wait for its run. */
  longestWaitMs: 10 * MINUTE_MS,
  /** Words of a command. */
  commandWords: 256,
  /** Length of one word of a command. */
  wordChars: 8 * KIB,
  /** Length of a message about the progress of a run. */
  progressChars: 400,
  /** Requests of one program on stdio that are under way at once; more are refused. */
  atOnce: 64,
  /** How long a client may keep the list of tools. */
  listedMs: MINUTE_MS,
} as const;

/** Bounds of the servers that a hand mounts. */
export const MOUNT_LIMITS = {
  /** Size of the file that names them. */
  fileBytes: 256 * KIB,
  /** Servers of one hand. */
  servers: 32,
  /** Tools of one server; the others are left out. */
  tools: 128,
  /** Tools of one page of a list that are looked at; the others are left out. */
  listedTools: 1000,
  /** Pages of a list of tools. */
  pages: 16,
  /** Length of the name of a tool as its server has it. */
  nameChars: 128,
  /** Length of a tool's description; the rest is cut. */
  descriptionChars: 4 * KIB,
  /** Size of the schema of a tool; a tool with a larger one is left out. */
  schemaBytes: 64 * KIB,
  /** Size of one message of a server; a larger one ends the connection. */
  messageBytes: 4 * MIB,
  /** Messages of a server in a second beside the answers to requests; more end the connection. */
  unaskedMessages: 1000,
  /** Length of the text of a result; the rest is cut. */
  resultChars: 256 * KIB,
  /** How long a server may take to be ready and to list its tools. */
  openMs: 20 * SECOND_MS,
  /** How long a server may take to answer whether it speaks the newest revision. */
  probeMs: 5 * SECOND_MS,
  /** How long a person may take to sign in at a server. */
  signInMs: 10 * MINUTE_MS,
  /** How long before its end a token is renewed. */
  renewMs: MINUTE_MS,
  /** How often a stream that broke off is gone on with. */
  resumptions: 3,
  /** Longest wait before that, whatever the server asks for. */
  resumeMs: 10 * SECOND_MS,
  /** How long a server may take to end once its input is closed. */
  endMs: 2 * SECOND_MS,
  /** Bytes of what a server writes to stderr that are kept for the message of its fault. */
  stderrBytes: 4 * KIB,
} as const;

/** Bounds of sessions with editors. */
export const ACP_LIMITS = {
  /** Sessions that can be loaded again; the oldest is forgotten first. */
  sessions: 500,
  /** Length of an outcome that an editor is shown; the rest is cut. */
  outputChars: 32 * KIB,
  /** Size of a line of an editor; fits the text of a file and an image of a prompt. A larger line is refused. */
  lineBytes: 32 * MIB,
  /** How long an editor may take to give or to take the text of a file. */
  fileMs: 30 * SECOND_MS,
} as const;
