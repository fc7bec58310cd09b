import { randomUUID } from "node:crypto";
import { chmod, mkdir, open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { asFault, Fault, isObject } from "@vidro/core";
import { parseJson } from "@vidro/core/codec";
import type { JsonObject } from "@vidro/core";

/** Who this host is to its brain, and how it knows the brain; all of it in one file, so that it always fits together. */
export interface HandIdentity {
  readonly agentId: string;
  readonly name: string;
  /** What the hand dials. */
  readonly url: string;
  /** The one authority whose word counts, in PEM, as the next two. */
  readonly ca: string;
  /** Empty, as the next, for a hand that signs its messages: its keys change, and are in a file of their own. */
  readonly key: string;
  readonly certificate: string;
  /** The folder that it works in. */
  readonly workspace: string;
}

const IDENTITY = "identity.json";
const EPOCH = "epoch.json";
const FIELDS = ["agentId", "name", "url", "ca", "key", "certificate", "workspace"] as const;

/** What a hand remembers of its brain in its state folder, which is closed to other users. */
export class HandStateFolder {
  readonly folder: string;

  /** Where the keys are of a hand that signs its messages. */
  get keysFile(): string {
    return join(this.folder, "keys.json");
  }

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Opens the folder, made when it is missing; LEDGER_UNWRITABLE when it cannot be used. */
  static async open(folder: string): Promise<HandStateFolder> {
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await chmod(folder, 0o700);
      return new HandStateFolder(folder);
    } catch (cause) {
      throw new Fault("LEDGER_UNWRITABLE", `The folder ${folder} cannot be used: ${asFault(cause).message}`, { cause });
    }
  }

  /** Who this host is; nothing before it has joined. */
  async readIdentity(): Promise<HandIdentity | undefined> {
    const kept = await this.#read(IDENTITY);
    if (kept === undefined) return undefined;
    if (FIELDS.every((field) => typeof kept[field] === "string")) return kept as unknown as HandIdentity;
    throw new Fault("STORE_UNREADABLE", `${join(this.folder, IDENTITY)} is damaged: join the brain again.`);
  }

  /** From now on this host is that one. Durable when it resolves. */
  async saveIdentity(identity: HandIdentity): Promise<void> {
    await this.#write(IDENTITY, { ...identity });
  }

  /** Puts a new key and certificate in the place of those before. Durable when it resolves. */
  async saveCredentials(credentials: Pick<HandIdentity, "key" | "certificate">): Promise<HandIdentity> {
    const before = await this.readIdentity();
    if (before === undefined) throw new Fault("NOT_FOUND", "This host has joined no brain.");
    const identity = { ...before, ...credentials };
    await this.#write(IDENTITY, { ...identity });
    return identity;
  }

  /** The highest epoch of a session of the brain that this host was in; 0 before the first. */
  async highestEpoch(agentId: string): Promise<number> {
    const kept = await this.#read(EPOCH);
    // Each identity has sessions of its own.
    return kept?.["agentId"] === agentId ? Number(kept["epoch"]) : 0;
  }

  /** Takes note of a session of the brain, durably; STALE_EPOCH when a later one was seen [F20]. */
  async enterSession(agentId: string, epoch: number): Promise<void> {
    const highest = await this.highestEpoch(agentId);
    if (epoch < highest)
      throw new Fault("STALE_EPOCH", `The brain is at session ${epoch}; ${highest} was seen before.`);
    if (epoch > highest) await this.#write(EPOCH, { agentId, epoch });
  }

  async #read(name: string): Promise<JsonObject | undefined> {
    const path = join(this.folder, name);
    const text = await readFile(path, "utf8").catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === "ENOENT") return undefined;
      throw new Fault("STORE_UNREADABLE", `${path} cannot be read: ${cause.message}`, { cause });
    });
    if (text === undefined) return undefined;
    const kept = parseJson(text);
    return isObject(kept) ? kept : {};
  }

  /** Never half written, and never readable by others. */
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
