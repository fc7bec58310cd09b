import { Fault, HANDS } from "@vidro/core";
import type { Hand, JsonObject, Records, StoredRecord } from "@vidro/core";
import type { Log } from "../log.ts";
import type { HandCount } from "../metrics.ts";
import type { HandCard, HandLink } from "./link.ts";
import { RemoteHand } from "./remote-hand.ts";
import type { Barred } from "./remote-hand.ts";
import { routedHand } from "./routed-hand.ts";

/** How a hand is: ok works, degraded is connected but gets no work, down is not connected. */
export type HandState = "ok" | "degraded" | "down";

/** A hand in a list. */
export interface HandRow extends HandCard {
  readonly state: HandState;
  readonly barred?: Barred;
  /** Why it is barred, in words for people. */
  readonly why?: string;
  readonly lastSeenAt: number;
  readonly createdAt: number;
}

/** Who asks for hands; an administrator sees everybody's. */
export interface Asker {
  readonly owner: string;
  readonly admin: boolean;
}

/** A connection that the register knows. */
export interface Attached {
  /** Grows with each connection of the hand; goes out with every order [STALE_EPOCH]. */
  readonly epoch: number;
  readonly hand: RemoteHand;
  /** The hand showed that it lives. */
  seen(): void;
  /** The connection is gone. */
  detach(): void;
}

/** What the register needs. */
export interface HandsWorld {
  readonly records: Records;
  readonly log: Log;
  readonly now: () => number;
}

const KIND = "hand";
/** Beside the hands themselves, which change with every heartbeat: whoever is barred is looked up at each change. */
const BARRED = "hand-bar";

interface Known {
  readonly hand: RemoteHand;
  epoch: number;
  why: string | undefined;
  lastSeenAt: number;
  writtenAt: number;
  readonly createdAt: number;
}

/** Every hand on another machine: who is here, what it can do, and which of them a run works with. */
export class Hands {
  readonly #world: HandsWorld;
  readonly #known = new Map<string, Known>();
  #stopWatching: (() => void) | undefined;

  constructor(world: HandsWorld) {
    this.#world = world;
  }

  /** Reads what is known from earlier; what other processes bar is heeded from here on. */
  async load(): Promise<void> {
    const { records } = this.#world;
    this.#stopWatching = records.watch(BARRED, () => void this.#heed().catch(() => undefined));
    for (const record of await records.list(KIND, { limit: HANDS.known })) this.#known.set(record.id, knownOf(record));
    await this.#heed();
  }

