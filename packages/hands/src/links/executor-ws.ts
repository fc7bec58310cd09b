import { asFault, Fault, REGISTER_LIMITS } from "@vidro/core";
import type { ActionEnd, Hand, JsonObject, ReasoningEffort } from "@vidro/core";
import {
  actionOfCall,
  EXTENSIONS,
  orderOfMessage,
  textOrEmpty,
  toolJudgementMessage,
  toolResultMessage,
  wireName,
} from "@vidro/core/wire/executor-ws";
import type { CustomTool, ExecutorMessage, Handshake, HandshakeAck } from "@vidro/core/wire/executor-ws";
import { BRAIN_MESSAGE_SCHEMAS } from "@vidro/core/wire/executor-ws-schemas";
import { explainMismatch } from "@vidro/core/wire/schema-check";
import type { SchemaValidator } from "@vidro/core/wire/schema-check";
import { loadSchemaCompiler } from "../schema-compiler.ts";
import { keepConnected } from "./redial.ts";
import type { RedialOptions } from "./redial.ts";
import { BrainSocket } from "./executor-ws/brain-socket.ts";
import { INITIAL_EXECUTOR_STATE, reduceExecutor } from "./executor-ws/executor-state.ts";
import type { ExecutorEvent, ExecutorState } from "./executor-ws/executor-state.ts";
import { sleepDetector } from "./sleep-detector.ts";

/** Settings of an executor. */
export interface ExecutorOptions {
  /** The brain, as http or https. */
  readonly url: string;
  readonly token?: string;
  /** Carries out the brain's orders. */
  readonly hand: Hand;
  /** The task; a task id that only this executor knows begins at most one run. */
  readonly task: { readonly id: string; readonly prompt?: string };
  /** What the model is told of the project before the task, and the files that it comes from. */
  readonly project?: NonNullable<Handshake["project_spec"]>;
  /** The model that decides; the brain's choice when left out. */
  readonly model?: string;
  /** How long the model thinks. */
  readonly effort?: ReasoningEffort;
  /** An ended run whose conversation the task goes on with. */
  readonly continues?: string | undefined;
  readonly name: string;
  readonly version: string;
  /** Called with each event and the state after it. */
  readonly watch?: (event: ExecutorEvent, state: ExecutorState) => void;
  readonly heartbeatMs?: number;
  readonly redialling?: Pick<RedialOptions<BrainSocket>, "chance" | "bounds">;
}

const compiled = new Map<string, SchemaValidator>();

/** An executor of 004: dials a brain, offers a hand's tools, carries out orders, and reconnects after a cut. */
export class Executor {
  /** The brain's reply to the first handshake; rejects if the brain refuses. */
  readonly joined: Promise<HandshakeAck>;
  /** Resolves when the executor was closed; rejects with a fault that retrying cannot cure. */
  readonly over: Promise<void>;
  readonly #options: ExecutorOptions;
  readonly #ending = new AbortController();
  readonly #aborts = new Map<string, AbortController>();
  readonly #sleep = sleepDetector();
  readonly #joining = Promise.withResolvers<HandshakeAck>();
  #state: ExecutorState = INITIAL_EXECUTOR_STATE;
  #socket: BrainSocket | undefined;

