import { randomBytes } from "node:crypto";
import { Fault, PAGE_LIMITS, TOKEN_LIMITS } from "@vidro/core";
import type { JsonObject, Records, StoredRecord } from "@vidro/core";
import type { JwtVerifier } from "./jwt.ts";
import { TokenCache } from "./token-cache.ts";
import { Revocations } from "./revocations.ts";
import { checkScopes, isAdmin, ROLES } from "./scopes.ts";
import type { Role } from "./scopes.ts";
import { hashSecret, isHashOf, DUMMY_HASH } from "./secret-hash.ts";
import { ConcurrencyLimit } from "./concurrency-limit.ts";
import type { VerifiedCaller } from "./caller.ts";

/** Fields of a new token; it may start runs when neither scopes nor a role are given. */
export interface TokenRequest {
  readonly owner: string;
  readonly scopes?: readonly string[];
  readonly role?: Role;
  readonly expiresAt?: number;
}

/** A token that was just made: the only time that its secret is visible. */
export interface NewToken {
  readonly tokenId: string;
  readonly token: string;
  readonly owner: string;
  readonly scopes: readonly string[];
  readonly expiresAt: number | null;
}

/** A token in a list. */
export interface TokenRow extends Omit<NewToken, "token"> {
  readonly revoked: boolean;
  readonly version: number;
  readonly createdAt: number;
}

/** Options of Tokens. */
export interface TokensOptions {
  readonly now?: () => number;
  /** Verifies tokens signed by an external issuer. */
  readonly jwt?: JwtVerifier;
}

/** The body of a record of this kind is a row of the token store. */
interface Body extends JsonObject {
  readonly tokenId: string;
  readonly secretHash: string;
  readonly scopes: readonly string[];
  readonly expires_at: number | null;
  readonly revoked: boolean;
}

const KIND = "token";
/** A JSON Web Token has three parts, a token of this brain two. */
const SIGNED = /^[\w-]+\.[\w-]+\.[\w-]*$/;
const BEARER = new RegExp(
  `^([0-9a-f]{${TOKEN_LIMITS.idBytes * 2}})\\.([\\w-]{${Math.ceil((TOKEN_LIMITS.secretBytes * 4) / 3)}})$`,
);

