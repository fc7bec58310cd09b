import { createHmac, randomBytes } from "node:crypto";
import { TOKEN_LIMITS } from "@vidro/core";

interface CachedToken {
  readonly version: number;
  readonly until: number;
}

/**
 * Tokens that were verified lately, each with the version of the row that it was verified against. Only a keyed hash of
 * a token is kept, under a random key of this process.
 */
export class TokenCache {
  readonly #now: () => number;
  readonly #key = randomBytes(32);
  readonly #known = new Map<string, CachedToken>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The keyed hash that a token is cached under. */
  nameOf(token: string): string {
    return createHmac("sha256", this.#key).update(token).digest("base64");
  }

  /** Whether the token of that name was verified against that version of its row. */
  has(name: string, version: number): boolean {
    const known = this.#known.get(name);
    if (known === undefined) return false;
    if (known.version === version && known.until > this.#now()) return true;
    this.#known.delete(name);
    return false;
  }

  /** Remembers a token that was verified. */
  add(name: string, version: number): void {
    const [oldest] = this.#known.size >= TOKEN_LIMITS.cached ? this.#known.keys() : [];
    if (oldest !== undefined) this.#known.delete(oldest);
    this.#known.delete(name);
    this.#known.set(name, { version, until: this.#now() + TOKEN_LIMITS.cacheMs });
  }
}
