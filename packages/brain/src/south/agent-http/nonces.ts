import { Fault, REGISTER_LIMITS, SIGNED_HTTP_LIMITS } from "@vidro/core";
import type { Bus, Records } from "@vidro/core";
import type { SignatureClaim } from "@vidro/core/wire/signature";
import { AttemptLimit } from "../enrolment/attempt-limit.ts";

const KIND = "nonce";

/**
 * Nonces that were used, kept as long as the timestamp of their message is accepted. They are in the store, so that
 * neither a restart nor a second brain accepts a message twice; when the store fails, no message is accepted.
 */
export class UsedNonces {
  readonly #records: Records;
  readonly #now: () => number;

  /** Together with how long a nonce is kept, this bounds how many there are. */
  readonly #tries: AttemptLimit;

  constructor(records: Records, now: () => number, bus?: Bus) {
    this.#records = records;
    this.#now = now;
    this.#tries = new AttemptLimit(
      { burst: SIGNED_HTTP_LIMITS.burst, everyMs: SIGNED_HTTP_LIMITS.everyMs, kept: REGISTER_LIMITS.known },
      now,
      { bus, what: "signed" },
    );
  }

  /** Records a nonce; false when it was used before, RATE_LIMITED when a key is used too often. */
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

  /** Deletes more than one expired nonce for each new one, so that their number shrinks. */
  async #forget(): Promise<void> {
    const oldest = await this.#records.list(KIND, { limit: SIGNED_HTTP_LIMITS.noncesRemoved });
    const until = this.#now() - SIGNED_HTTP_LIMITS.nonceMs;
    for (const { id, createdAt } of oldest) if (createdAt < until) await this.#records.delete(KIND, id);
  }
}
