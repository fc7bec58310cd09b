import type { HandRestriction, HandDescription, Records, StoredRecord } from "@vidro/core";
import { ReceiptKeys } from "../receipt-keys.ts";
import { ToolLists } from "./tool-lists.ts";

/** The restriction of a hand, and its reason. */
export interface RestrictionRecord {
  readonly barred: HandRestriction;
  readonly why: string;
}

/** A hand as it is in the store. */
export interface StoredHand {
  readonly description: HandDescription;
  readonly epoch: number;
  readonly lastSeenAt: number;
  readonly createdAt: number;
}

const KIND = "hand";
/** Restrictions are records of their own, since all of them are read at each change, and hands change often. */
const BARRED = "hand-bar";
/** Records in one read. */
const PAGE = 1000;

interface Body extends Omit<HandDescription, "id" | "owner" | "tools"> {
  /** The id of its tool list. */
  readonly toolList: string;
  readonly epoch: number;
  readonly lastSeenAt: number;
}

/** The hands and their restrictions in the store. */
export class HandRecords {
  readonly #records: Records;
  readonly #lists: ToolLists;
  readonly #receiptKeys: ReceiptKeys;

  constructor(records: Records) {
    this.#records = records;
    this.#lists = new ToolLists(records);
    this.#receiptKeys = new ReceiptKeys(records);
  }

  /** The hands, oldest first. Tool lists that none of them has are deleted, unless they were written after `since`. */
  async all(limit: number, since = Infinity): Promise<readonly StoredHand[]> {
    const records = await this.#records.list(KIND, { limit });
    const lists = await this.#lists.all(new Set(records.map((record) => bodyOf(record).toolList)), since);
    return records.map((record) => keptOf(record, lists));
  }

  /** A hand by its id. */
  async find(id: string): Promise<StoredHand | undefined> {
    const record = await this.#records.get(KIND, id);
    if (record === undefined) return undefined;
    const { toolList } = bodyOf(record);
    const tools = await this.#lists.find(toolList);
    return keptOf(record, new Map(tools === undefined ? [] : [[toolList, tools]]));
  }

  /** Writes a hand; durable when it resolves. */
  async keep(
    description: HandDescription,
    { epoch, lastSeenAt }: Pick<StoredHand, "epoch" | "lastSeenAt">,
  ): Promise<void> {
    const { id, owner, tools, ...rest } = description;
    const { name, receiptKey: key } = description;
    if (key !== undefined) await this.#receiptKeys.keep({ hand: id, name, key, owner });
    const body = { ...rest, toolList: await this.#lists.nameOf(tools), epoch, lastSeenAt };
    await this.#records.put({ kind: KIND, id, owner, body });
  }

  /** Removes a hand, but not its restriction. */
  async forget(id: string): Promise<void> {
    await this.#records.delete(KIND, id);
  }

  /** Writes the restriction of a hand; durable when it resolves. */
  async bar({ id, owner }: HandDescription, bar: RestrictionRecord): Promise<void> {
    await this.#records.put({ kind: BARRED, id, owner, body: { ...bar } });
  }

  /** Removes the restriction of a hand. */
  async unbar(id: string): Promise<void> {
    await this.#records.delete(BARRED, id);
  }

  /** The restriction of a hand, if it has one. */
  async barOf(id: string): Promise<RestrictionRecord | undefined> {
    const record = await this.#records.get(BARRED, id);
    return record === undefined ? undefined : barIn(record);
  }

  /** All restrictions, by hand. */
  async bars(): Promise<ReadonlyMap<string, RestrictionRecord>> {
    const bars = new Map<string, RestrictionRecord>();
    for (let after: string | undefined; ;) {
      const page = await this.#records.list(BARRED, { limit: PAGE, ...(after === undefined ? {} : { after }) });
      for (const record of page) bars.set(record.id, barIn(record));
      if (page.length < PAGE) return bars;
      after = page.at(-1)?.id;
    }
  }

  /** Calls `wake` after each change of a restriction, also by another process; returns how to stop. */
  watchBars(wake: () => void): () => void {
    return this.#records.watch(BARRED, wake);
  }
}

function barIn({ body }: StoredRecord): RestrictionRecord {
  return body as unknown as RestrictionRecord;
}

function bodyOf({ body }: StoredRecord): Body {
  return body as unknown as Body;
}

/** A hand whose tool list is lost has no tools until it connects. */
function keptOf(record: StoredRecord, lists: Awaited<ReturnType<ToolLists["all"]>>): StoredHand {
  const { epoch, lastSeenAt, toolList, ...description } = bodyOf(record);
  const { id, owner, createdAt } = record;
  return { description: { ...description, id, owner, tools: lists.get(toolList) ?? [] }, epoch, lastSeenAt, createdAt };
}
