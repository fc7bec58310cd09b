import { Fault, SOUTHBOUND_LIMITS } from "@vidro/core";
import type { Records } from "@vidro/core";

/** The brain's record of an enrolled host; no field comes from what the hand says about itself. */
export interface Identity {
  readonly id: string;
  readonly owner: string;
  readonly name: string;
  readonly tags: readonly string[];
  /** Serial numbers of the accepted certificates: the one in use, then the next one once it was issued. */
  readonly serials: readonly string[];
  /** Number of certificates issued; missing in records of earlier versions. */
  readonly generation?: number;
  /** Superseded serial numbers; a connection with one shows that two copies of the hand's key are in use. */
  readonly spent?: readonly string[];
}

const KIND = "hand-identity";

/** The enrolled hosts and their certificates. */
export class Identities {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  /** The record of a host. */
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
   * Accepts one more certificate of a host. The one in use stays accepted, since the answer with the new one may be
   * lost; a next one that was issued before and not used is superseded. Returns the generation of the new one.
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

  /** Notes that the host connected with this certificate: the earlier ones are superseded. */
  async markUsed(identity: Identity, serial: string): Promise<void> {
    if (identity.serials.indexOf(serial) <= 0) return;
    await this.#change(identity.id, (now) => {
      if (!now.serials.includes(serial)) return {};
      const before = now.serials.slice(0, now.serials.indexOf(serial));
      return { serials: now.serials.slice(before.length), spent: spentWith(now, before) };
    }).catch((thrown: unknown) => {
      // The host connected twice at once, and the other connection writes the same.
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