  /**
   * Makes a connection the way to its hand: durable when it resolves. The newest wins, and whoever held the identity
   * until now is told so. FORBIDDEN when the identity is somebody else's, HAND_REVOKED when it was revoked.
   */
  async attach(card: HandCard, link: HandLink): Promise<Attached> {
    const known = this.#known.get(card.id) ?? this.#admit(card);
    if (known.hand.card.owner !== card.owner)
      throw new Fault("FORBIDDEN", `The hand ${card.id} belongs to somebody else.`);
    if (known.hand.barred === "revoked") throw new Fault("HAND_REVOKED");
    const before = known.hand.link;
    known.epoch += 1;
    known.lastSeenAt = this.#world.now();
    await this.#save(known, card);
    if (before !== undefined && before === known.hand.link) {
      this.#world.log("warn", "a second hand came with the identity of one that is connected; the newest counts", {
        agent_id: card.id,
      });
      before.close(new Fault("CONFLICT", "Another connection of this hand took over.").report());
    }
    known.hand.attach(card, link);
    this.#world.log("info", "a hand is connected", { agent_id: card.id, name: card.name, gateway: card.gateway });
    return {
      epoch: known.epoch,
      hand: known.hand,
      seen: () => this.#seen(known),
      detach: () => {
        if (known.hand.detach(link)) this.#world.log("info", "a hand is gone", { agent_id: card.id });
      },
    };
  }

  /** The hands that an asker may use, by name. */
  list(asker: Asker): readonly HandRow[] {
    const mine = [...this.#known.values()].filter((known) => isFor(known, asker));
    return mine.map(rowOf).sort((a, b) => a.name.localeCompare(b.name) || a.createdAt - b.createdAt);
  }

  /** A hand by id or name; NOT_FOUND when the asker has none such, CONFLICT when the name is that of several. */
  find(named: string, asker: Asker): HandRow {
    const [row, second] = this.list(asker).filter((one) => one.id === named || one.name === named);
    if (row === undefined) throw new Fault("NOT_FOUND", `There is no hand ${JSON.stringify(named)}: vidro hands list`);
    if (second !== undefined)
      throw new Fault("CONFLICT", `Several hands are called ${JSON.stringify(named)}; give the id of one: ${row.id}.`);
    return row;
  }

  /**
   * The ids behind a selector, as a run keeps them: a hand's id or name, `tag:web`, `tool:shell`, or several of these
   * with commas. A tag or tool stands for the hands that could work now.
   */
  select(selector: string, asker: Asker): string {
    const ids = new Set<string>();
    for (const word of selector.split(",").map((part) => part.trim())) {
      for (const row of this.#matching(word, asker)) ids.add(row.id);
    }
    if (ids.size > HANDS.perRun)
      throw new Fault("BAD_REQUEST", `${selector} means ${ids.size} hands; a run has at most ${HANDS.perRun}.`);
    return [...ids].join(",");
  }

  /** The hand that a run keeps by these ids: one hand, or several as one; each is waited for when it is away. */
  at(ids: string): Hand {
    const hands = ids.split(",").map((id) => {
      const known = this.#known.get(id);
      if (known === undefined) throw new Fault("NOT_FOUND", `The hand ${id} is not known any more.`);
      return known.hand;
    });
    const [only, ...others] = hands;
    return only !== undefined && others.length === 0 ? only : routedHand(hands);
  }

  /** Ends a hand for good: its link is cut now, and it is never let in again. Durable when it resolves. */
  async revoke(id: string, why: string): Promise<void> {
    await this.#bar(id, { barred: "revoked", why });
  }

  /** Gives a hand no new work until it is released; it stays connected. */
  async quarantine(id: string, why: string): Promise<void> {
    await this.#bar(id, { barred: "quarantined", why });
  }

  /** Lets a hand work again that was in quarantine. */
  async release(id: string): Promise<void> {
    if (this.#must(id).hand.barred === "revoked") throw new Fault("HAND_REVOKED");
    await this.#world.records.delete(BARRED, id);
    await this.#heed();
  }

  /** How many are how. */
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

  #matching(word: string, asker: Asker): readonly HandRow[] {
    const [, kind, value] = /^(tag|tool):(.+)$/.exec(word) ?? [];
    if (value === undefined) return [this.find(word, asker)];
    const rows = this.list(asker).filter((row) =>
      kind === "tag" ? row.tags.includes(value) : row.tools.some((tool) => tool.name === value),
    );
    const ready = rows.filter((row) => row.state === "ok");
    if (ready.length > 0) return ready;
    const why = rows.length === 0 ? "no hand has it" : "none of its hands is connected";
    throw new Fault(rows.length === 0 ? "NOT_FOUND" : "HAND_UNAVAILABLE", `${word} finds nothing: ${why}.`);
  }

  #must(id: string): Known {
    const known = this.#known.get(id);
    if (known === undefined) throw new Fault("NOT_FOUND", `There is no hand ${JSON.stringify(id)}.`);
    return known;
  }

  #admit(card: HandCard): Known {
    if (this.#known.size >= HANDS.known)
      throw new Fault("RATE_LIMITED", `This brain knows ${HANDS.known} hands already; revoke some.`);
    const at = this.#world.now();
    const known = {
      hand: new RemoteHand(card),
      epoch: 0,
      why: undefined,
      lastSeenAt: at,
      writtenAt: at,
      createdAt: at,
    };
    this.#known.set(card.id, known);
    return known;
  }

  /** A crash may lose the last minute of when a hand was seen, and nothing else. */
  #seen(known: Known): void {
    known.lastSeenAt = this.#world.now();
    if (known.lastSeenAt - known.writtenAt >= HANDS.seenMs) void this.#save(known).catch(() => undefined);
  }

  async #save(known: Known, card = known.hand.card): Promise<void> {
    known.writtenAt = this.#world.now();
    const { id, owner, ...rest } = card;
    const { epoch, lastSeenAt } = known;
    const body = { ...rest, epoch, lastSeenAt } as unknown as JsonObject;
    await this.#world.records.put({ kind: KIND, id, owner, body });
  }

  async #bar(id: string, bar: Bar): Promise<void> {
    const { hand } = this.#must(id);
    if (hand.barred === "revoked") throw new Fault("HAND_REVOKED");
    await this.#world.records.put({ kind: BARRED, id, owner: hand.card.owner, body: { ...bar } });
    await this.#heed();
  }

  /** Holds to what is on record, whoever put it there: a revoked hand is hung up on at once. */
  async #heed(): Promise<void> {
    const records = await this.#world.records.list(BARRED, { limit: HANDS.known });
    const bars = new Map(records.map(({ id, body }) => [id, body as unknown as Bar]));
    for (const [id, known] of this.#known) {
      const bar = bars.get(id);
      if (known.hand.barred === bar?.barred) continue;
      known.why = bar?.why;
      known.hand.bar(bar?.barred);
      this.#world.log("warn", "what a hand may do has changed", { agent_id: id, barred: bar?.barred ?? "no" });
      if (bar?.barred === "revoked") known.hand.link?.close(new Fault("HAND_REVOKED").report());
    }
  }
}

/** Why a hand gets no work. */
interface Bar {
  readonly barred: Barred;
  readonly why: string;
}

interface Body extends Omit<HandCard, "id" | "owner"> {
  readonly epoch: number;
  readonly lastSeenAt: number;
}

function knownOf({ id, owner, body, createdAt }: StoredRecord): Known {
  const { epoch, lastSeenAt, ...card } = body as unknown as Body;
  const hand = new RemoteHand({ ...card, id, owner });
  return { hand, epoch, why: undefined, lastSeenAt, writtenAt: lastSeenAt, createdAt };
}

function isFor({ hand }: Known, { owner, admin }: Asker): boolean {
  return admin || hand.card.owner === owner;
}

function stateOf({ hand }: Known): HandState {
  if (hand.link === undefined) return "down";
  return hand.barred === undefined ? "ok" : "degraded";
}

function rowOf(known: Known): HandRow {
  const { hand, why, lastSeenAt, createdAt } = known;
  return {
    ...hand.card,
    state: stateOf(known),
    ...(hand.barred === undefined ? {} : { barred: hand.barred }),
    ...(why === undefined ? {} : { why }),
    lastSeenAt,
    createdAt,
  };
}
