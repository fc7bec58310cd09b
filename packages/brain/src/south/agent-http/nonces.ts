import { Fault, REGISTER_LIMITS, SIGNED_HTTP_LIMITS } from "@vidro/core";
import type { Records } from "@vidro/core";
import type { SignatureClaim } from "@vidro/core/wire/signature";
import { AttemptLimit } from "../enrolment/attempt-limit.ts";

const KIND = "nonce";

/**
 * Nonces that have come, for as long as the time in a message could still pass. They are records, so that neither a
 * restart nor a second brain over the same store takes a message twice; when they cannot be written, none is taken.
 */
export class Nonces {
  readonly #records: Records;
  readonly #now: () => number;

  /** Together with how long a nonce is kept, this bounds how many there are. */
  readonly #tries: AttemptLimit;

  constructor(records: Records, now: () => number) {
    this.#records = records;
    this.#now = now;
    this.#tries = new AttemptLimit(
      { burst: SIGNED_HTTP_LIMITS.burst, everyMs: SIGNED_HTTP_LIMITS.everyMs, kept: REGISTER_LIMITS.known },
      now,
    );
  }

  /** Keeps a nonce; false when it has come before, RATE_LIMITED when a key is used too often. */
  async isFirst({ keyid, nonce = "" }: SignatureClaim): Promise<boolean> {
    this.#tries.takeAttempt(keyid);
    const id = `${keyid} ${nonce}`;
    try {
      await this.#records.put({ kind: KIND, id, owner: keyid, body: {} }, 0);
    } catch (thrown) {
      if (thrown instanceof Fault && thrown.code === "CONFLICT") return false;
      throw thrown;
    }
    await this.#forget();
    return true;
  }

  /** More than one goes for each that comes, so that what is kept shrinks to what is needed. */
  async #forget(): Promise<void> {
    const oldest = await this.#records.list(KIND, { limit: SIGNED_HTTP_LIMITS.noncesRemoved });
    const until = this.#now() - SIGNED_HTTP_LIMITS.nonceMs;
    for (const { id, createdAt } of oldest) if (createdAt < until) await this.#records.delete(KIND, id);
  }
}
