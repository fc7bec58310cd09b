import { Fault, SOUTHBOUND_LIMITS } from "@vidro/core";
import type { Records } from "@vidro/core";

/** A host that was enrolled as a hand, as the brain has it on record; nothing of it is taken from what a hand says. */
export interface Identity {
  readonly id: string;
  readonly owner: string;
  readonly name: string;
  readonly tags: readonly string[];
  /** Serial numbers of the certificates that count: the one in use, and the next one when it was given. */
  readonly serials: readonly string[];
  /** How many certificates it was given; a record of an earlier version does not say so. */
  readonly generation?: number;
  /** Serial numbers that nobody may come with any more: who does has a copy, or the owner of the copy has come before. */
  readonly spent?: readonly string[];
}

const KIND = "hand-identity";

/** Who was enrolled, and with which certificates. */
export class Identities {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  /** The host of that id. */
  async find(id: string): Promise<Identity | undefined> {
    const record = await this.#records.get(KIND, id);
    if (record === undefined) return undefined;
    return { ...(record.body as unknown as Omit<Identity, "id" | "owner">), id, owner: record.owner };
  }

  /** Puts a newly enrolled host on record. */
  async add({ id, owner, ...body }: Identity): Promise<void> {
    await this.#records.put({ kind: KIND, id, owner, body }, 0);
  }

  /**
   * Lets one more certificate of a host count, beside the one that it came with: the answer that brings the new one
   * may be lost. A next one that was given before and not used is spent. Gives the generation of the new one.
   */
  async renew(id: string, serials: { readonly used: string; readonly fresh: string }): Promise<number> {
    return this.#change(id, (identity) => {
      const unused = identity.serials.filter((serial) => serial !== serials.used);
      return {
        serials: [serials.used, serials.fresh],
        spent: spentWith(identity, unused),
        generation: generationOf(identity) + 1,
      };
    });
  }

  /** The host has come with this certificate: the ones before it are spent. */
  async came(identity: Identity, serial: string): Promise<void> {
    if (identity.serials.indexOf(serial) <= 0) return;
    await this.#change(identity.id, (now) => {
      if (!now.serials.includes(serial)) return {};
      const before = now.serials.slice(0, now.serials.indexOf(serial));
      return { serials: now.serials.slice(before.length), spent: spentWith(now, before) };
    }).catch((thrown: unknown) => {
      // It came twice at once, and the other one is writing the same.
      if (!(thrown instanceof Fault && thrown.code === "CONFLICT")) throw thrown;
    });
  }

  async #change(id: string, change: (identity: Identity) => Partial<Identity>): Promise<number> {
    const [record, identity] = [await this.#records.get(KIND, id), await this.find(id)];
    if (record === undefined || identity === undefined) return 0;
    const { kind, owner, body, version } = record;
    const changed = change(identity);
    await this.#records.put({ kind, id, owner, body: { ...body, ...changed } }, version);
    return generationOf({ ...identity, ...changed });
  }
}

function generationOf({ generation = 1 }: Identity): number {
  return generation;
}

function spentWith({ spent = [] }: Identity, more: readonly string[]): readonly string[] {
  return [...spent, ...more].slice(-SOUTHBOUND_LIMITS.spentSerials);
}
