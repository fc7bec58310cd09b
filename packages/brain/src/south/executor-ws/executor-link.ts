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
import type { HandLink, Hear } from "../link.ts";
import { nonsense } from "../hand-answers.ts";
import { unjudged } from "../fallback-policy.ts";
import type { Memory } from "./order-memory.ts";

/** What a link to an executor stands on. */
export interface ExecutorWire {
  /** Sends a message, or drops it when the connection is gone: then the link is told so, too. */
  readonly send: (message: ExecutorMessage) => void;
  /** Says why, and hangs up. */
  readonly hangUp: (why: FaultReport) => void;
  readonly tools: readonly ToolSpec[];
  readonly extensions: ReadonlySet<Extension>;
  /** Orders that the executor says it is still at. */
  readonly open: ReadonlySet<string>;
  readonly memory: Memory;
  /** Whether a run is the executor's own task; runs of others may use it as well. */
  readonly isOwn: (run: string) => boolean;
  /** An end is kept that nobody waited for. */
  readonly late: () => void;
  /** The turn of the loop that an action belongs to; it resolves as soon as the journal shows the action. */
  readonly generation: (run: string, action: string) => Promise<string>;
  /** Shorter times than those of EXECUTOR, for tests. */
  readonly bounds: { readonly messageMs: number; readonly lateMs: number };
}

interface Waiting {
  readonly hear: Hear;
  readonly resolve: (ended: ActionEnd) => void;
  readonly reject: (fault: Fault) => void;
  /** Something was heard of the order. */
  readonly heard: () => void;
}

/** One connection of an executor as the brain's way to its tools. */
export class ExecutorLink implements HandLink {
  readonly #wire: ExecutorWire;
  readonly #waiting = new Map<string, Waiting>();
  readonly #judging = new Map<string, PromiseWithResolvers<Judgement | FaultReport>>();
  readonly #opened = Promise.withResolvers<number>();
  #gone = false;

  constructor(wire: ExecutorWire) {
    this.#wire = wire;
    this.#opened.promise.catch(() => undefined);
  }

  /** The handshake is answered: orders may go out, each with the epoch of the connection. */
  open(epoch: number): void {
    this.#opened.resolve(epoch);
  }