  constructor(options: ExecutorOptions) {
    this.#options = options;
    this.joined = this.#joining.promise;
    this.over = keepConnected({
      ...options.redialling,
      dial: () => this.#dial(),
      signal: this.#ending.signal,
      down: (why) => this.#dispatch({ type: "CONNECTION_ERROR", error: why.message }),
    });
    this.over.catch((thrown: unknown) => this.#joining.reject(asFault(thrown)));
    this.joined.catch(() => undefined);
  }

  /** The current state. */
  get state(): ExecutorState {
    return this.#state;
  }

  /** Closes the connection and stops dialling; running actions are left to the hand. */
  async close(): Promise<void> {
    this.#ending.abort();
    this.#joining.reject(new Fault("SHUTTING_DOWN", "The executor was closed."));
    this.#socket?.close();
    await this.over.catch(() => undefined);
  }

  /** Connects and shakes hands; messages before the handshake reply are ignored. */
  async #dial(): Promise<BrainSocket> {
    const acked = Promise.withResolvers<HandshakeAck>();
    acked.promise.catch(() => undefined);
    let isIn = false;
    const { url, token, heartbeatMs = REGISTER_LIMITS.heartbeatMs } = this.#options;
    const socket = await BrainSocket.open({
      url: addressOf(url, this.#options.task.id),
      token,
      heartbeatMs,
      signal: this.#ending.signal,
      take: (message) => {
        if (isIn) return this.#take(message);
        isIn = message.type === "handshake_ack";
        if (isIn) this.#takeWelcome(socket, message.payload as unknown as HandshakeAck, acked.resolve);
      },
    });
    if (this.#ending.signal.aborted) socket.close();
    void socket.gone.then((why) => acked.reject(why));
    socket.send({ type: "handshake", payload: this.#handshake() as unknown as JsonObject });
    await acked.promise;
    return socket;
  }

  #takeWelcome(socket: BrainSocket, ack: HandshakeAck, resolve: (ack: HandshakeAck) => void): void {
    const isBack = this.#state.ack !== undefined;
    this.#socket = socket;
    this.#dispatch({ type: "HANDSHAKE_ACKED", ack });
    if (isBack) this.#dispatch({ type: "CONNECTION_RESTORED" });
    // Results that ended without a connection are sent now [004-25].
    for (const result of this.#state.results.values()) socket.send(result);
    this.#joining.resolve(ack);
    resolve(ack);
  }

  #handshake(): Handshake {
    const { hand, name, version, task, project, model, effort, continues } = this.#options;
    const { ack, lastSeq, running } = this.#state;
    const known = hand.tools.filter((tool) => wireName(tool.name) !== tool.name);
    const own = hand.tools.filter((tool) => wireName(tool.name) === tool.name);
    return {
      client_type: "cli",
      client_version: version,
      ...(task.prompt === undefined ? {} : { initial_prompt: task.prompt }),
      ...(project === undefined ? {} : { project_spec: project }),
      ...(model === undefined ? {} : { model }),
      ...(effort === undefined ? {} : { effort }),
      ...(continues === undefined ? {} : { continues_run: continues }),
      known_tools: known.map((tool) => wireName(tool.name)),
      custom_tools: own.map(({ name: tool, description, parameters, idempotent, effect }): CustomTool => {
        return { name: tool, description, parameters, idempotent, ...(effect === undefined ? {} : { effect }) };
      }),
      ...(ack === undefined ? {} : { resume: { session_id: ack.session_id, last_seq: lastSeq } }),
      open_actions: running,
      name,
      working_directory: hand.workspace,
      extensions: EXTENSIONS,
    };
  }

  #take({ type, payload, seq }: ExecutorMessage): void {
    if (seq !== undefined) this.#dispatch({ type: "RUN_TOLD", seq });
    if (type === "task_completed")
      return this.#dispatch({ type: "TASK_COMPLETED", final: textOrEmpty(payload, "final_status") });
    // Other messages only show the run and need no action here.
    if (!Object.hasOwn(BRAIN_MESSAGE_SCHEMAS, type)) return;
    this.#obey(type, payload).catch((thrown: unknown) => this.#refuse(type, payload, asFault(thrown)));
  }

  async #obey(type: string, payload: JsonObject): Promise<void> {
    await checkPayload(type, payload);
    const { hand } = this.#options;
    const tool = textOrEmpty(payload, "tool_id");
    switch (type) {
      case "judge_tool":
        return void this.#socket?.send(toolJudgementMessage(tool, await hand.judge(actionOfCall(payload))));
      case "cancel_tool":
        return this.#aborts.get(tool)?.abort();
      case "tool_acknowledged":
        this.#dispatch({ type: "RESULT_ACKNOWLEDGED", tool });
        return hand.acknowledge(tool);
      default:
        return this.#run(tool, payload);
    }
  }

  async #run(tool: string, payload: JsonObject): Promise<void> {
    const { ack } = this.#state;
    if (Number(payload["session_epoch"] ?? Infinity) < (ack?.session_epoch ?? 0)) throw new Fault("STALE_EPOCH");
    // A repeated order for a running action waits for the same end.
    if (this.#state.running.includes(tool)) return;
    const order = this.#sleep.subtractSleep(orderOfMessage(payload));
    const startedAt = performance.now();
    const abort = new AbortController();
    this.#aborts.set(tool, abort);
    this.#dispatch({ type: "TOOL_BEGUN", tool });
    let seq = 0;
    for await (const event of this.#options.hand.perform(order, abort.signal)) {
      if (event.type !== "output") return this.#sendEnd(payload, event, performance.now() - startedAt);
      const { stream, chunk } = event;
      this.#socket?.sendLive({ type: "tool_output", payload: { tool_id: tool, seq: seq++, stream, chunk } });
    }
  }

  #sendEnd(payload: JsonObject, ended: ActionEnd, tookMs: number): void {
    const tool = textOrEmpty(payload, "tool_id");
    this.#aborts.delete(tool);
    const place = {
      tool_id: tool,
      generation_id: textOrEmpty(payload, "generation_id"),
      duration_ms: Math.round(tookMs),
    };
    const result = toolResultMessage(ended, place, this.#state.ack?.policy?.max_payload);
    this.#dispatch({ type: "TOOL_ENDED", tool, result });
    this.#socket?.send(result);
  }

  /** Answers a message that cannot be carried out. */
  #refuse(type: string, payload: JsonObject, fault: Fault): void {
    const tool = textOrEmpty(payload, "tool_id");
    if (type === "run_tool") this.#sendEnd(payload, { type: "failed", fault: fault.report() }, 0);
    else if (type === "judge_tool") this.#socket?.send(toolJudgementMessage(tool, fault.report()));
  }

  #dispatch(event: ExecutorEvent): void {
    this.#state = reduceExecutor(this.#state, event);
    this.#options.watch?.(event, this.#state);
  }
}

async function checkPayload(type: string, payload: JsonObject): Promise<void> {
  const validate = compiled.get(type) ?? (await loadSchemaCompiler()).compile(BRAIN_MESSAGE_SCHEMAS[type] ?? {});
  compiled.set(type, validate);
  const mismatch = explainMismatch(validate, payload, "the message");
  if (mismatch !== undefined) throw new Fault("BAD_REQUEST", `${type}: ${mismatch}.`);
}

/** The WebSocket address of a task at a brain. */
function addressOf(url: string, task: string): string {
  const base = new URL(url.endsWith("/") ? url : `${url}/`);
  base.protocol = base.protocol === "https:" ? "wss:" : "ws:";
  return new URL(`ws/tasks/${encodeURIComponent(task)}`, base).href;
}
