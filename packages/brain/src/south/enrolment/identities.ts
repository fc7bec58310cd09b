import type { Records } from "@vidro/core";

/** A host that was enrolled as a hand, as the brain has it on record; nothing of it is taken from what a hand says. */
export interface Identity {
  readonly id: string;
  readonly owner: string;
  readonly name: string;
  readonly tags: readonly string[];
  /** Serial numbers of the certificates that count. */
  readonly serials: readonly string[];
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
   * may be lost. All others of the host count no more.
   */
  async renew(id: string, serials: { readonly used: string; readonly fresh: string }): Promise<void> {
    const record = await this.#records.get(KIND, id);
    if (record === undefined) return;
    const { kind, owner, body, version } = record;
    await this.#records.put({ kind, id, owner, body: { ...body, serials: [serials.used, serials.fresh] } }, version);
  }
}
