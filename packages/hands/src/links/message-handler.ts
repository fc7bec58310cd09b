import { asFault, Fault, REGISTER_LIMITS, textIn } from "@vidro/core";
import type { Action, ActionEnd, FaultReport, Hand, JsonObject, Judgement, SpoolPart } from "@vidro/core";
import {
  bytesOf,
  endReply,
  fitReply,
  actionToJudge,
  openEnvelope,
  orderOfRequest,
  outputParts,
  endReplyWithReceipt,
} from "@vidro/core/wire/agent-ws";
import type { HelloPolicy, AgentRequest } from "@vidro/core/wire/agent-ws";
import { checkApproval } from "../enrol/brain-key.ts";
import type { BrainKey } from "../enrol/brain-key.ts";
import { checkMessage } from "./message-check.ts";
import { sleepDetector } from "./sleep-detector.ts";

/** Settings of a message handler. */
interface MessageHandlerOptions {
  readonly hand: Hand;
  /** Methods that this hand has declared; others are refused [000-44]. */
  readonly capabilities: readonly string[];
  /** Sends a message; returns false if there is no connection. */
  readonly send: (message: JsonObject) => boolean;
}

/** The terms of a session from the brain's reply to hello. */
interface SessionTerms {
  readonly policy: HelloPolicy;
  readonly session_epoch?: number;
  readonly receipts?: boolean;
}

/** Carries out a brain's messages for a hand, independent of the transport. */
export class MessageHandler {
  readonly #options: MessageHandlerOptions;
  /** Replies that could not be sent while there was no connection, by action. */
  readonly #unsent = new Map<string, JsonObject>();
  /** Stops the orders under way, by action; a repeated order may end before the first one. */
  readonly #running = new Map<string, Set<AbortController>>();
  readonly #sleep = sleepDetector();
  #policy: HelloPolicy | undefined;
  #epoch = 0;
  #brain: BrainKey | undefined;
  /** Encodes an end for the connected brain. */
  #replyOf = endReply;

  constructor(options: MessageHandlerOptions) {
    this.#options = options;
  }

