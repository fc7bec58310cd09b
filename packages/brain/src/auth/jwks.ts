import { createPublicKey } from "node:crypto";
import { readFile } from "node:fs/promises";
import { asFault, Fault, isLoopbackHost, TOKEN_LIMITS } from "@vidro/core";
import { createLocalJWKSet, createRemoteJWKSet, errors } from "jose";
import type { JWTVerifyGetKey } from "jose";

const SHORTEST_SECRET_BYTES = 32;

/** The key of signed tokens: exactly one of these. */
export interface KeyOptions {
  /** A secret shared with the issuer (HS256). */
  readonly secret?: string;
  /** A public key in PEM (RS256). */
  readonly publicKey?: string;
  /** A JSON Web Key Set: its address, or the path of its file (RS256). */
  readonly keySet?: string;
}

/** A function that finds the key of a token, and the one algorithm accepted: a token cannot choose its own. */
export function loadVerificationKeys(options: KeyOptions): {
  readonly algorithm: "HS256" | "RS256";
  readonly find: JWTVerifyGetKey;
} {
  const { secret, publicKey, keySet } = options;
  if ([secret, publicKey, keySet].filter((given) => given !== undefined).length !== 1)
    throw new Fault("BAD_REQUEST", "Signed tokens need exactly one of: a secret, a public key, a key set.");
  if (secret !== undefined) {
    const key = new TextEncoder().encode(secret);
    if (key.length < SHORTEST_SECRET_BYTES)
      throw new Fault("BAD_REQUEST", `The secret of signed tokens needs at least ${SHORTEST_SECRET_BYTES} bytes.`);
    return { algorithm: "HS256", find: async () => key };
  }
  if (publicKey !== undefined) {
    const key = readPublicKey(publicKey);
    return { algorithm: "RS256", find: async () => key };
  }
  const place = keySet ?? "";
  return {
    algorithm: "RS256",
    find: reportUnavailable(/^https?:\/\//.test(place) ? remoteSet(place) : fileSet(place), place),
  };
}

function readPublicKey(pem: string): ReturnType<typeof createPublicKey> {
  try {
    return createPublicKey(pem);
  } catch (cause) {
    throw new Fault("BAD_REQUEST", "The public key of signed tokens is no key in PEM.", { cause });
  }
}

function remoteSet(address: string): JWTVerifyGetKey {
  const url = new URL(address);
  const isHere = isLoopbackHost(url.hostname);
  if (url.protocol !== "https:" && !isHere)
    throw new Fault(
      "BAD_REQUEST",
      `The keys of signed tokens come over https beyond this machine, not from ${address}.`,
    );
  return createRemoteJWKSet(url, {
    timeoutDuration: TOKEN_LIMITS.keysMs,
    cacheMaxAge: TOKEN_LIMITS.keysCacheMs,
  });
}

/**
 * Keys of a file, which is read again every `keysCacheMs`, so that the issuer can change keys without a restart here.
 */
function fileSet(path: string): JWTVerifyGetKey {
  let read: { readonly keys: ReturnType<typeof createLocalJWKSet>; readonly at: number } | undefined;
  return async (header, token) => {
    if (read === undefined || performance.now() - read.at > TOKEN_LIMITS.keysCacheMs)
      read = { keys: createLocalJWKSet(JSON.parse(await readFile(path, "utf8"))), at: performance.now() };
    return read.keys(header, token);
  };
}

/** Turns a key set that cannot be read into KEYS_UNAVAILABLE; a token that fits no key stays the token's fault. */
function reportUnavailable(find: JWTVerifyGetKey, place: string): JWTVerifyGetKey {
  return async (header, token) => {
    try {
      return await find(header, token);
    } catch (thrown) {
      if (thrown instanceof errors.JWKSNoMatchingKey || thrown instanceof errors.JWKSMultipleMatchingKeys) throw thrown;
      const message = `The keys at ${place} cannot be read: ${asFault(thrown).message}.`;
      throw new Fault("KEYS_UNAVAILABLE", message, { cause: thrown, retryAfterMs: TOKEN_LIMITS.retryAfterMs });
    }
  };
}
