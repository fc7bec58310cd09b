import { HAND_LIMITS, REGISTER_LIMITS } from "@vidro/core";
import { oneLine } from "@vidro/core/text";
import type { Asker, Hand, HandDescription, HandRow, HandState } from "@vidro/core";
import type { HandLink } from "../link.ts";
import type { StoredHand } from "./hand-records.ts";
import type { RemoteHand } from "./remote-hand.ts";

/** A hand in the register, on the brain's own machine or on another one. */
export interface RegisteredHand {
  /** The hand as lists show it; undefined when lists leave it out. */
  readonly row: () => HandRow | undefined;
  /** Whether runs of an asker may use it. */
  readonly isFor: (asker: Asker) => boolean;
  /** The hand for a run that works in a workspace, or in the hand's own; only the brain's machine has several. */
  readonly open: (workspace?: string) => Promise<Hand>;
}

/** A hand on another machine in the register. */
export class RegisteredRemoteHand implements RegisteredHand {
  readonly hand: RemoteHand;
  /** The latest that it was given, by this brain or by another one on the store. */
  epoch: number;
  /** The one of its last connection to this brain. */
  linkEpoch = 0;
  /** Why it is barred. */
  why: string | undefined;
  /** Why it cannot be reached, where the gateway knows it. */
  away: string | undefined;
  lastSeenAt: number;
  /** When it was last written to the store. */
  writtenAt: number;
  readonly createdAt: number;

  constructor(hand: RemoteHand, { epoch, lastSeenAt, createdAt }: Omit<StoredHand, "description">) {
    this.hand = hand;
    this.epoch = epoch;
    this.lastSeenAt = lastSeenAt;
    this.writtenAt = lastSeenAt;
    this.createdAt = createdAt;
  }

  /** Whether it is connected and gets work. */
  get state(): HandState {
    if (this.hand.link === undefined) return "down";
    return this.hand.barred === undefined ? "ok" : "degraded";
  }

  /** Its connection to this brain, and not that of another brain. */
  get ownLink(): HandLink | undefined {
    const { link } = this.hand;
    return link?.isRelayed === true ? undefined : link;
  }

  /** Whether each brain has a connection of its own to it. */
  get isDialled(): boolean {
    return this.hand.description.gateway === "agent-tcp";
  }

  isFor({ owner, admin }: Asker): boolean {
    return admin || this.hand.description.owner === owner;
  }

  async open(): Promise<Hand> {
    return this.hand;
  }

  row(): HandRow {
    const { hand, lastSeenAt, createdAt } = this;
    const why = this.why ?? (hand.link === undefined ? this.away : undefined);
    return {
      ...hand.description,
      state: this.state,
      ...(hand.barred === undefined ? {} : { barred: hand.barred }),
      ...(why === undefined ? {} : { why }),
      lastSeenAt,
      createdAt,
    };
  }
}

/** What a hand says of itself, cut to single lines of bounded length: people and models read it. */
export function boundedDescription(description: HandDescription): HandDescription {
  const { nameChars } = REGISTER_LIMITS;
  return {
    ...description,
    name: oneLine(description.name, nameChars) || description.id,
    version: oneLine(description.version, nameChars),
    workspace: oneLine(description.workspace, HAND_LIMITS.pathChars),
    tags: description.tags.map((tag) => oneLine(tag, nameChars)),
  };
}
