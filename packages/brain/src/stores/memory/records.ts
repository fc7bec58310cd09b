import type { NewRecord, Records, StoredRecord } from "@vidro/core";
import { noSuchPlace, recordBody, recordText, refuseUnlessVersion } from "../record-rules.ts";
import type { RecordFilter } from "../record-rules.ts";
import { Watchers } from "../watchers.ts";

/** A record whose body is text, so that callers cannot change the stored value. */
type TextRecord = Omit<StoredRecord, "body"> & { readonly text: string };

/** Records that end with their process. */
export function memoryRecords(now: () => number): Records {
  return new MemoryRecords(now);
}

class MemoryRecords implements Records {
  readonly #now: () => number;
  readonly #kinds = new Map<string, { changes: number; readonly records: Map<string, TextRecord> }>();
  readonly #watchers = new Watchers();

  constructor(now: () => number) {
    this.#now = now;
  }

  async get(kind: string, id: string): Promise<StoredRecord | undefined> {
    const kept = this.#kinds.get(kind)?.records.get(id);
    return kept && recordOf(kept);
  }

  async put(record: NewRecord, version?: number): Promise<StoredRecord> {
    const text = recordText(record);
    const { kind, id, owner } = record;
    const known = this.#kinds.get(kind)?.records.get(id);
    refuseUnlessVersion(record, known?.version ?? 0, version);
    const updatedAt = this.#now();
    const createdAt = known?.createdAt ?? updatedAt;
    const kept: TextRecord = { kind, id, owner, text, version: (known?.version ?? 0) + 1, createdAt, updatedAt };
    this.#noteChange(kind).set(id, kept);
    return recordOf(kept);
  }

  async delete(kind: string, id: string): Promise<boolean> {
    const isThere = this.#kinds.get(kind)?.records.has(id) === true;
    return isThere && this.#noteChange(kind).delete(id);
  }

  async list(kind: string, filter: RecordFilter): Promise<readonly StoredRecord[]> {
    const all = [...(this.#kinds.get(kind)?.records.values() ?? [])];
    const { owner, after, limit, order } = filter;
    if (order === "newest") all.reverse();
    const place = after === undefined ? -1 : all.findIndex(({ id }) => id === after);
    if (after !== undefined && place === -1) throw noSuchPlace(kind, after);
    return all
      .slice(place + 1)
      .filter((kept) => owner === undefined || kept.owner === owner)
      .slice(0, limit)
      .map(recordOf);
  }

  watch(kind: string, wake: () => void): () => void {
    return this.#watchers.add(kind, this.#kinds.get(kind)?.changes ?? 0, wake);
  }

  /** The records of a kind, about to be changed. */
  #noteChange(kind: string): Map<string, TextRecord> {
    const known = this.#kinds.get(kind) ?? { changes: 0, records: new Map<string, TextRecord>() };
    this.#kinds.set(kind, known);
    known.changes += 1;
    this.#watchers.tell(kind, known.changes);
    return known.records;
  }
}

function recordOf({ text, ...rest }: TextRecord): StoredRecord {
  return { ...rest, body: recordBody(text) };
}
