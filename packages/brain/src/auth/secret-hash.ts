import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { TOKEN_LIMITS } from "@vidro/core";

/*
 * Secrets are kept as Argon2id in the PHC string format, so that a hash says by itself how it was made.
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

/** A hash that no secret has and that takes as long to compare with as any other. */
export const DUMMY_HASH = phc(randomBytes(SALT_BYTES), randomBytes(HASH_BYTES));

/** The hash that a secret is kept as; each time another one. */
export async function hashSecret(secret: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  return phc(salt, await hashOf(secret, salt, { ...COST, tagLength: HASH_BYTES }));
}

/** Whether the hash is that secret's; takes the same time whatever differs. */
export async function isHashOf(kept: string, secret: string): Promise<boolean> {
  // A row that was damaged opens nothing, and does not tell so by being quick.
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
