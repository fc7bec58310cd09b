import { createHash, randomBytes } from "node:crypto";
import { SESSION_LIMITS } from "@vidro/core";

/** A code that was just made: the only time that it is visible. */
export interface SingleUseCode {
  readonly code: string;
  readonly expiresAt: number;
}

/**
 * Codes of links that count once. They live in memory and end with the process; only their hashes are kept. Beyond
 * `most` valid codes a further one ends the oldest.
 */
export class SingleUseCodes<Value> {
  readonly #values = new Map<string, { readonly value: Value; readonly expiresAt: number }>();
  readonly #lifeMs: number;
  readonly #most: number;
  readonly #now: () => number;

  constructor({ lifeMs, most, now }: { readonly lifeMs: number; readonly most: number; readonly now: () => number }) {
    this.#lifeMs = lifeMs;
    this.#most = most;
    this.#now = now;
  }

  /** Makes a code for a value. */
  create(value: Value): SingleUseCode {
    const code = newSecret();
    const expiresAt = this.#now() + this.#lifeMs;
    const [oldest] = this.#values.size >= this.#most ? this.#values.keys() : [];
    if (oldest !== undefined) this.#values.delete(oldest);
    this.#values.set(secretHash(code), { value, expiresAt });
    return { code, expiresAt };
  }

  /** The value of a code that was not used; undefined when it was used, has expired or never was. */
  find(code: string): Value | undefined {
    const kept = this.#values.get(secretHash(code));
    return kept === undefined || kept.expiresAt <= this.#now() ? undefined : kept.value;
  }

  /** The same, and uses the code up. */
  take(code: string): Value | undefined {
    const value = this.find(code);
    this.#values.delete(secretHash(code));
    return value;
  }
}

/** A random secret for a link or a session. */
export function newSecret(): string {
  return randomBytes(SESSION_LIMITS.secretBytes).toString("base64url");
}

/** The hash under which a random secret is kept; it is random, so a plain hash is enough. */
export function secretHash(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
