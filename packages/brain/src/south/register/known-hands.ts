import { Fault, REGISTER_LIMITS } from "@vidro/core";
import type { HandDescription, Records } from "@vidro/core";
import type { Log } from "../../observe/log.ts";
import type { HandRecords, StoredHand } from "./hand-records.ts";
import { PendingStops } from "./pending-stops.ts";
import { RegisteredRemoteHand } from "./registered-hand.ts";
import { RemoteHand } from "./remote-hand.ts";

/** Dependencies of the hands that a register knows. */
interface KnownHandsDependencies {
  readonly records: Records;
  readonly kept: HandRecords;
  readonly log: Log;
  readonly now: () => number;
  /** Another bound than REGISTER_LIMITS.overdueMs, for tests. */
  readonly overdueMs?: number | undefined;
}

/** The gateway whose hands exist for one session. */
export const SESSION_GATEWAY = "executor-ws";

/** The hands on other machines that a register knows, each with its record in the store. */
export class KnownHands {
  readonly #deps: KnownHandsDependencies;
  readonly #stops: PendingStops;
  readonly #known = new Map<string, RegisteredRemoteHand>();

  constructor(deps: KnownHandsDependencies) {
    this.#deps = deps;
    this.#stops = new PendingStops(deps.records);
  }

  /** Reads the hands from the store. */
  async load(): Promise<void> {
    await this.#stops.load();
    const since = this.#deps.now() - REGISTER_LIMITS.rememberedMs;
    for (const kept of await this.#deps.kept.all(REGISTER_LIMITS.known, since)) this.#add(kept);
  }

  get(id: string): RegisteredRemoteHand | undefined {
    return this.#known.get(id);
  }

  all(): readonly RegisteredRemoteHand[] {
    return [...this.#known.values()];
  }

  /**
   * The hand as it is in the store, which another brain may have changed: one that is not known here is added, and of one
   * that is known the epoch, the restriction and, unless it is connected, the description are brought up to date.
   */
  async refresh(id: string): Promise<RegisteredRemoteHand | undefined> {
    const [kept, bar] = await Promise.all([this.#deps.kept.find(id), this.#deps.kept.barOf(id)]);
    const known = this.#known.get(id) ?? (kept === undefined ? undefined : this.#add(kept));
    if (known === undefined) return undefined;
    known.hand.bar(bar?.barred);
    known.why = bar?.why;
    if (kept === undefined) return known;
    known.epoch = Math.max(known.epoch, kept.epoch);
    known.hand.describe(kept.description);
    return known;
  }

  /** Adds a hand that is new or was removed; HAND_REVOKED for a revoked one, which is never forgotten. */
  async admit(description: HandDescription): Promise<RegisteredRemoteHand> {
    const { kept, now } = this.#deps;
    if (description.gateway === SESSION_GATEWAY) await this.removeOldSessions();
    if (this.#known.size >= REGISTER_LIMITS.known) await this.#makeRoom();
    const bar = await kept.barOf(description.id);
    // Another connection of the same hand may have added it meanwhile.
    const known = this.#known.get(description.id);
    if (known !== undefined) return known;
    if (bar?.barred === "revoked") throw new Fault("HAND_REVOKED");
    const at = now();
    const admitted = this.#add({ description, epoch: 0, lastSeenAt: at, createdAt: at });
    admitted.hand.bar(bar?.barred);
    admitted.why = bar?.why;
    return admitted;
  }

  /** Writes a hand to the store; durable when it resolves. */
  async save(known: RegisteredRemoteHand, description = known.hand.description): Promise<void> {
    known.writtenAt = this.#deps.now();
    await this.#deps.kept.keep(description, known);
  }

  /** Removes a hand. */
  async remove(id: string): Promise<void> {
    this.#known.delete(id);
    await this.#deps.kept.forget(id);
  }

  /** Removes executors of old sessions: each session is another hand. */
  async removeOldSessions(): Promise<void> {
    const before = this.#deps.now() - REGISTER_LIMITS.visitorMs;
    for (const known of this.#known.values()) {
      const { description, link, barred } = known.hand;
      const isGone = link === undefined && known.lastSeenAt < before;
      if (description.gateway === SESSION_GATEWAY && barred === undefined && isGone) await this.#forget(known);
    }
  }

  #add(kept: StoredHand): RegisteredRemoteHand {
    const hand = new RemoteHand(kept.description, { stops: this.#stops, overdueMs: this.#deps.overdueMs });
    const known = new RegisteredRemoteHand(hand, kept);
    this.#known.set(kept.description.id, known);
    return known;
  }

  /** Removes the hand that has been away the longest, unless a run might still wait for it. */
  async #makeRoom(): Promise<void> {
    let longest: RegisteredRemoteHand | undefined;
    for (const known of this.#known.values()) {
      const isAway =
        known.hand.link === undefined && this.#deps.now() - known.lastSeenAt > REGISTER_LIMITS.rememberedMs;
      if (isAway && (longest === undefined || known.lastSeenAt < longest.lastSeenAt)) longest = known;
    }
    if (longest === undefined)
      throw new Fault("RATE_LIMITED", `This brain knows ${REGISTER_LIMITS.known} hands, which is the limit.`);
    await this.#forget(longest);
  }

  async #forget({ hand: { id } }: RegisteredRemoteHand): Promise<void> {
    await this.remove(id);
    this.#deps.log("hand.forgotten", { agent_id: id });
  }
}
