import { randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { asFault, Fault, isObject } from "@vidro/core";
import { parseJson } from "@vidro/core/codec";
import { deriveKeys, deriveNextRoot } from "@vidro/core/wire/agent-http";
import type { DirectionKeys } from "@vidro/core/wire/agent-http";
import { nodeSignatureCrypto } from "./node-crypto.ts";

/** A key as stored in the file. */
interface StoredKey {
  /** `<hand>/<key>`. */
  readonly keyid: string;
  /** In base64. */
  readonly root: string;
}

/** A key with its derived keys. */
interface UsableKey {
  readonly keyid: string;
  readonly keys: DirectionKeys;
}

/**
 * The keys of a hand, in a file with mode 0600: the current one, and the previous one until the brain has replied to
 * the new one.
 */
export class KeyRing {
  readonly #file: string;
  /** The newest last; never empty. */
  #kept: readonly StoredKey[];
  /** Index of the key in use, counted from the end. */
  #using = 1;

  private constructor(file: string, kept: readonly StoredKey[]) {
    this.#file = file;
    this.#kept = kept;
  }

  /** Keeps the first key of a hand, instead of whatever its file has. */
  static async create(file: string, first: StoredKey): Promise<KeyRing> {
    const ring = new KeyRing(file, [first]);
    await ring.#save([first]);
    return ring;
  }

  /** The keys in a file; STORE_UNREADABLE when there are none. */
  static async open(file: string): Promise<KeyRing> {
    try {
      const value = parseJson(await readFile(file, "utf8"));
      const kept = isObject(value) && Array.isArray(value["keys"]) ? value["keys"].filter(isStoredKey) : [];
      if (kept.length === 0) throw new Error("it has no key");
      return new KeyRing(file, kept);
    } catch (cause) {
      throw new Fault("STORE_UNREADABLE", `The keys in ${file} cannot be used: ${asFault(cause).message}.`, { cause });
    }
  }

  /** The id of the hand. */
  get hand(): string {
    const { keyid } = this.#keyInUse();
    return keyid.slice(0, keyid.lastIndexOf("/"));
  }

  /** The key to sign with. */
  current(): UsableKey {
    return deriveUsable(this.#keyInUse());
  }

  /** The derived keys of a key id; undefined for an unknown one. */
  find(keyid: string): DirectionKeys | undefined {
    const kept = this.#kept.find((one) => one.keyid === keyid);
    return kept === undefined ? undefined : deriveUsable(kept).keys;
  }

  /** Derives the next key from a known one and uses it; a key that is known already is ignored. */
  async add({ keyid, from, salt }: { keyid: string; from: string; salt: string }): Promise<void> {
    const before = this.#kept.find((one) => one.keyid === from);
    if (before === undefined || this.#kept.some((one) => one.keyid === keyid)) return;
    const root = deriveNextRoot(Buffer.from(before.root, "base64"), Buffer.from(salt, "base64"), {
      keyid,
      crypto: nodeSignatureCrypto,
    });
    await this.#save([before, { keyid, root: Buffer.from(root).toString("base64") }]);
    this.#using = 1;
  }

  /** Called when the brain replied to a key; if it is the newest, the previous one is removed. */
  async confirm(keyid: string): Promise<void> {
    if (this.#kept.length === 1 || this.#kept.at(-1)?.keyid !== keyid) return;
    await this.#save(this.#kept.slice(-1));
  }

  /** Called when the brain did not accept the key; the other key, if there is one, is used next. */
  tryOther(): void {
    this.#using = (this.#using % this.#kept.length) + 1;
  }

  #keyInUse(): StoredKey {
    return this.#kept.at(-Math.min(this.#using, this.#kept.length))!;
  }

  /** Keeps these keys; they are in use only when they are durable, so that a restart finds the key in use. */
  async #save(keys: readonly StoredKey[]): Promise<void> {
    await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
    const draft = `${this.#file}.${randomUUID()}`;
    const handle = await open(draft, "wx", 0o600);
    try {
      await handle.writeFile(`${JSON.stringify({ keys })}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, this.#file);
    this.#kept = keys;
  }
}

function deriveUsable({ keyid, root }: StoredKey): UsableKey {
  return { keyid, keys: deriveKeys(Buffer.from(root, "base64"), keyid, nodeSignatureCrypto) };
}

function isStoredKey(value: unknown): value is StoredKey & { [name: string]: string } {
  return isObject(value) && typeof value["keyid"] === "string" && typeof value["root"] === "string";
}
