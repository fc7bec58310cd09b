import { asFault, Fault, HAND_LIMITS, REGISTER_LIMITS } from "@vidro/core";
import type { FaultReport, JsonObject } from "@vidro/core";
import { bytesOf, tooLongFault } from "@vidro/core/wire/agent-ws";
import type { Welcome } from "@vidro/core/wire/agent-ws";
import type { AttachedHand } from "../register/hand-register.ts";
import { Outbox } from "./outbox.ts";
import type { Batch } from "./outbox.ts";
import type { SouthboundLink, SouthboundWire } from "../agent-ws/southbound-link.ts";

/** Settings of a session. */
export interface SessionOptions extends Pick<SouthboundWire, "capabilities" | "tools"> {
  /** The time without a sign of life after which the hand counts as gone. */
  readonly silenceMs: number;
  /** Longest wait of a poll. */
  readonly pollMs: number;
  /** Asks the hand itself, when it listens; rejects when it cannot be reached. */
  readonly direct?: (message: JsonObject) => Promise<JsonObject>;
  /** Called when the session is over. */
  readonly over: () => void;
}

/**
 * The session of a hand that polls: messages wait in an outbox until the hand fetches them, and the hand counts as
 * connected as long as it keeps polling. It is the transport of a southbound link.
 */
export class HttpSession implements SouthboundWire {
  readonly capabilities: SouthboundWire["capabilities"];
  readonly tools: SouthboundWire["tools"];
  readonly #options: SessionOptions;
  readonly #outbox = new Outbox();
  /** Messages that were sent before the welcome; they follow it. */
  #held: JsonObject[] | undefined = [];
  #link: SouthboundLink | undefined;
  #attached: AttachedHand | undefined;
  #silence: NodeJS.Timeout | undefined;
  #polls = 0;
  #isOver = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.capabilities = options.capabilities;
    this.tools = options.tools;
  }

  get epoch(): number {
    return this.#attached?.epoch ?? 0;
  }

  /** Stands for a connection of the register from now on; what is known of the hand goes back to it. */
  stand(attached: AttachedHand, link: SouthboundLink, version: string): Welcome {
    this.#attached = attached;
    this.#link = link;
    this.noteSeen();
    const held = this.#held ?? [];
    this.#held = undefined;
    // Orders that were made during the hello wait here, since they carry the epoch.
    for (const said of held) this.send("session_epoch" in said ? { ...said, session_epoch: attached.epoch } : said);
    const policy = { timeouts: { exec: HAND_LIMITS.commandCapMs }, max_payload: REGISTER_LIMITS.messageBytes };
    return { ok: true, policy, session_epoch: attached.epoch, server_version: version };
  }

  send(message: JsonObject): void {
    if (this.#held !== undefined && this.#held.length >= REGISTER_LIMITS.acknowledgements)
      throw new Fault("HAND_UNAVAILABLE");
    if (this.#held !== undefined) return void this.#held.push(message);
    if (this.#options.direct === undefined) return this.#outbox.put(message);
    const refused = tooLongFault(bytesOf(message), REGISTER_LIMITS.messageBytes);
    if (refused !== undefined) throw refused;
    // A hand that cannot be called may still poll; getting the message twice does no harm.
    this.#options.direct(message).then(
      (reply) => this.#link?.reply(reply),
      () => this.#queue(message),
    );
  }

  close(why: FaultReport): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#silence);
    this.#outbox.close(why);
    this.#link?.drop();
    this.#attached?.detach();
    this.#options.over();
  }

  /** Notes a sign of life of the hand. */
  noteSeen(): void {
    this.#attached?.seen();
    clearTimeout(this.#silence);
    if (this.#isOver) return;
    const { silenceMs, pollMs } = this.#options;
    // A poll on a dead connection counts as a sign of life no longer than the longest wait of a poll [F10, F11].
    const patienceMs = this.#polls > 0 ? Math.max(silenceMs, pollMs) : silenceMs;
    this.#silence = setTimeout(() => this.close(GONE.report()), patienceMs).unref();
  }

  /** The messages after those that the hand has; waits for the first one, up to the longest wait of a poll. */
  async poll(acknowledged: number | undefined, signal: AbortSignal): Promise<Batch> {
    this.#outbox.acknowledge(acknowledged);
    this.#polls += 1;
    this.noteSeen();
    try {
      return await this.#outbox.next(this.#options.pollMs, signal);
    } finally {
      this.#polls -= 1;
      this.noteSeen();
    }
  }

  /** Takes the reply to an order. */
  reply(message: JsonObject): void {
    this.#link?.reply(message);
  }

  /** Takes live output of an action. */
  output(message: JsonObject): void {
    this.#link?.output(message);
  }

  #queue(message: JsonObject): void {
    try {
      this.#outbox.put(message);
    } catch (thrown) {
      const { code, message: error } = asFault(thrown);
      this.#link?.reply({ id: message["id"], action_id: message["action_id"], ok: false, code, error });
    }
  }
}

const GONE = new Fault("HAND_UNAVAILABLE", "The hand has not asked for a while what waits for it.");
