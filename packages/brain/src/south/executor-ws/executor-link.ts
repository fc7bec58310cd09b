import { Fault, HAND_LIMITS, REGISTER_LIMITS } from "@vidro/core";
import { isIdempotent, isRecall, recallOf, timeoutOf } from "@vidro/core/run";
import type { Action, ActionEnd, FaultReport, JsonObject, Judgement, Order, ToolSpec } from "@vidro/core";
import {
  endOfToolResult,
  fits,
  readJudgement,
  judgeToolMessage,
  runToolMessage,
  textOrEmpty,
} from "@vidro/core/wire/executor-ws";
import type { Extension, ExecutorMessage } from "@vidro/core/wire/executor-ws";
import type { HandLink, OutputSink } from "../link.ts";
import { malformedAnswer } from "../hand-answers.ts";
import { fallbackJudgement } from "../fallback-policy.ts";
import type { OrderMemory } from "./order-memory.ts";

/** The parts of a connection that a link to an executor uses. */
export interface ExecutorLinkOptions {
  /** Sends a message; drops it when the connection is gone, of which drop() tells the link. */
  readonly send: (message: ExecutorMessage) => void;
  /** Sends a fault and closes the connection. */
  readonly hangUp: (why: FaultReport) => void;
  readonly tools: readonly ToolSpec[];
  readonly extensions: ReadonlySet<Extension>;
  /** Actions that the executor says are still running. */
  readonly openActions: ReadonlySet<string>;
  readonly memory: OrderMemory;
  /** Whether a run is the executor's own task; other runs may use it as a hand, too. */
  readonly isOwnRun: (run: string) => boolean;
  /** Called when an end is kept that no order waited for. */
  readonly onLateEnd: () => void;
  /** The id of the step that an action belongs to; resolves as soon as the journal has the action. */
  readonly generation: (run: string, action: string) => Promise<string>;
  /** Shorter times than those of EXECUTOR_LIMITS, for tests. */
  readonly bounds: { readonly messageMs: number; readonly lateMs: number };
}

interface PendingOrder {
  readonly hear: OutputSink;
  readonly resolve: (ended: ActionEnd) => void;
  readonly reject: (fault: Fault) => void;
  /** A sign of life of the order: restarts its silence timer. */
  readonly onSign: () => void;
}

/** One connection of an executor as a link to its tools. */
export class ExecutorLink implements HandLink {
  readonly #wire: ExecutorLinkOptions;
  readonly #waiting = new Map<string, PendingOrder>();
  readonly #judging = new Map<string, PromiseWithResolvers<Judgement | FaultReport>>();
  readonly #opened = Promise.withResolvers<number>();
  #gone = false;

  constructor(wire: ExecutorLinkOptions) {
    this.#wire = wire;
    this.#opened.promise.catch(() => undefined);
  }

  /** Lets orders out, each with the epoch of the connection: called when the handshake has been answered. */
  open(epoch: number): void {
    this.#opened.resolve(epoch);
  }