  /** The connection is gone: whoever waits is told so. */
  drop(): void {
    this.#gone = true;
    this.#opened.reject(lost());
    for (const { reject } of this.#waiting.values()) reject(lost());
    for (const { reject } of this.#judging.values()) reject(lost());
    this.#waiting.clear();
    this.#judging.clear();
  }

  async judge(action: Action): Promise<Judgement | FaultReport> {
    if (this.#gone) throw lost();
    if (!this.#wire.extensions.has("judge")) return unjudged(action, this.#wire.tools);
    const message = judgeToolMessage(action);
    if (!fits(message)) return tooLarge();
    await this.#opened.promise;
    const judging = Promise.withResolvers<Judgement | FaultReport>();
    this.#judging.set(action.id, judging);
    this.#wire.send(message);
    const late = setTimeout(
      () => judging.reject(away("It did not say in time what it would do.")),
      REGISTER_LIMITS.judgeMs,
    );
    return judging.promise.finally(() => {
      clearTimeout(late);
      this.#judging.delete(action.id);
    });
  }

  async perform(order: Order, hear: Hear, signal: AbortSignal): Promise<ActionEnd> {
    const { action } = order;
    const { memory } = this.#wire;
    const early = memory.take(action.id);
    if (early !== undefined) return early;
    if (this.#gone) throw lost();
    if (this.#waiting.size >= REGISTER_LIMITS.orders) throw away(`It has ${REGISTER_LIMITS.orders} orders already.`);
    const { promise, resolve, reject } = Promise.withResolvers<ActionEnd>();
    // Who has lost the link before anybody listens is told by what follows.
    promise.catch(() => undefined);
    const silence = new Silence(this.#patience(action), () => resolve(this.#silent(action)));
    this.#waiting.get(action.id)?.reject(away("The same was ordered again."));
    const mine = { hear, resolve, reject, heard: () => silence.restart() };
    this.#waiting.set(action.id, mine);
    const cancel = (): void => this.#cancel(action, resolve);
    signal.addEventListener("abort", cancel, { once: true });
    try {
      await this.#give(signal.aborted ? recallOf(order) : order, silence);
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

  /** An end came; one that nobody waits for is kept for who asks. */
  result(payload: JsonObject): void {
    const action = textOrEmpty(payload, "tool_id");
    const said = endOfToolResult(payload);
    // An executor without a ledger gets an order that must not be repeated only once: its end is the action's.
    const isOnly = said.type === "failed" && !this.#wire.extensions.has("ledger");
    const ended: ActionEnd = isOnly ? { ...said, settled: true } : said;
    const waiting = this.#waiting.get(action);
    if (waiting !== undefined) return waiting.resolve(ended);
    if (!this.#wire.memory.wasGiven(action) && !this.#wire.open.has(action)) return;
    this.#wire.memory.keep(action, ended);
    this.#wire.late();
  }

  /** Live output came. */
  output(payload: JsonObject): void {
    const waiting = this.#waiting.get(textOrEmpty(payload, "tool_id"));
    waiting?.heard();
    waiting?.hear(payload["stream"] === "stderr" ? "stderr" : "stdout", textOrEmpty(payload, "chunk"));
  }

  /** A judgement came that was asked for, which has passed its schema or not. */
  judged(payload: JsonObject, misfit: string | undefined): void {
    const judged = misfit === undefined ? readJudgement(payload) : nonsense(misfit);
    this.#judging.get(textOrEmpty(payload, "tool_id"))?.resolve(judged);
  }

  /** Sends the order, unless an executor that keeps no ledger may have it already: that one must not do it twice. */
  async #give(order: Order, silence: Silence): Promise<void> {
    const { id } = order.action;
    const { memory, extensions, tools, open, bounds } = this.#wire;
    const isRepeatable = extensions.has("ledger") || isIdempotent(order.action, tools);
    // What an earlier brain ordered is known only of the executor's own task; of other runs it has to be feared.
    const mayHaveIt = memory.wasGiven(id) || (order.epoch > 1 && !this.#wire.isOwn(order.run));
    if (open.has(id)) return silence.restart();
    if (isRecall(order) && !extensions.has("ledger")) return this.#waiting.get(id)?.resolve(this.#silent(order.action));
    if (mayHaveIt && !isRepeatable) return silence.restart(bounds.lateMs);
    const epoch = await this.#opened.promise;
    const message = runToolMessage(order, {
      generation: await this.#wire.generation(order.run, id),
      sessionEpoch: epoch,
    });
    if (!fits(message)) return this.#waiting.get(id)?.resolve({ type: "failed", fault: tooLarge() });
    memory.gives(id);
    silence.restart();
    this.#wire.send(message);
  }

  #patience(action: Action): number {
    return Math.max(this.#wire.bounds.messageMs, timeoutOf(action) + HAND_LIMITS.graceMs);
  }

  #cancel({ id }: Action, resolve: (ended: ActionEnd) => void): void {
    if (this.#wire.extensions.has("cancel")) return this.#wire.send({ type: "cancel_tool", payload: { tool_id: id } });
    const fault = new Fault("OUTCOME_UNKNOWN", "It was aborted here; this executor cannot be told to stop.");
    resolve({ type: "unknown", fault: fault.report() });
  }

  #silent(action: Action): ActionEnd {
    const why = "The executor got the order and never said how it ended.";
    if (isIdempotent(action, this.#wire.tools))
      return { type: "failed", fault: new Fault("TOOL_FAILED", why).report() };
    return { type: "unknown", fault: new Fault("OUTCOME_UNKNOWN", why).report() };
  }
}

/** Does something when nothing was heard for too long. */
class Silence {
  readonly #usualMs: number;
  readonly #tooLong: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(usualMs: number, tooLong: () => void) {
    this.#usualMs = usualMs;
    this.#tooLong = tooLong;
  }

  restart(ms = this.#usualMs): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#tooLong, ms);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

function tooLarge(): FaultReport {
  const most = `an executor takes messages of at most ${REGISTER_LIMITS.messageBytes} bytes`;
  return new Fault("PAYLOAD_TOO_LARGE", `The call is too long: ${most}. Do it in parts.`).report();
}

function lost(): Fault {
  return away("The connection to it is lost.");
}

function away(why: string): Fault {
  return new Fault("HAND_UNAVAILABLE", `The executor cannot be reached. ${why}`);
}
