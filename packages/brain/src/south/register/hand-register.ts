import { asFault, Fault, HAND_LIMITS, REGISTER_LIMITS } from "@vidro/core";
import { oneLine } from "@vidro/core/text";
import type { Asker, HandRestriction, Hand, HandDescription, HandRow, HandState, Records } from "@vidro/core";
import type { Log } from "../../observe/log.ts";
import type { HandCount } from "../../observe/metrics.ts";
import { findHand, selectHands } from "./hand-list.ts";
import { HandRecords } from "./hand-records.ts";
import type { RestrictionRecord, StoredHand } from "./hand-records.ts";
import type { HandLink } from "../link.ts";
import { LOCAL_HAND } from "../local.ts";
import { RemoteHand } from "./remote-hand.ts";
import { routedHand } from "./routed-hand.ts";
import { PendingStops } from "./pending-stops.ts";

/** A connection that the register knows. */
export interface AttachedHand {
  /** Grows with each connection of the hand; goes out with every order [STALE_EPOCH]. */
  readonly epoch: number;
  readonly hand: RemoteHand;
  /** The hand showed that it lives. */
  seen(): void;
  /** The connection is gone. */
  detach(): void;
}

/** What the register needs. */
interface HandsWorld {
  readonly records: Records;
  readonly log: Log;
  readonly now: () => number;
  /** Another bound than HANDS.overdueMs. */
  readonly overdueMs?: number;
  /** The lowest epoch that a connection gets; any without it. */
  readonly floor?: number;
}

/** The gateway whose hands come for one session. */
const VISITING = "executor-ws";

interface Known {
  readonly hand: RemoteHand;
  epoch: number;
  why: string | undefined;
  /** Why it cannot be reached, where that is known here. */
  away: string | undefined;
  lastSeenAt: number;
  writtenAt: number;
  readonly createdAt: number;
}

/** Every hand on another machine: who is here, what it can do, and which of them a run works with. */
export class HandRegister {
  readonly #world: HandsWorld;
  readonly #records: HandRecords;
  readonly #known = new Map<string, Known>();
  readonly #onRevoked = new Set<(id: string) => void>();
  #stopWatching: (() => void) | undefined;
  readonly #stops: PendingStops;
  /** One look at who is barred after the other, so that the newest is the last to count. */
  #heeded: Promise<void> = Promise.resolve();

  constructor(world: HandsWorld) {
    this.#world = world;
    this.#records = new HandRecords(world.records);
    this.#stops = new PendingStops(world.records);
  }

