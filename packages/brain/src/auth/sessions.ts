import { createHash, randomBytes } from "node:crypto";
import { Fault, SESSION_LIMITS } from "@vidro/core";
import type { JsonObject, Records } from "@vidro/core";
import type { VerifiedCaller } from "./caller.ts";
import type { Tokens } from "./tokens.ts";

/** A sign-in link's code: it opens one session. */
interface LinkCode {
  readonly code: string;
  readonly expiresAt: number;
}

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
 * hashes of secrets are kept; the secrets are random, so a plain hash is enough. Links live in memory and end with the
 * process.
 */
export class Sessions {
  readonly #records: Records;
  readonly #tokens: Pick<Tokens, "callerOf">;
  readonly #now: () => number;
  readonly #links = new Map<string, { readonly tokenId: string; readonly expiresAt: number }>();

  constructor(records: Records, tokens: Pick<Tokens, "callerOf">, now: () => number = Date.now) {
    this.#records = records;
    this.#tokens = tokens;
    this.#now = now;
  }

  /** Makes the code of a sign-in link for a token. */
  createLink(tokenId: string): LinkCode {
    const code = newSecret();
    const expiresAt = this.#now() + SESSION_LIMITS.linkMs;
    const [oldest] = this.#links.size >= SESSION_LIMITS.links ? this.#links.keys() : [];
    if (oldest !== undefined) this.#links.delete(oldest);
    this.#links.set(hashOf(code), { tokenId, expiresAt });
    return { code, expiresAt };
  }

  /** Opens a session with the code of a link; INVALID_TOKEN when it was used, has expired or never was. */
  async openByLink(code: string): Promise<OpenedSession> {
    const name = hashOf(code);
    const link = this.#links.get(name);
    this.#links.delete(name);
    if (link === undefined || link.expiresAt <= this.#now())
      throw new Fault(
        "INVALID_TOKEN",
        "This sign-in link was used already or has expired: `vidro console` prints a new one.",
      );
    return this.open(link.tokenId);
  }

  /** Opens a session for a token of this brain. */
  async open(tokenId: string): Promise<OpenedSession> {
    const { owner, expiresAt: tokenEnd } = await this.#tokens.callerOf(tokenId);
    await this.#makeRoom(owner);
    const secret = newSecret();
    const expiresAt = Math.min(tokenEnd ?? Infinity, this.#now() + SESSION_LIMITS.lifeMs);
    const body: Body = { tokenId, expires_at: expiresAt };
    await this.#records.put({ kind: KIND, id: hashOf(secret), owner, body }, 0);
    return { secret, expiresAt };
  }

  /** The caller of a session; INVALID_TOKEN when there is none, or its token was revoked. */
  async verify(secret: string): Promise<VerifiedCaller> {
    const record = await this.#records.get(KIND, hashOf(secret));
    if (record === undefined) throw new Fault("INVALID_TOKEN", "This session has ended: sign in again.");
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only this file writes records of this kind
    const { tokenId, expires_at: expiresAt } = record.body as Body;
    if (expiresAt <= this.#now()) throw new Fault("TOKEN_EXPIRED", "This session has expired: sign in again.");
    return { ...(await this.#tokens.callerOf(tokenId)), expiresAt };
  }

  /** Ends a session; does nothing when there is none. */
  async end(secret: string): Promise<void> {
    await this.#records.delete(KIND, hashOf(secret));
  }

  /** Removes the oldest sessions of an owner that has as many as are allowed. */
  async #makeRoom(owner: string): Promise<void> {
    const kept = await this.#records.list(KIND, { owner, limit: SESSION_LIMITS.sessions, order: "oldest" });
    const excess = kept.length - SESSION_LIMITS.sessions + 1;
    for (const { id } of kept.slice(0, Math.max(0, excess))) await this.#records.delete(KIND, id);
  }
}

function newSecret(): string {
  return randomBytes(SESSION_LIMITS.secretBytes).toString("base64url");
}

function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
