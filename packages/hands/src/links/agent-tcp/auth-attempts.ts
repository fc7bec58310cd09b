import { Fault, TCP_LIMITS } from "@vidro/core";
import { TokenBucket } from "./token-bucket.ts";

/** Counts tokens that were shown and are not good, by the address that they came from, over all its connections. */
export class AuthAttempts {
  /** The address that tried last is the last. */
  readonly #buckets = new Map<string, TokenBucket>();

  /** Has a token looked at, if the address may show one more: RATE_LIMITED for one that has shown too many wrong ones. */
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
