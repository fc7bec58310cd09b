import { asFault, Fault, REGISTER_LIMITS } from "@vidro/core";
import { oneLine } from "@vidro/core/text";
import type {
  Asker,
  Hand,
  HandCatalog,
  HandDescription,
  HandRestriction,
  HandRow,
  Records,
  ToolSpec,
} from "@vidro/core";
import type { Log } from "../../observe/log.ts";
import type { HandCount } from "../../observe/metrics.ts";
import { findHand, selectHands } from "./hand-list.ts";
import { HandRecords } from "./hand-records.ts";
import type { RestrictionRecord } from "./hand-records.ts";
import type { HandLink } from "../link.ts";
import { LOCAL_HAND } from "../local.ts";
import { boundedDescription } from "./registered-hand.ts";
import type { RegisteredHand, RegisteredRemoteHand } from "./registered-hand.ts";
import { KnownHands, SESSION_GATEWAY } from "./known-hands.ts";
import type { RemoteHand } from "./remote-hand.ts";
import { routedHand } from "./routed-hand.ts";

/** The connection of a hand in the register. */
export interface AttachedHand {
  /** Grows with each connection of the hand, and goes out with every order [STALE_EPOCH]. */
  readonly epoch: number;
  readonly hand: RemoteHand;
  /** Notes a sign of life of the hand. */
  seen(): void;
  /** The connection is gone. */
  detach(): void;
}

/** A connection of a hand to this brain; without an epoch it is gone. */
export interface OwnLink {
  readonly hand: string;
  readonly epoch: number | undefined;
}

/** Dependencies of the register. */
interface HandRegisterDependencies {
  readonly records: Records;
  readonly log: Log;
  readonly now: () => number;
  /** Another bound than REGISTER_LIMITS.overdueMs, for tests. */
  readonly overdueMs?: number;
  /** The lowest epoch that a connection gets. */
  readonly floor?: number;
  /** The hand of the brain's own machine. */
  readonly local?: RegisteredHand;
  /** Adds the brain's own tools to the hand of a run; executors bring the tools of their task themselves. */
  readonly equip?: (hand: Hand) => Hand;
}

const EVERY_OWNER: Asker = { owner: "", admin: true };

/** The hands of a brain: which there are, which are connected, which are barred, and which of them a run works with. */
export class HandRegister implements HandCatalog {
  readonly #deps: HandRegisterDependencies;
  readonly #records: HandRecords;
  readonly #local: RegisteredHand | undefined;
  readonly #known: KnownHands;
  readonly #onRevoked = new Set<(id: string) => void>();
  readonly #onLink = new Set<(own: OwnLink) => void>();
  #stopWatching: (() => void) | undefined;
  /** Reads of the restrictions run one after the other, so that the newest state is applied last. */
  #applied: Promise<void> = Promise.resolve();

  constructor(deps: HandRegisterDependencies) {
    this.#deps = deps;
    this.#local = deps.local;
    this.#records = new HandRecords(deps.records);
    const { records, log, now, overdueMs } = deps;
    this.#known = new KnownHands({ records, kept: this.#records, log, now, overdueMs });
  }

