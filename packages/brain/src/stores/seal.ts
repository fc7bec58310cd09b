import { createPrivateKey, createPublicKey, hash, sign, verify } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { ED25519_PKCS8_PREFIX } from "@vidro/core";
import { secretFile } from "./secret-file.ts";

/*
 * A seal states the runs and records of a moment and the digest of the seal before it; the brain signs it. Without the
 * key, sealed content cannot be deleted, truncated or rewritten undetected.
 */

/** The key that a brain signs its seals with. */
export interface SealKey {
  readonly secret: KeyObject;
  readonly open: KeyObject;
  /** SHA-256 of the public key, for comparison by people. */
  readonly fingerprint: string;
}

/** A run in a seal: its last entry, and the digest of its row. */
export interface SealedRun {
  readonly id: string;
  readonly seq: number;
  readonly hash: string;
  readonly row: string;
}

/** A record in a seal; without a digest when it was deleted. */
export interface SealedRecord {
  readonly kind: string;
  readonly id: string;
  readonly digest: string | null;
}

/** A run that was deleted because it need not be kept longer, with its last entry. */
export type PrunedRun = Omit<SealedRun, "row">;

/** The signed content of a seal. */
export interface StoreSeal {
  readonly number: number;
  /** The digest of the seal before it; empty for the first. */
  readonly previous: string;
  readonly at: number;
  /** The last entry covered, in the order in which entries were written. */
  readonly upTo: number;
  readonly runs: readonly SealedRun[];
  readonly records: readonly SealedRecord[];
  /** Runs that were deleted since the last seal. */
  readonly pruned?: readonly PrunedRun[];
}

const SEED_BYTES = 32;
const PKCS8 = Buffer.from(ED25519_PKCS8_PREFIX, "hex");

/** Reads the key from a file that only its owner can read; makes it when it is missing. */
export async function sealKey(file: string): Promise<SealKey> {
  const seed = await secretFile(file, SEED_BYTES);
  const secret = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: "der", type: "pkcs8" });
  const open = createPublicKey(secret);
  return { secret, open, fingerprint: hash("sha256", open.export({ format: "der", type: "spki" }), "hex") };
}

/** Digest of several texts, including their boundaries. */
export function digestOf(...texts: readonly (string | number | null)[]): string {
  return hash("sha256", JSON.stringify(texts), "hex");
}

/** Signs the text of a seal. */
export function signSeal(key: SealKey, text: string): Buffer {
  return sign(null, Buffer.from(text), key.secret);
}

/** Whether a signature of a seal's text was made with the key. */
export function isSealSignature(key: SealKey, text: string, signature: Uint8Array): boolean {
  return verify(null, Buffer.from(text), key.open, signature);
}
