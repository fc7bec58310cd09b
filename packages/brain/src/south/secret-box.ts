import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { join } from "node:path";
import { Fault, SIGNED_HTTP_LIMITS } from "@vidro/core";
import { secretFile } from "../stores/secret-file.ts";

const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;
const FILE = "hand-keys.secret";

/** Gives what secrets are encrypted with; rejects when it cannot be read. */
export type Secret = () => Promise<Uint8Array>;

/** What the secrets of hands are encrypted with at rest: one file of a folder, made at first need. */
export function handsSecret(folder: string): Secret {
  return () => secretFile(join(folder, FILE), SIGNED_HTTP_LIMITS.keyBytes);
}

/** Encrypts what must not lie open in the store, each thing under its name. */
export class SecretBox {
  readonly #secret: Secret;

  constructor(secret: Secret) {
    this.#secret = secret;
  }

  /** Bound to its name: what was moved to another's record does not open. */
  async encrypt(name: string, plain: Uint8Array): Promise<string> {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, await this.#secret(), iv).setAAD(Buffer.from(name));
    const text = Buffer.concat([cipher.update(plain), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), text]).toString("base64");
  }

  /** What was encrypted under the name; STORE_UNREADABLE when it was not, or with another secret. */
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
