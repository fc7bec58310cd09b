import { CODEC_LIMITS } from "./wire.ts";
import { KIB, MIB, MINUTE_MS, SECOND_MS } from "./units.ts";

/* Limits of the model worker and of its socket. */

/** Bounds of the worker's socket, at both ends. */
export const WORKER_LIMITS = {
  /** Size of a line. */
  lineBytes: CODEC_LIMITS.lineBytes,
  /** Wait for a connection to the worker. */
  connectMs: 5 * SECOND_MS,
  /** Wait for the answer to a request that generates nothing [000-23]. */
  answerMs: 30 * SECOND_MS,
  /** Wait for a worker that is looked for on this machine. */
  probeMs: 300,
  /** Wait for the answer to an abort. */
  abortMs: SECOND_MS,
  /** Idle sessions that the brain keeps open for the next step of a run; the oldest is closed first. */
  idleSessions: 16,
  /** Length of an error text of the worker. */
  errorChars: 1000,
  /** Open connections of a worker; more are closed at once. */
  connections: 64,
  /** Sessions of a worker; with one more, the one that was idle for longest is closed. */
  sessions: 64,
  /** How long a session may be idle before it is closed. */
  idleMs: 30 * MINUTE_MS,
  /** Generations that wait for their turn; one more is refused. */
  waiting: 64,
  /** Generations at the same time, each with its own context. */
  slots: 2,
  /** Messages of one conversation. */
  messages: 2048,
  /** Length of a conversation that a session keeps; beyond it the oldest messages are dropped. */
  conversationChars: MIB,
  /** Tools of a session. */
  tools: 256,
  /** Length of a grammar that is made of the tools' schemas. */
  grammarChars: 512 * KIB,
  /** Nesting depth of a schema that a grammar follows; what lies deeper may be any JSON. */
  schemaDepth: 8,
  /** Optional fields of an object without required ones that a grammar follows; with more it may be any object. */
  optionalFields: 32,
  /** Items of an array that a grammar allows. */
  arrayItems: 64,
  /** Requests of one connection that wait behind its generation; beyond it no more is read from the connection. */
  pendingRequests: 64,
  /** Unsent bytes of a connection beyond which it is closed. */
  unsentBytes: 4 * MIB,
  /** Tokens of the context of a slot, where the model allows so many. */
  contextTokens: 8192,
  /** Tokens of an answer when a session names no limit. */
  answerTokens: 2048,
  /** Memory that is left to the other programs of the machine when a model is loaded. */
  spareBytes: 64 * MIB,
  /** Wait for npm to install the engine. */
  installMs: 10 * MINUTE_MS,
  /** Wait for the engine to end at shutdown. */
  closeMs: 5 * SECOND_MS,
} as const;
