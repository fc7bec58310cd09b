import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { join } from "node:path";
import { Fault, SIGNED_HTTP_LIMITS } from "@vidro/core";
import { secretFile } from "../stores/secret-file.ts";

const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;
const FILE = "hand-keys.secret";

/** Reads the encryption key; rejects when it cannot be read. */
export type Secret = () => Promise<Uint8Array>;

/** The key that encrypts the secrets of hands at rest: a file of a folder, created at first use. */
export function handsSecret(folder: string): Secret {
  return () => secretFile(join(folder, FILE), SIGNED_HTTP_LIMITS.keyBytes);
}

/** Encrypts secrets for the store, each bound to its name. */
export class SecretBox {
  readonly #secret: Secret;

  constructor(secret: Secret) {
    this.#secret = secret;
  }

  /** Encrypts with the name as associated data: a ciphertext copied to another record does not decrypt. */
  async encrypt(name: string, plain: Uint8Array): Promise<string> {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, await this.#secret(), iv).setAAD(Buffer.from(name));
    const text = Buffer.concat([cipher.update(plain), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), text]).toString("base64");
  }

  /** Decrypts; STORE_UNREADABLE when it was encrypted under another name or with another key. */
  async decrypt(name: string, encrypted: string): Promise<Uint8Array> {
    const bytes = Buffer.from(encrypted, "base64");
    const secret = await this.#secret();
    try {
      const decipher = createDecipheriv(CIPHER, secret, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
    } catch (cause) {
      throw new Fault("STORE_UNREADABLE", `The key ${name} cannot be decrypted with this home's secret.`, { cause });
    }
  }
}