  /** Reads what is known from earlier; what other processes bar is heeded from here on. */
  async load(): Promise<void> {
    this.#stopWatching = this.#records.watchBars(() => {
      this.#heed().catch((thrown: unknown) =>
        this.#world.log("hand.restrictions_unreadable", { reason: asFault(thrown).message }),
      );
    });
    await this.#stops.load();
    for (const kept of await this.#records.all(REGISTER_LIMITS.known))
      this.#known.set(kept.card.id, knownOf(kept, this.#remote(kept.card)));
    await this.#heed();
    await this.#forgetVisitors();
  }

  /**
   * Makes a connection the way to its hand: durable when it resolves. The newest wins, and whoever held the identity
   * until now is told so: CONFLICT for one that was still being let in. FORBIDDEN when the identity is somebody
   * else's, HAND_REVOKED when it was revoked, STALE_EPOCH when the hand has `seen` a later epoch than this brain gave.
   */
  async attach(said: HandDescription, link: HandLink, seen = 0): Promise<AttachedHand> {
    const card = inWords(said);
    const before = this.#known.get(card.id);
    const known = before ?? (await this.#admit(card));
    this.#refuseUnless(known, card);
    const { floor = 0 } = this.#world;
    if (before !== undefined && seen > Math.max(before.epoch, floor)) throw this.#isOlder(card, seen);
    known.epoch = Math.max(known.epoch, seen, floor - 1) + 1;
    known.lastSeenAt = this.#world.now();
    const { epoch } = known;
    await this.#save(known, card);
    // While it was written down, the hand may have been revoked, or have come once more.
    this.#refuseUnless(known, card);
    if (epoch !== known.epoch) throw this.#alarm(card);
    known.hand.link?.close(this.#alarm(card).report());
    known.hand.attach(card, link);
    known.away = undefined;
    this.#world.log("hand.connected", { agent_id: card.id, name: card.name, gateway: card.gateway });
    return {
      epoch,
      hand: known.hand,
      seen: () => this.#seen(known),
      detach: () => {
        if (known.hand.detach(link)) this.#world.log("hand.disconnected", { agent_id: card.id });
      },
    };
  }

  /** Refuses a name that a hand has which was not revoked (CONFLICT); who comes for one session has no claim to one. */
  assertFree(name: string): void {
    const { nameChars } = REGISTER_LIMITS;
    const taken = [...this.#known.values()].some(
      ({ hand: { card, barred } }) => card.gateway !== VISITING && barred !== "revoked" && card.name === name,
    );
    if (!taken) return;
    const called = JSON.stringify(oneLine(name, nameChars));
    throw new Fault("CONFLICT", `A hand is called ${called} already: revoke it, or invite the host by another name.`);
  }

  /** Knows a hand that was enrolled and has not come yet, so that it can be waited for and revoked; durable when it resolves. */
  async expect(card: HandDescription): Promise<void> {
    const known = await this.#admit(card);
    await this.#save(known);
  }

  /** Says why a hand that is not connected cannot be reached, for whoever looks at it. */
  away(id: string, why: string): void {
    const known = this.#known.get(id);
    if (known !== undefined) known.away = why;
  }

  /** Calls `heed` with each hand that is revoked from now on, also by another process; returns how to stop. */
  onRevoked(heed: (id: string) => void): () => void {
    this.#onRevoked.add(heed);
    return () => this.#onRevoked.delete(heed);
  }

  /** The hands that an asker may use, by name. */
  list(asker: Asker): readonly HandRow[] {
    const mine = [...this.#known.values()].filter((known) => isFor(known, asker));
    return mine.map(rowOf).sort((a, b) => a.name.localeCompare(b.name) || a.createdAt - b.createdAt);
  }

  /** A hand by id or name; NOT_FOUND when the asker has none such, CONFLICT when the name is that of several. */
  find(named: string, asker: Asker): HandRow {
    return findHand(this.list(asker), named);
  }

  /** The ids of the hands that an asker means by a selector, as a run keeps them. */
  select(selector: string, asker: Asker): string {
    return selectHands(this.list(asker), selector)
      .map(({ id }) => id)
      .join(",");
  }

  /** The hand that a run keeps by these ids: one hand, or several as one; each is waited for when it is away. */
  async at(ids: string, local: () => Promise<Hand>): Promise<Hand> {
    const hands = ids.split(",").map(async (id) => {
      if (id === LOCAL_HAND) return { name: LOCAL_HAND, hand: await local() };
      const known = this.#known.get(id);
      if (known === undefined) throw new Fault("NOT_FOUND", `The hand ${id} is not known any more.`);
      return { name: known.hand.card.name, hand: known.hand };
    });
    const [only, ...others] = await Promise.all(hands);
    return only !== undefined && others.length === 0 ? only.hand : routedHand([...(only ? [only] : []), ...others]);
  }

  /** Ends a hand for good: its link is cut now, and it is never let in again. Durable when it resolves. */
  async revoke(id: string, why: string): Promise<void> {
    if (this.#must(id).hand.barred !== "revoked") await this.#bar(id, { barred: "revoked", why });
  }

  /** Gives a hand no new work until it is released; it stays connected. */
  async quarantine(id: string, why: string): Promise<void> {
    await this.#bar(id, { barred: "quarantined", why });
  }

  /** Lets a hand work again that was in quarantine. */
  async release(id: string): Promise<void> {
    if (this.#must(id).hand.barred === "revoked") throw new Fault("HAND_REVOKED");
    await this.#records.unbar(id);
    await this.#heed();
  }

  /** Whether a hand is here now. */
  isConnected(id: string): boolean {
    return this.#known.get(id)?.hand.link !== undefined;
  }

  /** Forgets a hand that does not come back, such as one that lived for a single task; one that is barred stays so. */
  async forget(id: string): Promise<void> {
    const known = this.#known.get(id);
    if (known === undefined || known.hand.barred !== undefined) return;
    this.#known.delete(id);
    await this.#records.forget(id);
  }

  /** Why a hand is barred, as it is on record now. */
  async barred(id: string): Promise<HandRestriction | undefined> {
    return (await this.#records.barOf(id))?.barred;
  }

  /** How many are how; who was revoked does not count. */
  count(): HandCount {
    const count = { ok: 0, degraded: 0, down: 0 };
    for (const known of this.#known.values()) if (known.hand.barred !== "revoked") count[stateOf(known)] += 1;
    return count;
  }

  /** Hangs up on every hand; they come back to the next brain. */
  async close(): Promise<void> {
    this.#stopWatching?.();
    await Promise.all([...this.#known.values()].map(({ hand }) => hand.close()));
  }

  #refuseUnless({ hand }: Known, { id, owner }: HandDescription): void {
    if (hand.card.owner !== owner) throw new Fault("FORBIDDEN", `The hand ${id} belongs to somebody else.`);
    if (hand.barred === "revoked") throw new Fault("HAND_REVOKED");
  }

  /** Two connections under one identity may be a host whose first one has silently died, or a stolen key [F29]. */
  #alarm({ id }: HandDescription): Fault {
    this.#world.log("hand.duplicated", {
      agent_id: id,
    });
    return new Fault("CONFLICT", "Another connection of this hand took over.");
  }

  /** A brain that gave this hand epochs which it does not remember lacks its last past, and so what it ordered then. */
  #isOlder({ id }: HandDescription, seen: number): Fault {
    const message =
      "This brain is an older state of the one that the hand knows, such as a backup: it is to be started with " +
      "vidro up --restored";
    this.#world.log("hand.ahead", {
      agent_id: id,
      epoch: seen,
    });
    return new Fault("STALE_EPOCH", message);
  }

  #must(id: string): Known {
    const known = this.#known.get(id);
    if (known === undefined) throw new Fault("NOT_FOUND", `There is no hand ${JSON.stringify(id)}.`);
    return known;
  }

  /** A hand that is new here, or that was forgotten: that it was revoked is never forgotten. */
  async #admit(card: HandDescription): Promise<Known> {
    if (card.gateway === VISITING) await this.#forgetVisitors();
    if (this.#known.size >= REGISTER_LIMITS.known) await this.#makeRoom();
    const bar = await this.#records.barOf(card.id);
    // It may have come twice at the same time.
    const known = this.#known.get(card.id);
    if (known !== undefined) return known;
    if (bar?.barred === "revoked") throw new Fault("HAND_REVOKED");
    const at = this.#world.now();
    const hand = this.#remote(card);
    hand.bar(bar?.barred);
    const admitted = { hand, epoch: 0, why: bar?.why, away: undefined, lastSeenAt: at, writtenAt: at, createdAt: at };
    this.#known.set(card.id, admitted);
    return admitted;
  }

  #remote(card: HandDescription): RemoteHand {
    return new RemoteHand(card, { stops: this.#stops, overdueMs: this.#world.overdueMs });
  }

  /** Forgets the hand that has been away the longest, unless a run might still wait for it. */
  async #makeRoom(): Promise<void> {
    let longest: Known | undefined;
    for (const known of this.#known.values()) {
      const isAway =
        known.hand.link === undefined && this.#world.now() - known.lastSeenAt > REGISTER_LIMITS.rememberedMs;
      if (isAway && (longest === undefined || known.lastSeenAt < longest.lastSeenAt)) longest = known;
    }
    if (longest === undefined)
      throw new Fault("RATE_LIMITED", `This brain knows ${REGISTER_LIMITS.known} hands, which is as many as it may.`);
    await this.#forget(longest);
  }

  /** An executor is another hand with each session, so that those of old sessions would pile up. */
  async #forgetVisitors(): Promise<void> {
    const before = this.#world.now() - REGISTER_LIMITS.visitorMs;
    for (const known of this.#known.values()) {
      const { card, link, barred } = known.hand;
      const isGone = link === undefined && known.lastSeenAt < before;
      if (card.gateway === VISITING && barred === undefined && isGone) await this.#forget(known);
    }
  }

  async #forget({ hand: { id } }: Known): Promise<void> {
    this.#known.delete(id);
    await this.#records.forget(id);
    this.#world.log("hand.forgotten", { agent_id: id });
  }

  /** A crash may lose the last minute of when a hand was seen, and nothing else. */
  #seen(known: Known): void {
    known.lastSeenAt = this.#world.now();
    if (known.lastSeenAt - known.writtenAt >= REGISTER_LIMITS.seenMs) void this.#save(known).catch(() => undefined);
  }

  async #save(known: Known, card = known.hand.card): Promise<void> {
    known.writtenAt = this.#world.now();
    await this.#records.keep(card, known);
  }

  async #bar(id: string, bar: RestrictionRecord): Promise<void> {
    const { hand } = this.#must(id);
    if (hand.barred === "revoked") throw new Fault("HAND_REVOKED");
    await this.#records.bar(hand.card, bar);
    await this.#heed();
  }

  #heed(): Promise<void> {
    const heeded = this.#heeded.then(() => this.#obey());
    this.#heeded = heeded.catch(() => undefined);
    return heeded;
  }

  /** Holds to what is on record, whoever put it there: a revoked hand is hung up on at once. */
  async #obey(): Promise<void> {
    const bars = await this.#records.bars();
    for (const [id, known] of this.#known) {
      const bar = bars.get(id);
      known.why = bar?.why;
      if (known.hand.barred === bar?.barred) continue;
      known.hand.bar(bar?.barred);
      this.#world.log("hand.restriction_changed", { agent_id: id, barred: bar?.barred ?? "no" });
      if (bar?.barred !== "revoked") continue;
      known.hand.link?.close(new Fault("HAND_REVOKED").report());
      for (const heed of this.#onRevoked) heed(id);
    }
  }
}

