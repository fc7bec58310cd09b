import { isDeepStrictEqual } from "node:util";
import type { Entry, Journal, Lease, LeaseHolder, NewRecord, NewRun, RunHead, RunStatus } from "@vidro/core";
import { recordText } from "../record-rules.ts";
import type { RunFilter, Term } from "../run-rules.ts";
import {
  advance,
  idTaken,
  isOpen,
  isUndriven,
  leaseLost,
  noSuchRun,
  openingOf,
  refuseUnlessFree,
  termEnd,
} from "../run-rules.ts";
import type { OpenRuns } from "../store.ts";
import { Watchers } from "../watchers.ts";

interface StoredRun {
  readonly run: NewRun;
  readonly task: string;
  readonly entries: Entry[];
  status: RunStatus;
  epoch: number;
  term: Term;
}

/** A journal that ends with its process; `wrote` is called with what was written. */
export function memoryJournal(now: () => number, wrote: WroteEntries): MemoryJournal {
  return new MemoryJournal(now, wrote);
}

/** Called with what was written, and with the records that are made beside it. */
type WroteEntries = (run: NewRun, entries: readonly Entry[], beside: readonly NewRecord[]) => void;

class MemoryJournal implements Journal {
  readonly #now: () => number;
  readonly #runs = new Map<string, StoredRun>();
  readonly #byKey = new Map<string, StoredRun>();
  readonly #bySole = new Map<string, StoredRun>();
  readonly #watchers = new Watchers();
  readonly #wrote: WroteEntries;

  constructor(now: () => number, wrote: WroteEntries) {
    this.#now = now;
    this.#wrote = wrote;
  }

  async create(run: NewRun, entries: readonly Entry[], holder: LeaseHolder): Promise<{ head: RunHead; lease?: Lease }> {
    const known = run.key === undefined ? undefined : this.#byKey.get(keyOf(run.owner, run.key));
    if (known !== undefined) return { head: headOf(known) };
    const other = run.sole === undefined ? undefined : this.#bySole.get(keyOf(run.owner, run.sole));
    if (other !== undefined && isOpen(other.status)) return { head: headOf(other) };
    if (this.#runs.has(run.id)) throw idTaken(run.id);
    const { task } = openingOf(run.id, entries);
    for (const record of run.beside ?? []) recordText(record);
    const status = advance(run.id, { seq: 0, status: "running" }, entries);
    const kept: StoredRun = {
      run,
      task,
      entries: [...entries],
      status,
      epoch: 1,
      term: { holder, until: termEnd(this.#now()) },
    };
    this.#runs.set(run.id, kept);
    this.#wrote(run, entries, run.beside ?? []);
    if (run.key !== undefined) this.#byKey.set(keyOf(run.owner, run.key), kept);
    if (run.sole !== undefined) this.#bySole.set(keyOf(run.owner, run.sole), kept);
    this.#watchers.tell(run.id, kept.entries.length);
    return { head: headOf(kept), lease: { run: run.id, epoch: 1 } };
  }

  async append(lease: Lease, entries: readonly Entry[], beside: readonly NewRecord[] = []): Promise<void> {
    const kept = this.#requireHeld(lease);
    for (const record of beside) recordText(record);
    const fresh = entries.slice(writtenBefore(kept, entries));
    kept.status = advance(lease.run, { seq: kept.entries.length, status: kept.status }, fresh);
    kept.entries.push(...fresh);
    this.#wrote(kept.run, fresh, fresh.length === 0 ? [] : beside);
    this.#watchers.tell(lease.run, kept.entries.length);
  }

  async read(run: string, after: number, limit: number): Promise<readonly Entry[]> {
    return this.#require(run).entries.slice(after, after + limit);
  }

  async head(run: string): Promise<RunHead | undefined> {
    const kept = this.#runs.get(run);
    return kept === undefined ? undefined : headOf(kept);
  }

  async list(filter: RunFilter): Promise<readonly RunHead[]> {
    const newest = [...this.#runs.values()].reverse();
    const place = filter.after === undefined ? -1 : newest.indexOf(this.#require(filter.after));
    return newest
      .slice(place + 1)
      .filter((kept) => filter.open === undefined || isOpen(kept.status) === filter.open)
      .filter((kept) => filter.owner === undefined || kept.run.owner === filter.owner)
      .filter((kept) => filter.thread === undefined || kept.run.thread === filter.thread)
      .filter((kept) => kept.run.id.endsWith(filter.ending ?? ""))
      .slice(0, filter.limit)
      .map(headOf);
  }

  async undriven(limit: number): Promise<readonly string[]> {
    const now = this.#now();
    const open = [...this.#runs.values()].filter(({ status }) => isOpen(status));
    return open.flatMap(({ run, term }) => (isUndriven(term, now) ? [run.id] : [])).slice(0, limit);
  }

  /** Number of open runs. */
  openRuns(): OpenRuns {
    const open = [...this.#runs.values()].filter((kept) => isOpen(kept.status));
    const asking = open.filter((kept) => kept.status === "asking").length;
    const undriven = open.filter(({ term }) => isUndriven(term, this.#now())).length;
    return { running: open.length - asking, asking, undriven };
  }

  async lease(run: string, holder: LeaseHolder): Promise<Lease> {
    const kept = this.#require(run);
    refuseUnlessFree(run, kept.term, { asker: holder, now: this.#now() });
    kept.epoch += 1;
    kept.term = { holder, until: termEnd(this.#now()) };
    return { run, epoch: kept.epoch };
  }

  async renew(lease: Lease): Promise<void> {
    const kept = this.#requireHeld(lease);
    kept.term = { holder: kept.term.holder, until: termEnd(this.#now()) };
  }

  async release(lease: Lease): Promise<void> {
    const kept = this.#runs.get(lease.run);
    if (kept?.epoch === lease.epoch) kept.term = { holder: undefined, until: 0 };
  }

  watch(run: string, wake: () => void): () => void {
    return this.#watchers.add(run, this.#runs.get(run)?.entries.length ?? 0, wake);
  }

  async verify(run: string): Promise<{ entries: number }> {
    return { entries: this.#require(run).entries.length };
  }

  async close(): Promise<void> {
    this.#watchers.clear();
  }

  #require(run: string): StoredRun {
    const kept = this.#runs.get(run);
    if (kept === undefined) throw noSuchRun(run);
    return kept;
  }

  #requireHeld(lease: Lease): StoredRun {
    const kept = this.#runs.get(lease.run);
    if (kept?.epoch !== lease.epoch || kept.term.holder === undefined) throw leaseLost(lease.run);
    return kept;
  }
}

/** Number of entries that an earlier call has written, byte for byte. */
function writtenBefore(kept: StoredRun, entries: readonly Entry[]): number {
  const known = entries.filter(({ seq }) => seq <= kept.entries.length);
  return known.every((entry) => isDeepStrictEqual(entry, kept.entries[entry.seq - 1])) ? known.length : 0;
}

/** Keys of different owners do not collide. */
function keyOf(owner: string, key: string): string {
  return JSON.stringify([owner, key]);
}

function headOf(kept: StoredRun): RunHead {
  const { id, owner, thread } = kept.run;
  return {
    id,
    owner,
    thread,
    task: kept.task,
    status: kept.status,
    seq: kept.entries.length,
    startedAt: kept.entries[0]?.at ?? 0,
    updatedAt: kept.entries.at(-1)?.at ?? 0,
  };
}
