import type { Records } from "@vidro/core";

/** A public key with which a hand signs receipts, as the hand has sent it. */
export interface ReceiptKey {
  readonly hand: string;
  readonly name: string;
  /** The public key, in hexadecimal digits. */
  readonly key: string;
  /** When the hand first sent it, in milliseconds since the epoch. */
  readonly since: number;
}

const KIND = "receipt-key";
/** Records read per page. */
const PAGE = 1000;

/** The receipt keys of hands; they outlive the hand's record, since its receipts do. */
export class ReceiptKeys {
  readonly #records: Records;
  /** The last key stored for each hand; saves reading the record again. */
  readonly #kept = new Map<string, string>();

  constructor(records: Records) {
    this.#records = records;
  }

  /** Stores the key of a hand unless it is stored already. */
  async keep({ hand, name, key, owner }: Omit<ReceiptKey, "since"> & { readonly owner: string }): Promise<void> {
    if (this.#kept.get(hand) === key) return;
    const id = `${hand}/${key}`;
    if ((await this.#records.get(KIND, id)) === undefined)
      await this.#records.put({ kind: KIND, id, owner, body: { hand, name, key } });
    this.#kept.set(hand, key);
  }

  /** All of them, oldest first. */
  async all(): Promise<readonly ReceiptKey[]> {
    const keys: ReceiptKey[] = [];
    for (let after: string | undefined; ;) {
      const page = await this.#records.list(KIND, { limit: PAGE, ...(after === undefined ? {} : { after }) });
      for (const { body, createdAt } of page) keys.push({ ...(body as unknown as ReceiptKey), since: createdAt });
      if (page.length < PAGE) return keys;
      after = page.at(-1)?.id;
    }
  }
}