/** Makes, lists, verifies and revokes the tokens of all wires. */
export class Tokens {
  readonly #records: Records;
  readonly #now: () => number;
  readonly #jwt: JwtVerifier | undefined;
  readonly #known: TokenCache;
  readonly #revocations = new Revocations((tokens) => this.#revokedAmong(tokens));
  /** Checks under way, so that concurrent requests with one token cost one hash. */
  readonly #checks = new Map<string, Promise<boolean>>();
  readonly #hashing = new ConcurrencyLimit({
    atOnce: TOKEN_LIMITS.hashes,
    waiting: TOKEN_LIMITS.waiting,
    retryAfterMs: TOKEN_LIMITS.retryAfterMs,
  });
  #stopWatching: (() => void) | undefined;

  constructor(records: Records, options: TokensOptions = {}) {
    this.#records = records;
    this.#now = options.now ?? Date.now;
    this.#jwt = options.jwt;
    this.#known = new TokenCache(this.#now);
  }

  /** Makes a token; only a hash of its secret is kept. */
  async create(request: TokenRequest): Promise<NewToken> {
    const { owner, expiresAt = null } = request;
    if (owner.trim() === "") throw new Fault("BAD_REQUEST", "A token needs an owner.");
    const scopes = checkScopes(request.scopes ?? ROLES[request.role ?? "user"]);
    if (expiresAt !== null && !(expiresAt > this.#now()))
      throw new Fault("BAD_REQUEST", "A token has to expire at a time that is still to come.");
    const tokenId = randomBytes(TOKEN_LIMITS.idBytes).toString("hex");
    const secret = randomBytes(TOKEN_LIMITS.secretBytes).toString("base64url");
    const secretHash = await this.#hashing.run(() => hashSecret(secret));
    const body: Body = { tokenId, secretHash, scopes, expires_at: expiresAt, revoked: false };
    await this.#records.put({ kind: KIND, id: tokenId, owner, body }, 0);
    return { tokenId, token: `${tokenId}.${secret}`, owner, scopes, expiresAt };
  }

  /** Tokens, oldest first, starting behind the one with the id `after`. */
  async list(page: { readonly after?: string; readonly limit?: number } = {}): Promise<readonly TokenRow[]> {
    return (await this.#records.list(KIND, { limit: PAGE_LIMITS.items, ...page })).map(rowOf);
  }

  /** Revokes a token and ends its live sessions; does nothing when it is revoked already. */
  async revoke(tokenId: string): Promise<void> {
    const record = await this.#records.get(KIND, tokenId);
    if (record === undefined) throw new Fault("NOT_FOUND", `There is no token ${tokenId}.`);
    if (bodyOf(record).revoked) return;
    await this.#records.put({ ...record, body: { ...record.body, revoked: true } }, record.version);
  }

  /** Calls back when a token was made or changed, also by another process; returns a function that stops that. */
  watch(changed: () => void): () => void {
    return this.#records.watch(KIND, changed);
  }

  /** Verifies a token; INVALID_TOKEN when it is unknown, wrong or revoked, TOKEN_EXPIRED when it has expired. */
  async verify(token: string): Promise<VerifiedCaller> {
    if (token === "") throw new Fault("AUTH_REQUIRED");
    if (token.length > TOKEN_LIMITS.chars) throw new Fault("INVALID_TOKEN");
    if (this.#jwt !== undefined && SIGNED.test(token)) return this.#jwt(token);
    const [, tokenId, secret] = BEARER.exec(token) ?? [];
    if (tokenId === undefined || secret === undefined) throw new Fault("INVALID_TOKEN");
    const record = await this.#records.get(KIND, tokenId);
    if (!(await this.#isRight(record, token, secret)) || record === undefined) throw new Fault("INVALID_TOKEN");
    return this.callerOf(tokenId);
  }

  /** The caller that a token of that id stands for, for a session that the token opened. */
  async callerOf(tokenId: string): Promise<VerifiedCaller> {
    this.#stopWatching ??= this.#records.watch(KIND, () => this.#revocations.look());
    // Taken before the row is read: a revocation from here on aborts the signal.
    const revoked = this.#revocations.signalOf(tokenId);
    return this.#verifyRecord(await this.#records.get(KIND, tokenId), revoked);
  }

  /**
   * Whether the id in a token is that of a valid administrator's token; the secret is not checked, as that costs a
   * hash.
   */
  async namesAdmin(token: string): Promise<boolean> {
    const [, tokenId] = BEARER.exec(token.slice(0, TOKEN_LIMITS.chars)) ?? [];
    const record = tokenId === undefined ? undefined : await this.#records.get(KIND, tokenId);
    if (record === undefined) return false;
    const { scopes, expiresAt, revoked } = rowOf(record);
    return !revoked && (expiresAt === null || expiresAt > this.#now()) && isAdmin(new Set(scopes));
  }

  /** Stops watching for revocations. */
  close(): void {
    this.#stopWatching?.();
    this.#revocations.close();
  }

  async #isRight(record: StoredRecord | undefined, token: string, secret: string): Promise<boolean> {
    const name = this.#known.nameOf(token);
    const version = record?.version ?? 0;
    if (this.#known.has(name, version)) return true;
    const hash = record === undefined ? DUMMY_HASH : bodyOf(record).secretHash;
    const check = this.#checks.get(name) ?? this.#hashing.run(() => isHashOf(hash, secret));
    this.#checks.set(name, check);
    const isRight = await check.finally(() => this.#checks.delete(name));
    if (isRight) this.#known.add(name, version);
    return isRight;
  }

  #verifyRecord(record: StoredRecord | undefined, revoked: AbortSignal): VerifiedCaller {
    const row = record && rowOf(record);
    if (row === undefined || row.revoked) throw new Fault("INVALID_TOKEN");
    const { tokenId, owner, expiresAt } = row;
    if (expiresAt !== null && expiresAt <= this.#now()) throw new Fault("TOKEN_EXPIRED");
    const scopes = new Set(row.scopes);
    return { owner, tokenId, scopes, admin: isAdmin(scopes), expiresAt, revoked };
  }

  async #revokedAmong(tokens: readonly string[]): Promise<readonly string[]> {
    const revoked: string[] = [];
    for (const token of tokens) {
      const record = await this.#records.get(KIND, token);
      if (record === undefined || bodyOf(record).revoked) revoked.push(token);
    }
    return revoked;
  }
}

/** Whether a token of this brain is revoked; one that another issuer signed is no record here, and is not. */
export async function isTokenRevoked(records: Records, tokenId: string): Promise<boolean> {
  const record = await records.get(KIND, tokenId);
  return record !== undefined && bodyOf(record).revoked;
}

function bodyOf(record: StoredRecord): Body {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only this file writes records of this kind
  return record.body as Body;
}

function rowOf(record: StoredRecord): TokenRow {
  const { tokenId, scopes, expires_at: expiresAt, revoked } = bodyOf(record);
  const { owner, version, createdAt } = record;
  return { tokenId, owner, scopes, expiresAt, revoked, version, createdAt };
}
