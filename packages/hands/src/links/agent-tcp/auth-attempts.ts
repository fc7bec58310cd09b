import { Fault, TCP_LIMITS } from "@vidro/core";
import { TokenBucket } from "./token-bucket.ts";

/** Limits invalid tokens per remote address, over all its connections. */
export class AuthAttempts {
  /** Buckets by address, the most recently used last. */
  readonly #buckets = new Map<string, TokenBucket>();

  /** Verifies a token; throws RATE_LIMITED if the address has sent too many invalid ones. */
  async verify<Bearer>(address: string, verify: () => Promise<Bearer>): Promise<Bearer> {
    const bucket = this.#buckets.get(address) ?? new TokenBucket(TCP_LIMITS.authBurst, TCP_LIMITS.authPerSecond);
    this.#buckets.delete(address);
    this.#buckets.set(address, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > TCP_LIMITS.authAddresses && oldest !== undefined) this.#buckets.delete(oldest);
    const retryAfterMs = bucket.take();
    if (retryAfterMs > 0)
      throw new Fault("RATE_LIMITED", "Too many tokens that are not good came from this address.", { retryAfterMs });
    const bearer = await verify();
    bucket.giveBack();
    return bearer;
  }
}
