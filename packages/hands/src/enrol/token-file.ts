import { argon2, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { readFileSync, statSync, unwatchFile, watchFile } from "node:fs";
import { promisify } from "node:util";
import { asFault, Fault, isObject, TOKEN_LIMITS, HAND_LIMITS } from "@vidro/core";
import { parseJson } from "@vidro/core/codec";
import type { Json } from "@vidro/core";
import type { Bearer } from "../links/agent-tcp.ts";

/*
 * Tokens of a hand on a host without a brain: a file with mode 0600 that `vidro tokens export` writes. Changes take
 * effect within a second; while the file cannot be read, no token is accepted and every session ends.
 */

const derive = promisify(argon2);
const BEARER = /^([0-9a-f]{32})\.([\w-]{43})$/;
const PHC = /^\$argon2id\$v=19\$m=(\d{1,6}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z\d+/]{11,64})\$([A-Za-z\d+/]{16,128})$/;
/** Hash with which an unknown token is compared, so that it takes as long as a known one. */
const DECOY_HASH = `$argon2id$v=19$m=${TOKEN_LIMITS.hashKib},t=${TOKEN_LIMITS.hashPasses},p=${TOKEN_LIMITS.hashLanes}$${"A".repeat(22)}$${"A".repeat(43)}`;
interface TokenRow {
  readonly tokenId: string;
  readonly secretHash: string;
  readonly scopes: readonly string[];
  readonly expires_at: number | null;
  readonly revoked: boolean;
}

/** Sessions of one token, and what the file said of it when the first of them began. */
interface TokenSessions {
  readonly stop: AbortController;
  readonly rights: string;
}

/** What a row grants: sessions end when it changes, and the next ones have the new rights. */
function rightsOf({ secretHash, scopes, expires_at }: TokenRow): string {
  return JSON.stringify([secretHash, scopes, expires_at]);
}

/** Verifies tokens against a file. */
export class TokenFile {
  readonly #path: string;
  readonly #look = (): void => this.#read();
  readonly #key = randomBytes(32);
  /** Hashes that verified tokens matched, by an HMAC of the token under a key of this process. */
  readonly #known = new Map<string, string>();
  readonly #sessions = new Map<string, TokenSessions>();
  #rows: ReadonlyMap<string, TokenRow> = new Map();
  #why: Fault | undefined;
  #hashing: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** Throws BAD_REQUEST if the file cannot be used or other users can read it. */
  constructor(path: string) {
    this.#path = path;
    this.#read();
    if (this.#why !== undefined) throw this.#why;
    watchFile(path, { interval: HAND_LIMITS.tokenFileLookMs, persistent: false }, this.#look);
  }

  /** The bearer of a token; throws INVALID_TOKEN, TOKEN_EXPIRED, or RATE_LIMITED if too many checks are waiting. */
  async verify(token: string): Promise<Bearer> {
    if (this.#why !== undefined) throw new Fault("INVALID_TOKEN", "No token can be checked now.", { cause: this.#why });
    const [, tokenId = "", secret = ""] = BEARER.exec(token) ?? [];
    const asked = this.#rows.get(tokenId);
    const isRight = await this.#isRight(token, secret, asked?.secretHash ?? DECOY_HASH);
    // The file may have changed while the hash was computed.
    const row = this.#rows.get(tokenId);
    if (!isRight || row === undefined || row.revoked || row.secretHash !== asked?.secretHash)
      throw new Fault("INVALID_TOKEN");
    if (row.expires_at !== null && row.expires_at <= Date.now()) throw new Fault("TOKEN_EXPIRED");
    const sessions = this.#sessions.get(tokenId) ?? { stop: new AbortController(), rights: rightsOf(row) };
    this.#sessions.set(tokenId, sessions);
    return { tokenId, scopes: new Set(row.scopes), expiresAt: row.expires_at, revoked: sessions.stop.signal };
  }

  /** Stops watching the file. */
  close(): void {
    unwatchFile(this.#path, this.#look);
  }

  async #isRight(token: string, secret: string, hash: string): Promise<boolean> {
    const name = createHmac("sha256", this.#key).update(token).digest("base64");
    if (this.#known.get(name) === hash) return true;
    if (this.#waiting >= TOKEN_LIMITS.waiting)
      throw new Fault("RATE_LIMITED", "Too many tokens are being checked.", {
        retryAfterMs: TOKEN_LIMITS.retryAfterMs,
      });
    this.#waiting += 1;
    // One at a time: a hash takes memory, and guessing must be slow.
    const checked = this.#hashing.then(() => isHashOf(hash, secret));
    this.#hashing = checked.catch(() => undefined);
    const isRight = await checked.finally(() => (this.#waiting -= 1));
    if (isRight && this.#known.size < TOKEN_LIMITS.cached) this.#known.set(name, hash);
    return isRight;
  }

  #read(): void {
    try {
      if ((statSync(this.#path).mode & 0o077) !== 0) throw new Error("others can read it; chmod 600 it");
      this.#rows = parseRows(parseJson(readFileSync(this.#path, "utf8")));
      this.#why = undefined;
    } catch (cause) {
      this.#rows = new Map();
      this.#why = new Fault("BAD_REQUEST", `${this.#path} is no file of tokens: ${asFault(cause).message}.`, { cause });
    }
    for (const [tokenId, { stop, rights }] of this.#sessions) {
      const row = this.#rows.get(tokenId);
      if (row?.revoked === false && rightsOf(row) === rights) continue;
      stop.abort();
      this.#sessions.delete(tokenId);
    }
  }
}

function parseRows(file: Json): ReadonlyMap<string, TokenRow> {
  const rows = isObject(file) && Array.isArray(file["tokens"]) ? (file["tokens"] as readonly Json[]) : undefined;
  if (rows === undefined || rows.length > TOKEN_LIMITS.listed) throw new Error('it has no list "tokens"');
  return new Map(rows.map((row) => [parseRow(row).tokenId, parseRow(row)]));
}

function parseRow(row: Json): TokenRow {
  const { tokenId, secretHash, scopes, expires_at: expires, revoked } = isObject(row) ? row : {};
  const isSound =
    typeof tokenId === "string" &&
    typeof secretHash === "string" &&
    PHC.test(secretHash) &&
    Array.isArray(scopes) &&
    scopes.every((scope) => typeof scope === "string") &&
    (expires === null || typeof expires === "number") &&
    typeof revoked === "boolean";
  if (!isSound) throw new Error("a row lacks tokenId, secretHash, scopes, expires_at or revoked");
  return row as unknown as TokenRow;
}

async function isHashOf(kept: string, secret: string): Promise<boolean> {
  const [, memory, passes, parallelism, salt = "", hash = ""] = PHC.exec(kept) ?? [];
  const expected = Buffer.from(hash, "base64");
  const found = await derive("argon2id", {
    message: secret,
    nonce: Buffer.from(salt, "base64"),
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    tagLength: expected.length,
  });
  return timingSafeEqual(found, expected);
}