/** What a hand says of itself, as text that people and models only read. */
function inWords(card: HandDescription): HandDescription {
  const { nameChars } = REGISTER_LIMITS;
  return {
    ...card,
    name: oneLine(card.name, nameChars) || card.id,
    version: oneLine(card.version, nameChars),
    workspace: oneLine(card.workspace, HAND_LIMITS.pathChars),
    tags: card.tags.map((tag) => oneLine(tag, nameChars)),
  };
}

function knownOf({ epoch, lastSeenAt, createdAt }: StoredHand, hand: RemoteHand): Known {
  const at = { lastSeenAt, writtenAt: lastSeenAt, createdAt };
  return { hand, epoch, why: undefined, away: undefined, ...at };
}

function isFor({ hand }: Known, { owner, admin }: Asker): boolean {
  return admin || hand.card.owner === owner;
}

function stateOf({ hand }: Known): HandState {
  if (hand.link === undefined) return "down";
  return hand.barred === undefined ? "ok" : "degraded";
}

function rowOf(known: Known): HandRow {
  const { hand, away, lastSeenAt, createdAt } = known;
  const why = known.why ?? (hand.link === undefined ? away : undefined);
  return {
    ...hand.card,
    state: stateOf(known),
    ...(hand.barred === undefined ? {} : { barred: hand.barred }),
    ...(why === undefined ? {} : { why }),
    lastSeenAt,
    createdAt,
  };
}