  /** The connection is gone: rejects every pending call. */
  drop(): void {
    this.#gone = true;
    this.#opened.reject(lostConnection());
    for (const { reject } of this.#waiting.values()) reject(lostConnection());
    for (const { reject } of this.#judging.values()) reject(lostConnection());
    this.#waiting.clear();
    this.#judging.clear();
  }

  async judge(action: Action): Promise<Judgement | FaultReport> {
    if (this.#gone) throw lostConnection();
    if (!this.#wire.extensions.has("judge")) return fallbackJudgement(action, this.#wire.tools);
    const message = judgeToolMessage(action);
    if (!fits(message)) return tooLarge();
    await this.#opened.promise;
    const judging = Promise.withResolvers<Judgement | FaultReport>();
    this.#judging.set(action.id, judging);
    this.#wire.send(message);
    const late = setTimeout(
      () => judging.reject(away("It did not judge the action in time.")),
      REGISTER_LIMITS.judgeMs,
    );
    return judging.promise.finally(() => {
      clearTimeout(late);
      this.#judging.delete(action.id);
    });
  }

  async perform(order: Order, hear: OutputSink, signal: AbortSignal): Promise<ActionEnd> {
    const { action } = order;
    const { memory } = this.#wire;
    const early = memory.takeEnd(action.id);
    if (early !== undefined) return early;
    if (this.#gone) throw lostConnection();
    if (this.#waiting.size >= REGISTER_LIMITS.orders) throw away(`It has ${REGISTER_LIMITS.orders} orders already.`);
    const { promise, resolve, reject } = Promise.withResolvers<ActionEnd>();
    // A rejection before the `await` below is not unhandled.
    promise.catch(() => undefined);
    const silence = new SilenceTimer(this.#timeoutOf(action), () => resolve(this.#endOfSilence(action)));
    this.#waiting.get(action.id)?.reject(away("The action was ordered again."));
    const mine = { hear, resolve, reject, onSign: () => silence.restart() };
    this.#waiting.set(action.id, mine);
    const cancel = (): void => this.#cancel(action, resolve);
    signal.addEventListener("abort", cancel, { once: true });
    try {
      await this.#send(signal.aborted ? recallOf(order) : order, silence);
      if (signal.aborted) cancel();
      return await promise;
    } finally {
      silence.end();
      signal.removeEventListener("abort", cancel);
      if (this.#waiting.get(action.id) === mine) this.#waiting.delete(action.id);
    }
  }

  acknowledge(action: string): void {
    this.#wire.memory.forget(action);
    if (this.#wire.extensions.has("ledger"))
      this.#wire.send({ type: "tool_acknowledged", payload: { tool_id: action } });
  }

  close(why: FaultReport): void {
    this.#wire.hangUp(why);
    this.drop();
  }

  /** A result came; one that no order waits for is kept for the next order of the action. */
  takeResult(payload: JsonObject): void {
    const action = textOrEmpty(payload, "tool_id");
    const received = endOfToolResult(payload);
    // An executor without a ledger gets such an order only once, so that the end of the order is that of the action.
    const isOnly = received.type === "failed" && !this.#wire.extensions.has("ledger");
    const ended: ActionEnd = isOnly ? { ...received, settled: true } : received;
    const waiting = this.#waiting.get(action);
    if (waiting !== undefined) return waiting.resolve(ended);
    if (!this.#wire.memory.wasGiven(action) && !this.#wire.openActions.has(action)) return;
    this.#wire.memory.keepEnd(action, ended);
    this.#wire.onLateEnd();
  }

  /** Live output of an action came. */
  takeOutput(payload: JsonObject): void {
    const waiting = this.#waiting.get(textOrEmpty(payload, "tool_id"));
    waiting?.onSign();
    waiting?.hear(payload["stream"] === "stderr" ? "stderr" : "stdout", textOrEmpty(payload, "chunk"));
  }

  /** A judgement came; `misfit` says what its schema refuses about it, if so. */
  takeJudgement(payload: JsonObject, misfit: string | undefined): void {
    const judgement = misfit === undefined ? readJudgement(payload) : malformedAnswer(misfit);
    this.#judging.get(textOrEmpty(payload, "tool_id"))?.resolve(judgement);
  }

  /** Sends the order, unless an executor without a ledger may have received it: that one would carry it out twice. */
  async #send(order: Order, silence: SilenceTimer): Promise<void> {
    const { id } = order.action;
    const { memory, extensions, tools, openActions: open, bounds } = this.#wire;
    const isRepeatable = extensions.has("ledger") || isIdempotent(order.action, tools);
    // Only for the executor's own task is it known what an earlier brain process ordered; for other runs it is assumed.
    const mayHaveIt = memory.wasGiven(id) || (order.epoch > 1 && !this.#wire.isOwnRun(order.run));
    if (open.has(id)) return silence.restart();
    if (isRecall(order) && !extensions.has("ledger"))
      return this.#waiting.get(id)?.resolve(this.#endOfSilence(order.action));
    if (mayHaveIt && !isRepeatable) return silence.restart(bounds.lateMs);
    const epoch = await this.#opened.promise;
    const { traceparent: _, ...plain } = order;
    const message = runToolMessage(extensions.has("trace") ? order : plain, {
      generation: await this.#wire.generation(order.run, id),
      sessionEpoch: epoch,
    });
    if (!fits(message)) return this.#waiting.get(id)?.resolve({ type: "failed", fault: tooLarge() });
    memory.markGiven(id);
    silence.restart();
    this.#wire.send(message);
  }

  #timeoutOf(action: Action): number {
    return Math.max(this.#wire.bounds.messageMs, timeoutOf(action) + HAND_LIMITS.graceMs);
  }

  #cancel({ id }: Action, resolve: (ended: ActionEnd) => void): void {
    if (this.#wire.extensions.has("cancel")) return this.#wire.send({ type: "cancel_tool", payload: { tool_id: id } });
    const fault = new Fault("OUTCOME_UNKNOWN", "The action was aborted here; this executor has no way to cancel it.");
    resolve({ type: "unknown", fault: fault.report() });
  }

  #endOfSilence(action: Action): ActionEnd {
    const why = "The executor got the order and sent no result.";
    if (isIdempotent(action, this.#wire.tools))
      return { type: "failed", fault: new Fault("TOOL_FAILED", why).report() };
    return { type: "unknown", fault: new Fault("OUTCOME_UNKNOWN", why).report() };
  }
}

/** Calls back when it was not restarted for too long. */
class SilenceTimer {
  readonly #usualMs: number;
  readonly #onSilence: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(usualMs: number, onSilence: () => void) {
    this.#usualMs = usualMs;
    this.#onSilence = onSilence;
  }

  restart(ms = this.#usualMs): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#onSilence, ms);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

function tooLarge(): FaultReport {
  const limit = `an executor takes messages of at most ${REGISTER_LIMITS.messageBytes} bytes`;
  return new Fault("PAYLOAD_TOO_LARGE", `The call is too long: ${limit}. Do it in parts.`).report();
}

function lostConnection(): Fault {
  return away("The connection to it is lost.");
}

function away(why: string): Fault {
  return new Fault("HAND_UNAVAILABLE", `The executor cannot be reached. ${why}`);
}
