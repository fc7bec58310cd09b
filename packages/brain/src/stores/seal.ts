import { createPrivateKey, createPublicKey, hash, sign, verify } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { secretFile } from "./secret-file.ts";

/*
 * A seal says where runs and records stood at a moment, and which seal came before it; the brain signs it. What was
 * sealed cannot be deleted, cut off or written anew without a trace by anybody who does not have the key.
 */

/** What a brain signs its seals with. */
export interface SealKey {
  readonly secret: KeyObject;
  readonly open: KeyObject;
  /** SHA-256 of the public key, by which people compare it. */
  readonly fingerprint: string;
}

/** Where a run stood: its last entry, and what its row says besides. */
export interface SealedRun {
  readonly id: string;
  readonly seq: number;
  readonly hash: string;
  readonly row: string;
}

/** What a record was; nothing when it was deleted. */
export interface SealedRecord {
  readonly kind: string;
  readonly id: string;
  readonly digest: string | null;
}

/** What is signed. */
export interface StoreSeal {
  readonly number: number;
  /** The digest of the seal before it; empty for the first. */
  readonly previous: string;
  readonly at: number;
  /** The last entry of the store that was looked at, in the order in which entries were written. */
  readonly upTo: number;
  readonly runs: readonly SealedRun[];
  readonly records: readonly SealedRecord[];
}

const SEED_BYTES = 32;
/** What stands before the seed in a private key of Ed25519 (RFC 8410). */
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");

/** The key in a file that only its owner reads, made when it is missing. */
export async function sealKey(file: string): Promise<SealKey> {
  const seed = await secretFile(file, SEED_BYTES);
  const secret = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: "der", type: "pkcs8" });
  const open = createPublicKey(secret);
  return { secret, open, fingerprint: hash("sha256", open.export({ format: "der", type: "spki" }), "hex") };
}

/** The digest of texts, which tells where one ends and the next begins. */
export function digestOf(...texts: readonly (string | number | null)[]): string {
  return hash("sha256", JSON.stringify(texts), "hex");
}

/** The signature of a seal's text. */
export function signed(key: SealKey, text: string): Buffer {
  return sign(null, Buffer.from(text), key.secret);
}

/** Whether the signature of a seal's text is the key's. */
export function isSigned(key: SealKey, text: string, signature: Uint8Array): boolean {
  return verify(null, Buffer.from(text), key.open, signature);
}
