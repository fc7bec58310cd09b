import { Fault, SESSION_LIMITS } from "@vidro/core";
import type { JsonObject, Records } from "@vidro/core";
import type { VerifiedCaller } from "./caller.ts";
import { newSecret, secretHash, SingleUseCodes } from "./single-use-codes.ts";
import type { SingleUseCode } from "./single-use-codes.ts";
import type { Tokens } from "./tokens.ts";

/** A session that was just opened: the only time that its secret is visible. */
export interface OpenedSession {
  readonly secret: string;
  readonly expiresAt: number;
}

interface Body extends JsonObject {
  readonly tokenId: string;
  readonly expires_at: number;
}

const KIND = "session";

/**
 * Sessions of browsers. A session stands for the token that opened it: it has the token's scopes, and ends with it. Only
 * hashes of secrets are kept.
 */
export class Sessions {
  readonly #records: Records;
  readonly #tokens: Pick<Tokens, "callerOf">;
  readonly #now: () => number;
  /** Ids of the tokens that sign-in links stand for. */
  readonly #links: SingleUseCodes<string>;

  constructor(records: Records, tokens: Pick<Tokens, "callerOf">, now: () => number = Date.now) {
    this.#records = records;
    this.#tokens = tokens;
    this.#now = now;
    this.#links = new SingleUseCodes({ lifeMs: SESSION_LIMITS.linkMs, most: SESSION_LIMITS.links, now });
  }

  /** Makes the code of a sign-in link for a token: it opens one session. */
  createLink(tokenId: string): SingleUseCode {
    return this.#links.create(tokenId);
  }

  /** Opens a session with the code of a link; INVALID_TOKEN when it was used, has expired or never was. */
  async openByLink(code: string): Promise<OpenedSession> {
    const tokenId = this.#links.take(code);
    if (tokenId === undefined)
      throw new Fault(
        "INVALID_TOKEN",
        "This sign-in link was used already or has expired: `vidro console` prints a new one.",
      );
    return this.open(tokenId);
  }

  /** Opens a session for a token of this brain. */
  async open(tokenId: string): Promise<OpenedSession> {
    const { owner, expiresAt: tokenEnd } = await this.#tokens.callerOf(tokenId);
    await this.#makeRoom(owner);
    const secret = newSecret();
    const expiresAt = Math.min(tokenEnd ?? Infinity, this.#now() + SESSION_LIMITS.lifeMs);
    const body: Body = { tokenId, expires_at: expiresAt };
    await this.#records.put({ kind: KIND, id: secretHash(secret), owner, body }, 0);
    return { secret, expiresAt };
  }

  /** The caller of a session; INVALID_TOKEN when there is none, or its token was revoked. */
  async verify(secret: string): Promise<VerifiedCaller> {
    const record = await this.#records.get(KIND, secretHash(secret));
    if (record === undefined) throw new Fault("INVALID_TOKEN", "This session has ended: sign in again.");
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only this file writes records of this kind
    const { tokenId, expires_at: expiresAt } = record.body as Body;
    if (expiresAt <= this.#now()) throw new Fault("TOKEN_EXPIRED", "This session has expired: sign in again.");
    return { ...(await this.#tokens.callerOf(tokenId)), expiresAt };
  }

  /** Ends a session; does nothing when there is none. */
  async end(secret: string): Promise<void> {
    await this.#records.delete(KIND, secretHash(secret));
  }

  /** Removes the oldest sessions of an owner that has as many as are allowed. */
  async #makeRoom(owner: string): Promise<void> {
    const kept = await this.#records.list(KIND, { owner, limit: SESSION_LIMITS.sessions, order: "oldest" });
    const excess = kept.length - SESSION_LIMITS.sessions + 1;
    for (const { id } of kept.slice(0, Math.max(0, excess))) await this.#records.delete(KIND, id);
  }
}
