import { RELAY_LIMITS, textIn } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";
import type { HandLink } from "../link.ts";
import type { HandRegister, OwnLink } from "../register/hand-register.ts";
import type { RelayCalls } from "./relay-calls.ts";
import type { SignedMessages } from "./signed-messages.ts";

const TOPIC = "hands";

/** Another brain, and the hands that are connected to it. */
interface OtherBrain {
  readonly hands: Map<string, { readonly epoch: number; readonly link: HandLink }>;
  /** Number of its last change that is known here. */
  change: number;
  heardAt: number;
}

/** Dependencies of the presence of hands. */
interface HandPresenceDependencies {
  readonly messages: SignedMessages;
  readonly calls: RelayCalls;
  readonly hands: Pick<HandRegister, "ownLinks" | "onLink" | "attachRelayed" | "detachRelayed">;
  readonly report: (thrown: unknown) => void;
}

/**
 * Tells other brains which hands are connected to this one, and gives the register links to those that are connected to
 * others. Each change has a number: a brain that has missed one asks for the whole list.
 */
export class HandPresence {
  readonly #deps: HandPresenceDependencies;
  readonly #others = new Map<string, OtherBrain>();
  readonly #stops: readonly (() => void)[];
  #change = 0;
  #isAsked = false;

  constructor(deps: HandPresenceDependencies) {
    this.#deps = deps;
    this.#stops = [
      deps.messages.hear(TOPIC, (message, from) => this.#take(message, from)),
      deps.hands.onLink((own) => this.#tell(own)),
    ];
  }

  /** Asks the other brains for their hands and tells them those of this one. */
  announce(): void {
    this.#send({ type: "who" });
    this.#tellAll();
  }

  /** Says that this brain lives, and removes the hands of those that do not. */
  tend(): void {
    this.#send({ type: "beat", change: this.#change });
    const since = performance.now() - RELAY_LIMITS.silentMs;
    for (const [brain, { heardAt }] of this.#others) if (heardAt < since) this.#remove(brain);
  }

  /** The other brains cannot be reached: their hands are away. */
  clear(): void {
    for (const brain of this.#others.keys()) this.#remove(brain);
  }

  close(): void {
    for (const stop of this.#stops) stop();
    this.#send({ type: "left" });
    this.clear();
  }

  #send(message: JsonObject): void {
    this.#deps.messages.send(TOPIC, message);
  }

  #tell({ hand, epoch }: OwnLink): void {
    if (epoch !== undefined) this.#supersede(hand, epoch);
    this.#change += 1;
    const change = this.#change;
    this.#send(epoch === undefined ? { type: "gone", change, hand } : { type: "here", change, hands: [[hand, epoch]] });
  }

  #tellAll(): void {
    this.#isAsked = false;
    const hands = this.#deps.hands.ownLinks().map(({ hand, epoch }) => [hand, epoch ?? 0]);
    this.#send({ type: "all", change: this.#change, hands });
  }

  #take(message: JsonObject, from: string): void {
    const { type, change, hands } = message;
    if (type === "left") return this.#remove(from);
    const known = this.#others.get(from);
    const other = known ?? { hands: new Map(), change: -1, heardAt: 0 };
    other.heardAt = performance.now();
    this.#others.set(from, other);
    if (type === "who" && !this.#isAsked) {
      this.#isAsked = true;
      setImmediate(() => this.#tellAll());
    }
    if (known === undefined && type !== "all") this.#send({ type: "who" });
    if (typeof change !== "number") return;
    const isNext = type === "all" || change === other.change + (type === "beat" ? 0 : 1);
    if (!isNext && known !== undefined) this.#send({ type: "who" });
    other.change = change;
    if (type === "gone") this.#detach(other, textIn(message, "hand") ?? "");
    if (type === "here" || type === "all") this.#takeHands(from, other, { hands, isAll: type === "all" });
  }

  #takeHands(brain: string, other: OtherBrain, { hands, isAll }: { hands: Json | undefined; isAll: boolean }): void {
    const said = new Map<string, number>();
    for (const pair of Array.isArray(hands) ? hands : [])
      if (Array.isArray(pair) && typeof pair[1] === "number") said.set(String(pair[0]), pair[1]);
    if (isAll) for (const id of other.hands.keys()) if (!said.has(id)) this.#detach(other, id);
    for (const [id, epoch] of said) {
      if (other.hands.get(id)?.epoch === epoch) continue;
      this.#supersede(id, epoch);
      this.#detach(other, id);
      const link = this.#deps.calls.linkTo(brain, id);
      other.hands.set(id, { epoch, link });
      this.#attach(other, id).catch(this.#deps.report);
    }
  }

  /** The hand has a later connection: what waits for an answer by an earlier one is ordered again. */
  #supersede(hand: string, epoch: number): void {
    for (const other of this.#others.values())
      if ((other.hands.get(hand)?.epoch ?? epoch) < epoch) this.#detach(other, hand);
  }

  async #attach(other: OtherBrain, hand: string): Promise<void> {
    const there = other.hands.get(hand);
    if (there === undefined) return;
    await this.#deps.hands.attachRelayed(hand, there.epoch, there.link);
    // It may have gone while its record was read.
    if (other.hands.get(hand) !== there) this.#deps.hands.detachRelayed(hand, there.link);
  }

  #detach(other: OtherBrain, hand: string): void {
    const there = other.hands.get(hand);
    if (there === undefined) return;
    other.hands.delete(hand);
    this.#deps.hands.detachRelayed(hand, there.link);
    this.#deps.calls.drop(there.link);
  }

  #remove(brain: string): void {
    const other = this.#others.get(brain);
    this.#others.delete(brain);
    if (other !== undefined) for (const hand of other.hands.keys()) this.#detach(other, hand);
  }
}
