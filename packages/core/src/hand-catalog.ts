import type { ToolSpec } from "./tool.ts";

/*
 * The port through which surfaces list, choose, restrict, invite and dial hands. Only a hand's gateway knows how to
 * reach it.
 */

/** The ways by which hands are reached. */
export type GatewayName = "local" | "executor-ws" | "agent-ws" | "agent-http" | "agent-tcp";

/** What a hand reported of itself and its gateway accepted. */
export interface HandDescription {
  /** Stays the same when the hand is renamed. */
  readonly id: string;
  /** Whose runs may use it; an administrator's may use any. */
  readonly owner: string;
  readonly name: string;
  readonly gateway: GatewayName;
  /** Version of the program that is the hand. */
  readonly version: string;
  readonly workspace: string;
  readonly tools: readonly ToolSpec[];
  readonly tags: readonly string[];
  /** Public key of the receipts that it signs; absent when it signs none. */
  readonly receiptKey?: string;
}

/** Why a hand gets no work although it may be connected. */
export type HandRestriction = "revoked" | "quarantined";

/** ok: works. degraded: connected, but gets no work. down: not connected. */
export type HandState = "ok" | "degraded" | "down";

/** A hand in a list. */
export interface HandRow extends HandDescription {
  readonly state: HandState;
  readonly barred?: HandRestriction;
  /** Why it is restricted or unreachable, in words for people. */
  readonly why?: string;
  readonly lastSeenAt: number;
  readonly createdAt: number;
}

/** The caller that asks for hands; an administrator sees those of all owners. */
export interface Asker {
  readonly owner: string;
  readonly admin: boolean;
}

/** The hands of a brain, its own machine's included, as surfaces list, choose and bar them. Rejections are Faults. */
export interface HandCatalog {
  /** The hands that an asker may use: the brain's own machine first, the others by name. */
  list(asker: Asker): readonly HandRow[];
  /** A hand by id or name; throws NOT_FOUND when the asker has no such hand, CONFLICT when several have that name. */
  find(named: string, asker: Asker): HandRow;
  /** The hands that a selector matches. */
  choose(selector: string, asker: Asker): readonly HandRow[];
  /** Ids of the hands that a selector matches, as a run stores them. */
  select(selector: string, asker: Asker): string;
  /** The tools of the hands of these ids; those of the brain's own machine without them. */
  tools(ids?: string): Promise<readonly ToolSpec[]>;
  /** Revokes a hand on another machine, permanently. */
  revoke(named: string, why: string, asker: Asker): Promise<HandRow>;
  /** Stops giving new work to a hand on another machine. */
  quarantine(named: string, why: string, asker: Asker): Promise<HandRow>;
  /** Lets a hand on another machine work again. */
  release(named: string, asker: Asker): Promise<HandRow>;
}

/** Whom an invitation is for. */
export interface Invitee {
  /** Whose hand it will be. */
  readonly owner: string;
  /** Name of the hand; chosen by the host when absent. */
  readonly name?: string;
  /** Tags of the hand; none when absent. */
  readonly tags?: readonly string[];
}

/** An invitation, ready to be passed on to the host. */
export interface InvitationLetter {
  /** What to paste on the host: it installs Vidro there, unless it needs it. */
  readonly command: string;
  /** Whether the command needs Vidro on the host: no archive could be offered, or none was asked for. */
  readonly needsVidro: boolean;
  readonly token: string;
  readonly url: string;
  readonly expiresAt: number;
  /** Whether its URL can be reached from this machine only. */
  readonly onlyHere: boolean;
}

/** How a host is invited. */
export interface InvitationOptions {
  /** Lifetime; default: the longest. */
  readonly lifeMs?: number;
  /** The host has Vidro already: the command installs nothing. */
  readonly installed?: boolean;
}

/** Lets hosts become hands of a brain. Rejections are Faults. */
export interface HandAdmission {
  /** Invites a host; durable when it resolves. */
  invite(who: Invitee, options?: InvitationOptions): Promise<InvitationLetter>;
  /** Gives a hand that signs its messages its next key; resolves to the id of that key. */
  rotateKey(hand: string): Promise<string>;
  /** Sets the address at which a listening hand may be called; undefined removes it. */
  allowAddress(hand: string, url: string | undefined): Promise<void>;
}

/** Whom to dial. */
export interface DialRequest {
  readonly owner: string;
  /** `tls://host:port`, or `tcp://host:port` on this machine. */
  readonly url: string;
  /** A token that the hand issued. */
  readonly token: string;
  /** Its name; default: the one that it reports. */
  readonly name?: string;
  readonly tags?: readonly string[];
  /** Certificates in PEM to trust for this hand, instead of the system's. */
  readonly ca?: string;
  /** For test networks: no TLS although it is another machine. */
  readonly lab?: boolean;
}

/** Dials hands that listen. */
export interface HandDialler {
  /** Keeps dialling a hand until it is revoked. Resolves to its id after the first try; durable then. */
  dial(request: DialRequest): Promise<string>;
}
