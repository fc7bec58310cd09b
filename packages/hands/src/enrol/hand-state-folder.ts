import { randomUUID } from "node:crypto";
import { chmod, mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { asFault, Fault, isObject } from "@vidro/core";
import { parseJson } from "@vidro/core/codec";
import type { JsonObject } from "@vidro/core";

/** This host's identity at its brain, and how it recognises the brain; one file, so that it is always consistent. */
export interface HandIdentity {
  readonly agentId: string;
  readonly name: string;
  /** The address that the hand connects to. */
  readonly url: string;
  /** Certificate of the only authority that is trusted, in PEM, like the next two. */
  readonly ca: string;
  /** Empty, like `certificate`, for a hand that signs its messages: its keys rotate and have their own file. */
  readonly key: string;
  readonly certificate: string;
  /** The workspace. */
  readonly workspace: string;
  /** The id of the invitation that it joined with; an identity of an older version has none. */
  readonly invitation?: string;
}

const IDENTITY = "identity.json";
const EPOCH = "epoch.json";
const FIELDS = ["agentId", "name", "url", "ca", "key", "certificate", "workspace"] as const;

/** A hand's identity and session epoch in its state folder, which has mode 0700. */
export class HandStateFolder {
  readonly folder: string;

  /** File with the keys of a hand that signs its messages. */
  get keysFile(): string {
    return join(this.folder, "keys.json");
  }

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Opens the folder, creating it if missing; throws LEDGER_UNWRITABLE if it cannot be used. */
  static async open(folder: string): Promise<HandStateFolder> {
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await chmod(folder, 0o700);
      return new HandStateFolder(folder);
    } catch (cause) {
      throw new Fault("LEDGER_UNWRITABLE", `The folder ${folder} cannot be used: ${asFault(cause).message}`, { cause });
    }
  }

  /** The identity of this host; undefined before it has joined a brain. */
  async readIdentity(): Promise<HandIdentity | undefined> {
    const kept = await this.#read(IDENTITY);
    if (kept === undefined) return undefined;
    if (FIELDS.every((field) => typeof kept[field] === "string")) return kept as unknown as HandIdentity;
    throw this.#damageFault(IDENTITY);
  }

  /** Replaces the identity of this host. Durable when it resolves. */
  async saveIdentity(identity: HandIdentity): Promise<void> {
    await this.#write(IDENTITY, { ...identity });
    // A new identity has new sessions, and a damaged record of the old ones must not keep it out.
    await rm(join(this.folder, EPOCH), { force: true });
  }

  /** Replaces key and certificate of the identity. Durable when it resolves. */
  async saveCredentials(credentials: Pick<HandIdentity, "key" | "certificate">): Promise<HandIdentity> {
    const before = await this.readIdentity();
    if (before === undefined) throw new Fault("NOT_FOUND", "This host has joined no brain.");
    const identity = { ...before, ...credentials };
    await this.#write(IDENTITY, { ...identity });
    return identity;
  }

  /** The highest epoch of the brain's sessions with this identity; 0 before the first. */
  async highestEpoch(agentId: string): Promise<number> {
    const kept = await this.#read(EPOCH);
    // Epochs count per identity.
    if (kept?.["agentId"] !== agentId) return 0;
    const { epoch } = kept;
    // A comparison with NaN would admit every session, also an older one.
    if (typeof epoch !== "number") throw this.#damageFault(EPOCH);
    return epoch;
  }

  /** Records the epoch of a session, durably; throws STALE_EPOCH if a later one was recorded [F20]. */
  async enterSession(agentId: string, epoch: number): Promise<void> {
    const highest = await this.highestEpoch(agentId);
    if (epoch < highest)
      throw new Fault("STALE_EPOCH", `The brain is at session ${epoch}; ${highest} was seen before.`);
    if (epoch > highest) await this.#write(EPOCH, { agentId, epoch });
  }

  #damageFault(name: string, cause?: unknown): Fault {
    return new Fault("STORE_UNREADABLE", `${join(this.folder, name)} is damaged: join the brain again.`, { cause });
  }

  async #read(name: string): Promise<JsonObject | undefined> {
    const path = join(this.folder, name);
    const text = await readFile(path, "utf8").catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === "ENOENT") return undefined;
      throw new Fault("STORE_UNREADABLE", `${path} cannot be read: ${cause.message}`, { cause });
    });
    if (text === undefined) return undefined;
    try {
      const kept = parseJson(text);
      if (isObject(kept)) return kept;
    } catch (cause) {
      throw this.#damageFault(name, cause);
    }
    throw this.#damageFault(name);
  }

  /** Writes a file atomically, with mode 0600. */
  async #write(name: string, value: JsonObject): Promise<void> {
    const path = join(this.folder, name);
    const fresh = `${path}.${randomUUID()}.new`;
    try {
      const file = await open(fresh, "w", 0o600);
      await file.chmod(0o600);
      await file.writeFile(`${JSON.stringify(value)}\n`);
      await file.sync();
      await file.close();
      await rename(fresh, path);
    } catch (cause) {
      throw new Fault("LEDGER_UNWRITABLE", `${path} cannot be written: ${asFault(cause).message}`, { cause });
    }
  }
}
