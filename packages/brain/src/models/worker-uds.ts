import { createHash } from "node:crypto";
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { Fault, WORKER_LIMITS, isObject } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import type { WorkerLine } from "@vidro/core/wire/worker-lines";
import { WorkerConnection, refusalOf } from "./worker-uds/connection.ts";
import { conversationKey, flatPrompt, sessionParams, workerPrompt } from "./worker-uds/conversation.ts";
import { socketPath } from "./worker-uds/probe.ts";

/* The model of a worker on a Unix socket. It calls no tools: its actions are lines of its text. */

/** The model behind a worker's socket; it connects with each call. */
export function openWorker(url: string): LanguageModelV4 {
  const path = socketPath(url);
  const idle = new Map<string, string>();
  return {
    specificationVersion: "v4",
    provider: "worker",
    modelId: path,
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Fault("INTERNAL_ERROR", "A worker is only streamed.")),
    async doStream({ abortSignal = new AbortController().signal, ...options }) {
      return { stream: ReadableStream.from(answer({ path, idle, signal: abortSignal }, options)) };
    },
  };
}

/** One call of a worker. */
interface WorkerCall {
  readonly path: string;
  /** Sessions that no call uses, by their conversations; the oldest first. */
  readonly idle: Map<string, string>;
  readonly signal: AbortSignal;
}

/** A session for one generation. */
interface CallSession {
  readonly id: string;
  /** Under which the session is kept for the next step; absent when it is closed after this one. */
  readonly key?: string;
  /** Whether a call before this one has used it, so that the worker may have closed it since. */
  readonly isReused: boolean;
}

async function* answer(
  call: WorkerCall,
  options: LanguageModelV4CallOptions,
): AsyncGenerator<LanguageModelV4StreamPart> {
  const connection = await WorkerConnection.open(call.path, call.signal);
  let open: CallSession | undefined;
  try {
    const { extensions } = await knowWorker(connection);
    const params = sessionParams(options, extensions.has("tools"));
    const asked = workerPrompt(options);
    // Any worker takes a prompt; only one that takes messages can reuse what it has evaluated of the conversation.
    const takesMessages = extensions.has("messages");
    const fields = takesMessages ? { ...asked } : { prompt: flatPrompt(asked) };
    const key = takesMessages ? digestOf(conversationKey(params, options.prompt)) : undefined;
    open = await openSession(connection, call.idle, { params, ...(key === undefined ? {} : { key }) });
    yield { type: "stream-start", warnings: [] };
    let first = await startGeneration(connection, open.id, fields);
    if (first.type === "error" && open.isReused) {
      open = await openSession(connection, call.idle, { params, ...(key === undefined ? {} : { key }) });
      first = await startGeneration(connection, open.id, fields);
    }
    yield { type: "text-start", id: "0" };
    const stop = yield* tokens(connection, first);
    const { id } = open;
    const kept = open.key;
    open = undefined;
    await release(connection, call.idle, { id, ...(kept === undefined ? {} : { key: kept }) });
    // With tools the whole text is one action, which is worth nothing in part.
    if (stop["reason"] === "length" && params["tools"] !== undefined)
      throw new Fault("MODEL_CUT", "The worker's action did not fit the largest number of tokens of an answer.");
    yield { type: "text-end", id: "0" };
    yield finishOf(stop);
  } finally {
    connection.close();
    // A generation that was left in the middle goes on in the worker until it is told to stop [000-13].
    if (open !== undefined) void abandon(call.path, open.id);
  }
}

/** What the worker can do beyond the contract. */
async function knowWorker(connection: WorkerConnection): Promise<{ readonly extensions: ReadonlySet<unknown> }> {
  const { status, model_info: info } = await connection.ask({ type: "status" });
  if (status === "loading") throw new Fault("MODEL_UNAVAILABLE", "The worker is still loading its model.");
  const extensions = isObject(info) && Array.isArray(info["extensions"]) ? info["extensions"] : [];
  return { extensions: new Set<unknown>(extensions) };
}

async function openSession(
  connection: WorkerConnection,
  idle: Map<string, string>,
  { params, key }: { readonly params: JsonObject; readonly key?: string },
): Promise<CallSession> {
  const known = key === undefined ? undefined : idle.get(key);
  if (key !== undefined) idle.delete(key);
  const kept = key === undefined ? {} : { key };
  if (known !== undefined) return { id: known, isReused: true, ...kept };
  const { session_id: id } = await connection.ask({ type: "create_session", params });
  if (typeof id === "string" && id !== "") return { id, isReused: false, ...kept };
  throw new Fault("MODEL_RUBBISH", "The worker gave no session_id.");
}

/** Keeps a session for the next step of its conversation, or closes it; closes the oldest beyond the limit. */
async function release(
  connection: WorkerConnection,
  idle: Map<string, string>,
  { id, key }: { readonly id: string; readonly key?: string },
): Promise<void> {
  if (key !== undefined) idle.set(key, id);
  const [oldest] = idle.size > WORKER_LIMITS.idleSessions ? idle.keys() : [];
  const closed = key === undefined ? id : oldest && idle.get(oldest);
  if (oldest !== undefined) idle.delete(oldest);
  if (closed === undefined) return;
  // The answer is whole: a session that is not closed does not spoil it.
  await connection.ask({ type: "close_session", session_id: closed }).catch(() => undefined);
}

/** Starts a generation and gives its first line. */
async function startGeneration(connection: WorkerConnection, session: string, fields: JsonObject): Promise<WorkerLine> {
  connection.send({ type: "generate", session_id: session, stream: true, ...fields });
  return connection.next();
}

/** The words of a generation as they come; returns the fields of its end. */
async function* tokens(
  connection: WorkerConnection,
  first: WorkerLine,
): AsyncGenerator<LanguageModelV4StreamPart, JsonObject> {
  for (let line = first; ; line = await connection.next()) {
    if (line.type === "error") throw refusalOf(line);
    if (line.type === "stop") return line.fields;
    if (line.type === "token") yield { type: "text-delta", id: "0", delta: line.text };
    // A worker that does not stream gives the whole text at once; any other reply confirms the request.
    else if (typeof line.fields["text"] === "string") {
      yield { type: "text-delta", id: "0", delta: line.fields["text"] };
      return line.fields;
    }
  }
}

function finishOf({ reason, usage }: JsonObject): LanguageModelV4StreamPart {
  const counts = isObject(usage) ? usage : {};
  const count = (name: string): number | undefined => {
    const value = counts[name];
    return typeof value === "number" ? value : undefined;
  };
  const raw = typeof reason === "string" ? reason : undefined;
  const unified = raw === "length" ? "length" : raw === "aborted" ? "interrupted" : "stop";
  return {
    type: "finish",
    finishReason: { unified, raw },
    usage: {
      inputTokens: {
        total: count("input_tokens"),
        noCache: undefined,
        cacheRead: count("cached_tokens"),
        cacheWrite: undefined,
      },
      outputTokens: { total: count("output_tokens"), text: undefined, reasoning: undefined },
    },
  };
}

/** Stops a generation by a second connection, and closes its session. */
async function abandon(path: string, session: string): Promise<void> {
  const signal = AbortSignal.timeout(WORKER_LIMITS.abortMs);
  try {
    const connection = await WorkerConnection.open(path, signal);
    for (const type of ["abort", "close_session"]) await connection.ask({ type, session_id: session });
    connection.close();
  } catch {
    // The worker is gone, or takes no requests: there is nothing left to stop.
  }
}

function digestOf(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}
