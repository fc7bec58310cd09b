import type { ToolSpec } from "./tool.ts";

/*
 * What surfaces may know of hands and ask of them: to list, choose, bar, invite and dial them. How a hand is reached is
 * known to its gateway alone.
 */

/** The ways by which hands are reached. */
export type GatewayName = "local" | "executor-ws" | "agent-ws" | "agent-http" | "agent-tcp";

/** What is known of a hand: what it said of itself, as far as its gateway believes it. */
export interface HandDescription {
  /** Never changes, whatever the hand is called. */
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
  /** The public key of the receipts that it signs, if it does. */
  readonly receiptKey?: string;
}

/** Why a hand that may be there gets no work. */
export type HandRestriction = "revoked" | "quarantined";

/** How a hand is: ok works, degraded is connected but gets no work, down is not connected. */
export type HandState = "ok" | "degraded" | "down";

/** A hand in a list. */
export interface HandRow extends HandDescription {
  readonly state: HandState;
  readonly barred?: HandRestriction;
  /** Why it is barred, or cannot be reached, in words for people. */
  readonly why?: string;
  readonly lastSeenAt: number;
  readonly createdAt: number;
}

/** Who asks for hands; an administrator sees everybody's. */
export interface Asker {
  readonly owner: string;
  readonly admin: boolean;
}

/** The hands of a brain, its own machine's included, as surfaces list, choose and bar them. Rejections are Faults. */
export interface HandCatalog {
  /** The hands that an asker may use: the brain's own machine first, the others by name. */
  list(asker: Asker): readonly HandRow[];
  /** A hand by id or name; throws NOT_FOUND when the asker has none such, CONFLICT when several have that name. */
  find(named: string, asker: Asker): HandRow;
  /** The hands that an asker means by a selector. */
  choose(selector: string, asker: Asker): readonly HandRow[];
  /** Ids of the hands that an asker means by a selector, as a run keeps them. */
  select(selector: string, asker: Asker): string;
  /** The tools of the hands of these ids; those of the brain's own machine without them. */
  tools(ids?: string): Promise<readonly ToolSpec[]>;
  /** Ends a hand on another machine for good. */
  revoke(named: string, asker: Asker, why: string): Promise<HandRow>;
  /** Gives a hand on another machine no new work. */
  quarantine(named: string, asker: Asker, why: string): Promise<HandRow>;
  /** Lets a hand on another machine work again. */
  release(named: string, asker: Asker): Promise<HandRow>;
}

/** Whom an invitation is for. */
export interface Invitee {
  /** Whose hand it will be. */
  readonly owner: string;
  /** What it will be called; the host says it when this does not. */
  readonly name?: string;
  /** What it will be chosen by; nothing when this does not say it. */
  readonly tags?: readonly string[];
}

/** An invitation as it is passed on. */
export interface InvitationLetter {
  /** What to paste on the host. */
  readonly command: string;
  readonly token: string;
  readonly url: string;
  readonly expiresAt: number;
  /** Whether only this machine can follow it. */
  readonly onlyHere: boolean;
}

/** Lets hosts become hands of a brain. Rejections are Faults. */
export interface HandAdmission {
  /** Invites a host; durable when it resolves. */
  invite(who: Invitee, lifeMs?: number): Promise<InvitationLetter>;
  /** Gives a hand that signs its messages its next key, and tells the name of that key. */
  rotateKey(hand: string): Promise<string>;
  /** Lets a hand that listens be called at an address, or at none. */
  allowAddress(hand: string, url: string | undefined): Promise<void>;
}

/** Whom to dial. */
export interface DialRequest {
  readonly owner: string;
  /** `tls://host:port`, or `tcp://host:port` on this machine. */
  readonly url: string;
  /** One of the hand's own. */
  readonly token: string;
  /** What to call it; default: as it calls itself. */
  readonly name?: string;
  readonly tags?: readonly string[];
  /** Certificates in PEM that the hand is believed by, instead of those that the system trusts. */
  readonly ca?: string;
  /** A laboratory: no TLS, though it is another machine. */
  readonly lab?: boolean;
}

/** Dials hands that listen. */
export interface HandDialler {
  /** Dials a hand from now on, until it is revoked; gives its id when it was tried once. Durable when it resolves. */
  dial(request: DialRequest): Promise<string>;
}