  /** Reads the hands from the store, and from now on applies restrictions that other processes make. */
  async load(): Promise<void> {
    this.#stopWatching = this.#records.watchBars(() => {
      this.#applyRestrictions().catch((thrown: unknown) =>
        this.#deps.log("hand.restrictions_unreadable", { reason: asFault(thrown).message }),
      );
    });
    await this.#known.load();
    await this.#applyRestrictions();
    await this.#known.removeOldSessions();
  }

  /**
   * Makes a link the connection of its hand; durable when it resolves. The newest connection wins: an older one is closed
   * with CONFLICT, also while it is still being attached. FORBIDDEN when the hand has another owner, HAND_REVOKED when it
   * was revoked, STALE_EPOCH when the hand has `seen` a later epoch than this brain gave.
   */
  async attach(said: HandDescription, link: HandLink, seen = 0): Promise<AttachedHand> {
    const description = boundedDescription(said);
    const { floor = 0 } = this.#deps;
    const here = this.#known.get(description.id);
    // Another brain on this store may have enrolled the hand, or given it later epochs.
    const isCurrent = here !== undefined && seen <= Math.max(here.epoch, floor);
    const before = isCurrent ? here : await this.#known.refresh(description.id);
    const known = before ?? (await this.#known.admit(description));
    this.#assertMayAttach(known, description);
    if (before !== undefined && seen > Math.max(before.epoch, floor)) throw this.#staleBrain(description, seen);
    known.epoch = Math.max(known.epoch, seen, floor - 1) + 1;
    known.lastSeenAt = this.#deps.now();
    const { epoch } = known;
    await this.#known.save(known, description);
    // During the write the hand may have been revoked, or have connected again.
    this.#assertMayAttach(known, description);
    if (epoch !== known.epoch) throw this.#takenOver(description);
    if (known.ownLink !== undefined) known.ownLink.close(this.#takenOver(description).report());
    known.hand.attach(description, link);
    known.linkEpoch = epoch;
    known.away = undefined;
    const { id: agent_id, name, gateway } = description;
    this.#deps.log("hand.connected", { agent_id, name, gateway });
    this.#tellLink(known, epoch);
    return {
      epoch,
      hand: known.hand,
      seen: () => this.#noteSeen(known),
      detach: () => {
        if (!known.hand.detach(link)) return;
        this.#deps.log("hand.disconnected", { agent_id: description.id });
        this.#tellLink(known, undefined);
      },
    };
  }

  /** The connections to this brain that other brains may use; those of hands that every brain dials are left out. */
  ownLinks(): readonly OwnLink[] {
    return this.#known
      .all()
      .filter(({ ownLink, isDialled }) => ownLink !== undefined && !isDialled)
      .map(({ hand: { id }, linkEpoch: epoch }) => ({ hand: id, epoch }));
  }

  /** The connection of a hand to this brain, and not that of another brain. */
  ownLink(hand: string): HandLink | undefined {
    return this.#known.get(hand)?.ownLink;
  }

  /** Calls `notify` with each connection that is made or gone from now on; returns how to stop. */
  onLink(notify: (own: OwnLink) => void): () => void {
    this.#onLink.add(notify);
    return () => this.#onLink.delete(notify);
  }

  /**
   * Uses a connection of another brain, unless the hand has a later one here. An earlier one here is closed: the hand has
   * moved, or another has its identity [F29].
   */
  async attachRelayed(hand: string, epoch: number, link: HandLink): Promise<void> {
    const before = this.#known.get(hand);
    const known = before === undefined || before.epoch < epoch ? await this.#known.refresh(hand) : before;
    if (known === undefined || known.epoch > epoch || known.isDialled) return;
    const { ownLink: own } = known;
    if (own !== undefined && known.linkEpoch >= epoch) return;
    own?.close(this.#takenOver(known.hand.description).report());
    known.hand.attach(known.hand.description, link);
    known.away = undefined;
  }

  /** The connection of another brain is gone. */
  detachRelayed(hand: string, link: HandLink): void {
    this.#known.get(hand)?.hand.detach(link);
  }

  /** CONFLICT when a hand has that name; revoked hands and executors, which exist for one session, do not count. */
  assertNameFree(name: string): void {
    const { nameChars } = REGISTER_LIMITS;
    const taken = this.#known
      .all()
      .some(
        ({ hand: { description, barred } }) =>
          description.gateway !== SESSION_GATEWAY && barred !== "revoked" && description.name === name,
      );
    if (!taken) return;
    const called = JSON.stringify(oneLine(name, nameChars));
    throw new Fault("CONFLICT", `A hand is called ${called} already: revoke it, or invite the host by another name.`);
  }

  /** Registers a hand that was enrolled and has not connected yet. Durable when it resolves. */
  async expect(description: HandDescription): Promise<void> {
    const known = await this.#known.admit(description);
    await this.#known.save(known);
  }

  /** Sets why a hand that is not connected cannot be reached, for lists. */
  setUnreachable(id: string, why: string): void {
    const known = this.#known.get(id);
    if (known !== undefined) known.away = why;
  }

  /** Calls `notify` with each hand that is revoked from now on, also by another process; returns how to stop. */
  onRevoked(notify: (id: string) => void): () => void {
    this.#onRevoked.add(notify);
    return () => this.#onRevoked.delete(notify);
  }

  /** The hands that an asker may use: the brain's own machine first, the others by name. */
  list(asker: Asker): readonly HandRow[] {
    const rows = this.#known
      .all()
      .filter((known) => known.isFor(asker))
      .map((known) => known.row());
    rows.sort((a, b) => a.name.localeCompare(b.name) || a.createdAt - b.createdAt);
    const local = this.#local?.row();
    return local === undefined ? rows : [local, ...rows];
  }

  /** A hand by id or name; NOT_FOUND when the asker has none such, CONFLICT when several have that name. */
  find(named: string, asker: Asker): HandRow {
    return findHand(this.list(asker), named);
  }

  /** The hands that an asker means by a selector. */
  choose(selector: string, asker: Asker): readonly HandRow[] {
    return selectHands(this.list(asker), selector);
  }

  /** The ids of the hands that an asker means by a selector, as a run keeps them. */
  select(selector: string, asker: Asker): string {
    return this.choose(selector, asker)
      .map(({ id }) => id)
      .join(",");
  }

  /** The hand that a run keeps by these ids: one hand, or several as one; orders wait for a hand that is away. */
  async at(ids: string, workspace?: string): Promise<Hand> {
    const hands = ids.split(",").map(async (id) => {
      if (id !== LOCAL_HAND && this.#known.get(id) === undefined) await this.#known.refresh(id);
      const hand = await this.#require(id).open(workspace);
      const { name = id, tags = [] } = this.#known.get(id)?.hand.description ?? {};
      return { name, tags, hand };
    });
    const [only, ...others] = await Promise.all(hands);
    const hand =
      only !== undefined && others.length === 0 ? only.hand : routedHand([...(only ? [only] : []), ...others]);
    const isExecutor = this.#known.get(ids)?.hand.description.gateway === SESSION_GATEWAY;
    return isExecutor ? hand : (this.#deps.equip?.(hand) ?? hand);
  }

  /** The tools of the hands of these ids; those of the brain's own machine without them. */
  async tools(ids: string = LOCAL_HAND): Promise<readonly ToolSpec[]> {
    return (await this.at(ids)).tools;
  }

  /** The tools that an asker can choose from: those of the brain's own machine, else those of all the asker's hands. */
  async catalog(asker: Asker): Promise<readonly ToolSpec[]> {
    if (this.#local !== undefined) return this.tools();
    const usable = this.list(asker).filter(({ barred }) => barred !== "revoked");
    return [...new Map(usable.flatMap(({ tools }) => tools.map((tool) => [tool.name, tool]))).values()];
  }

  /** Ends a hand for good: its link is cut now, and it is never let in again. Durable when it resolves. */
  async revoke(named: string, why: string, asker = EVERY_OWNER): Promise<HandRow> {
    const { id } = this.find(named, asker);
    if (this.#remoteHand(id).hand.barred !== "revoked") await this.#bar(id, { barred: "revoked", why });
    return this.find(id, asker);
  }

  /** Gives a hand no new work until it is released; it stays connected. */
  async quarantine(named: string, why: string, asker = EVERY_OWNER): Promise<HandRow> {
    const { id } = this.find(named, asker);
    await this.#bar(id, { barred: "quarantined", why });
    return this.find(id, asker);
  }

  /** Lets a hand work again that was in quarantine. */
  async release(named: string, asker = EVERY_OWNER): Promise<HandRow> {
    const { id } = this.find(named, asker);
    if (this.#remoteHand(id).hand.barred === "revoked") throw new Fault("HAND_REVOKED");
    await this.#records.unbar(id);
    await this.#applyRestrictions();
    return this.find(id, asker);
  }

  /** Whether a hand is connected. */
  isConnected(id: string): boolean {
    return this.#known.get(id)?.hand.link !== undefined;
  }

  /** Removes a hand that will not connect again; a barred hand stays. */
  async forget(id: string): Promise<void> {
    const known = this.#known.get(id);
    if (known === undefined || known.hand.barred !== undefined) return;
    await this.#known.remove(id);
  }

  /** The restriction of a hand, read from the store. */
  async restrictionOf(id: string): Promise<HandRestriction | undefined> {
    return (await this.#records.barOf(id))?.barred;
  }

  /** Hands per state; revoked hands are excluded. */
  count(): HandCount {
    const count = { ok: 0, degraded: 0, down: 0 };
    const local = this.#local?.row();
    if (local !== undefined) count[local.state] += 1;
    for (const known of this.#known.all()) if (known.hand.barred !== "revoked") count[known.state] += 1;
    return count;
  }

  /** `degraded` when the brain's own machine lacks its hand, or when there are hands and none of them works. */
  get health(): "ok" | "degraded" {
    const { ok, degraded, down } = this.count();
    return this.#local?.row()?.state === "down" || (ok === 0 && degraded + down > 0) ? "degraded" : "ok";
  }

  /** Closes every connection; the hands connect again to the next brain. */
  async close(): Promise<void> {
    this.#stopWatching?.();
    await Promise.all(this.#known.all().map(({ hand }) => hand.close()));
  }

  #tellLink(known: RegisteredRemoteHand, epoch: number | undefined): void {
    if (!known.isDialled) for (const notify of this.#onLink) notify({ hand: known.hand.id, epoch });
  }

  #assertMayAttach({ hand }: RegisteredRemoteHand, { id, owner }: HandDescription): void {
    if (hand.description.owner !== owner) throw new Fault("FORBIDDEN", `The hand ${id} belongs to another owner.`);
    if (hand.barred === "revoked") throw new Fault("HAND_REVOKED");
  }

  /** Logs two connections under one identity: the first may have died silently, or the key was stolen [F29]. */
  #takenOver({ id }: HandDescription): Fault {
    this.#deps.log("hand.duplicated", { agent_id: id });
    return new Fault("CONFLICT", "Another connection of this hand took over.");
  }

  /** The brain has no record of epochs that the hand was given, and so none of what it ordered with them. */
  #staleBrain({ id }: HandDescription, seen: number): Fault {
    const message =
      "This brain is an older state of the one that the hand knows, such as a backup: it is to be started with " +
      "vidro up --restored";
    this.#deps.log("hand.ahead", { agent_id: id, epoch: seen });
    return new Fault("STALE_EPOCH", message);
  }

  #require(id: string): RegisteredHand {
    const found = this.#known.get(id) ?? (id === LOCAL_HAND ? this.#local : undefined);
    if (found !== undefined) return found;
    if (id === LOCAL_HAND)
      throw new Fault("HAND_UNAVAILABLE", "No hand works on this machine: it was left out at the start.");
    throw new Fault("NOT_FOUND", `The hand ${id} is not known any more.`);
  }

  #remoteHand(id: string): RegisteredRemoteHand {
    if (id === LOCAL_HAND)
      throw new Fault("BAD_REQUEST", "The hand of the brain's own machine is left out at the start: --no-local-hand.");
    const known = this.#known.get(id);
    if (known === undefined) throw new Fault("NOT_FOUND", `There is no hand ${JSON.stringify(id)}.`);
    return known;
  }

  /** Written to the store once a minute at most: a crash loses no more than that of `lastSeenAt`. */
  #noteSeen(known: RegisteredRemoteHand): void {
    known.lastSeenAt = this.#deps.now();
    if (known.lastSeenAt - known.writtenAt >= REGISTER_LIMITS.seenMs)
      void this.#known.save(known).catch(() => undefined);
  }

  async #bar(id: string, bar: RestrictionRecord): Promise<void> {
    const { hand } = this.#remoteHand(id);
    if (hand.barred === "revoked") throw new Fault("HAND_REVOKED");
    await this.#records.bar(hand.description, bar);
    await this.#applyRestrictions();
  }

  #applyRestrictions(): Promise<void> {
    const applied = this.#applied.then(() => this.#applyNow());
    this.#applied = applied.catch(() => undefined);
    return applied;
  }

  /** Applies the restrictions in the store, also those of other processes; a revoked hand is cut off at once. */
  async #applyNow(): Promise<void> {
    const bars = await this.#records.bars();
    for (const known of this.#known.all()) {
      const { id } = known.hand;
      const bar = bars.get(id);
      known.why = bar?.why;
      if (known.hand.barred === bar?.barred) continue;
      known.hand.bar(bar?.barred);
      this.#deps.log("hand.restriction_changed", { agent_id: id, barred: bar?.barred ?? "no" });
      if (bar?.barred !== "revoked") continue;
      known.hand.link?.close(new Fault("HAND_REVOKED").report());
      for (const notify of this.#onRevoked) notify(id);
    }
  }
}
