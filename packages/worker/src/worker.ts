import { asFault, Fault } from "@vidro/core";
import type { FaultReport, JsonObject } from "@vidro/core";
import { WORKER_EXTENSIONS } from "@vidro/core/wire/worker";
import type { WorkerRequest } from "@vidro/core/wire/worker";
import type { Engine } from "./engine/engine.ts";
import { actionGrammar } from "./grammar/action-grammar.ts";
import { extendConversation, WorkerSessions } from "./sessions.ts";
import type { WorkerSession } from "./sessions.ts";
import { TurnQueue } from "./turn-queue.ts";

/** The connection that a request came from. */
export interface WorkerClient {
  /** Aborted when the connection is gone. */
  readonly signal: AbortSignal;
  /** Sends one line. */
  send(line: JsonObject): void;
}

type RequestOf<Type extends WorkerRequest["type"]> = Extract<WorkerRequest, { readonly type: Type }>;

/** One generation while it runs. */
interface RunningGeneration {
  readonly engine: Engine;
  readonly session: WorkerSession;
  readonly client: WorkerClient;
  readonly signal: AbortSignal;
}

/** Carries out the requests of all connections with one engine. */
export class Worker {
  readonly #sessions = new WorkerSessions(Date.now);
  #engine: Engine | undefined;
  #queue: TurnQueue | undefined;

  /** Gives the worker its engine; until then it says that it loads. */
  begin(engine: Engine): void {
    this.#engine = engine;
    this.#queue = new TurnQueue(engine.slots);
  }

  /** Carries out one request; every failure is answered. */
  async perform(request: WorkerRequest, client: WorkerClient): Promise<void> {
    const id = request.id === undefined ? {} : { id: request.id };
    try {
      if (request.type === "generate") await this.#generate(request, client);
      else client.send({ ok: true, ...this.#answer(request), ...id });
    } catch (thrown) {
      client.send({ ...refusal(asFault(thrown).report(), request), ...id });
    }
  }

  /** Ends every generation. */
  close(): void {
    this.#sessions.abortAll();
  }

  #answer(request: Exclude<WorkerRequest, RequestOf<"generate">>): JsonObject {
    switch (request.type) {
      case "status": {
        const info = { ...this.#engine?.info, extensions: WORKER_EXTENSIONS };
        const status = this.#engine === undefined ? "loading" : "running";
        return { status, model_info: info, sessions: this.#sessions.size };
      }
      case "create_session": {
        const { tools, isToolRequired } = request.params;
        const engine = this.#ready();
        const form = tools.length === 0 ? undefined : engine.makeForm(actionGrammar(tools, isToolRequired));
        return { session_id: this.#sessions.create(request.params, form).id };
      }
      case "abort":
        this.#sessions.find(request.session).generation?.abort();
        return {};
      case "close_session":
        this.#sessions.close(request.session);
        return {};
    }
  }

  async #generate(request: RequestOf<"generate">, client: WorkerClient): Promise<void> {
    const engine = this.#ready();
    const session = this.#sessions.find(request.session);
    if (session.generation !== undefined)
      throw new Fault("MODEL_RATE_LIMITED", "The session is generating already: wait for its stop, or abort it.");
    const generation = new AbortController();
    session.generation = generation;
    const leave = (): void => generation.abort();
    client.signal.addEventListener("abort", leave, { once: true });
    try {
      await this.#stream(request, { engine, session, client, signal: generation.signal });
    } finally {
      client.signal.removeEventListener("abort", leave);
      this.#sessions.endGeneration(session);
    }
  }

  async #stream(
    { id, prompt, messages, stream }: RequestOf<"generate">,
    { engine, session, client, signal }: RunningGeneration,
  ): Promise<void> {
    const echo = id === undefined ? {} : { id };
    const asked = extendConversation(messages ?? session.messages, { role: "user", content: prompt });
    let text = "";
    const onText = (piece: string): void => {
      if (signal.aborted) return;
      text += piece;
      if (stream) client.send({ type: "token", text: piece, ...echo });
    };
    const form = session.form === undefined ? {} : { form: session.form };
    const work = this.#inSlot(session, signal, (slot) =>
      engine.generate(slot, { messages: asked, params: session.params, ...form, signal, onText }),
    );
    const end = await Promise.race([work, whenAborted(signal)]);
    // The client is told at once; the engine, in its slot, ends with the token that it is at.
    work.catch(() => undefined);
    // What was aborted is not part of the conversation.
    if (end.reason !== "aborted") session.messages = extendConversation(asked, { role: "assistant", content: text });
    client.send(stream ? { type: "stop", ...end, ...echo } : { ok: true, text, ...end, ...echo });
  }

  async #inSlot<Result>(
    session: WorkerSession,
    signal: AbortSignal,
    work: (slot: number) => Promise<Result>,
  ): Promise<Result> {
    const queue = this.#queue!;
    const slot = await queue.take(session.slot, signal);
    session.slot = slot;
    try {
      return await work(slot);
    } finally {
      queue.release(slot);
    }
  }

  #ready(): Engine {
    if (this.#engine === undefined) throw new Fault("MODEL_UNAVAILABLE", "The model is still being loaded.");
    return this.#engine;
  }
}

/** The answer to a request that failed: a reply, and for a stream its last event too [000-22]. */
export function refusal({ code, message }: FaultReport, request?: WorkerRequest): JsonObject {
  const reply = { ok: false, error: message, ...(code === "BAD_REQUEST" ? {} : { code }) };
  return request?.type === "generate" && request.stream ? { type: "error", message, ...reply } : reply;
}

/** Resolves when the signal aborts. */
function whenAborted(signal: AbortSignal): Promise<{ readonly reason: "aborted"; readonly usage?: never }> {
  return new Promise((resolve) => {
    const end = (): void => resolve({ reason: "aborted" });
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}