  /**
   * Starts a session after the brain's reply to hello, and sends the replies that waited for a connection [004-25].
   * Approvals must be signed with the given key; without a key, none is accepted.
   */
  startSession(welcome: SessionTerms, brain: BrainKey | undefined): void {
    if ((welcome.session_epoch ?? this.#epoch) < this.#epoch) throw new Fault("STALE_EPOCH");
    this.#epoch = welcome.session_epoch ?? this.#epoch;
    this.#policy = welcome.policy;
    this.#brain = brain;
    this.#replyOf = welcome.receipts === true ? endReplyWithReceipt : endReply;
    for (const [action, reply] of this.#unsent) if (this.#options.send(reply)) this.#unsent.delete(action);
  }

  /** Carries out a message and sends the reply; never rejects. */
  async receive(message: JsonObject): Promise<void> {
    let request: AgentRequest | undefined;
    try {
      request = openEnvelope(message);
      const reply = await this.#answer(request);
      if (reply !== undefined) this.#send(request, reply);
    } catch (thrown) {
      const { code, message: error } = asFault(thrown);
      this.#send(request, { ok: false, error, code });
    }
  }

  /** Aborts the actions that run for the brain. */
  close(): void {
    for (const action of this.#running.keys()) this.#stop(action);
  }

  async #answer(request: AgentRequest): Promise<JsonObject | undefined> {
    const { method, fields } = request;
    if (!this.#options.capabilities.includes(method))
      throw new Fault(
        "FORBIDDEN",
        `This hand does not do ${method}; it does ${this.#options.capabilities.join(", ")}.`,
      );
    await checkMessage(method, fields);
    const { hand } = this.#options;
    const action = textIn(fields, "action_id") ?? "";
    switch (method) {
      case "action.judge":
        return judgementReply(await hand.judge(actionToJudge(fields)));
      case "host.facts":
        return { ok: true, facts: { ...(await hand.surroundings?.()) } as unknown as JsonObject };
      case "spool.read":
        return spoolReply(await hand.readSpool?.(spooledAction(action), Number(fields["offset"])));
      case "action.cancel":
        this.#stop(action);
        return undefined;
      case "action.ack":
        this.#unsent.delete(action);
        await hand.acknowledge(action);
        return undefined;
      default:
        return this.#replyOf(method, await this.#perform(request));
    }
  }

  async #perform(request: AgentRequest): Promise<ActionEnd> {
    const { fields } = request;
    if (Number(fields["session_epoch"] ?? this.#epoch) < this.#epoch) throw new Fault("STALE_EPOCH");
    const read = this.#sleep.subtractSleep(orderOfRequest({ ...request, fields: this.#capTimeout(fields) }));
    const order = checkApproval(read, this.#brain, Date.now());
    const { id } = order.action;
    const stop = new AbortController();
    const orders = this.#running.get(id) ?? new Set();
    this.#running.set(id, orders.add(stop));
    let seq = 0;
    try {
      for await (const event of this.#options.hand.perform(order, stop.signal)) {
        if (event.type !== "output") return event;
        const { stream, chunk: all } = event;
        const part = (chunk: string): JsonObject => ({ method: "exec.output", action_id: id, stream, seq, chunk });
        for (const message of outputParts(all, this.#maxBytes - SEQ_BYTES, part))
          this.#options.send({ ...message, seq: seq++ });
      }
    } finally {
      orders.delete(stop);
      if (orders.size === 0) this.#running.delete(id);
    }
    throw new Error("The hand ended its stream without a terminal event.");
  }

  #stop(action: string): void {
    for (const order of this.#running.get(action) ?? []) order.abort();
  }

  get #maxBytes(): number {
    return this.#policy?.max_payload ?? REGISTER_LIMITS.messageBytes;
  }

  /** Limits the timeout of a command to that of the brain's policy [000-43]. */
  #capTimeout(fields: JsonObject): JsonObject {
    const { timeout } = fields;
    const exec = this.#policy?.timeouts.exec;
    return exec === undefined || typeof timeout !== "number" ? fields : { ...fields, timeout: Math.min(timeout, exec) };
  }

  #send(request: AgentRequest | undefined, reply: JsonObject): void {
    const action = textIn(request?.fields, "action_id");
    const named = {
      ...(request?.id === undefined ? {} : { id: request.id }),
      ...(action === undefined ? {} : { action_id: action }),
    };
    const whole = { ...named, ...fitReply(reply, this.#maxBytes - bytesOf(named) - METHOD_BYTES) };
    if (this.#options.send(whole) || action === undefined || ASKING.has(request?.method ?? "")) return;
    if (this.#unsent.size < REGISTER_LIMITS.orders) this.#unsent.set(action, whole);
  }
}

/** Methods whose replies are not kept for a later connection: they are asked again. */
const ASKING = new Set(["action.judge", "spool.read"]);
/** Bytes reserved for the method that signed HTTP adds to a reply. */
const METHOD_BYTES = 32;
/** Bytes reserved for the seq of an output part, which is set after splitting. */
const SEQ_BYTES = 16;

function judgementReply(judgement: Judgement | FaultReport): JsonObject {
  if ("code" in judgement) return { ok: false, error: judgement.message, code: judgement.code };
  return { ok: true, judgement: { ...judgement } as unknown as JsonObject };
}

/** An action of which only the id counts. */
function spooledAction(id: string): Action {
  return { id, tool: "", input: {}, callId: "" };
}

function spoolReply(part: SpoolPart | FaultReport = new Fault("NOT_FOUND", NO_SPOOLS).report()): JsonObject {
  if ("code" in part) return { ok: false, error: part.message, code: part.code };
  return { ok: true, ...part };
}

const NO_SPOOLS = "This hand keeps no whole outputs.";
