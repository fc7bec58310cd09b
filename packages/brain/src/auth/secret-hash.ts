import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { TOKEN_LIMITS } from "@vidro/core";

/*
 * Secrets are stored as Argon2id hashes in the PHC string format, which includes the parameters of the hash.
 */

const derive = promisify(argon2);
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const PHC = /^\$argon2id\$v=19\$m=(\d{1,6}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z\d+/]{11,64})\$([A-Za-z\d+/]{16,128})$/;

interface Cost {
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}

const COST: Cost = {
  memory: TOKEN_LIMITS.hashKib,
  passes: TOKEN_LIMITS.hashPasses,
  parallelism: TOKEN_LIMITS.hashLanes,
};

/** Hash of no secret, for comparisons that must take as long as any other. */
export const DUMMY_HASH = phc(randomBytes(SALT_BYTES), randomBytes(HASH_BYTES));

/** Hashes a secret with a new salt. */
export async function hashSecret(secret: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  return phc(salt, await hashOf(secret, salt, { ...COST, tagLength: HASH_BYTES }));
}

/** Whether a hash belongs to a secret; takes the same time whatever differs. */
export async function isHashOf(kept: string, secret: string): Promise<boolean> {
  // A damaged hash, also one with an impossible cost, never matches, and takes as long as any other.
  return compareHash(kept, secret).catch(() => compareHash(DUMMY_HASH, secret));
}

async function compareHash(kept: string, secret: string): Promise<boolean> {
  const [, memory, passes, parallelism, salt = "", hash = ""] = PHC.exec(kept) ?? PHC.exec(DUMMY_HASH) ?? [];
  const expected = Buffer.from(hash, "base64");
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  const found = await hashOf(secret, Buffer.from(salt, "base64"), { ...cost, tagLength: expected.length });
  return timingSafeEqual(found, expected);
}

function hashOf(secret: string, nonce: Buffer, cost: Cost & { readonly tagLength: number }): Promise<Buffer> {
  return derive("argon2id", { message: secret, nonce, ...cost });
}

function phc(salt: Buffer, hash: Buffer): string {
  const plain = (bytes: Buffer): string => bytes.toString("base64").replaceAll("=", "");
  return `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=${COST.parallelism}$${plain(salt)}$${plain(hash)}`;
}
