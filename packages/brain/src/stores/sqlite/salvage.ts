import type { DatabaseSync } from "node:sqlite";
import { Fault } from "@vidro/core";
import type { RunHead } from "@vidro/core";
import type { Damage } from "../damage.ts";
import { isCorrupt } from "./fault.ts";
import { query } from "./query.ts";
import type { Query } from "./query.ts";
import { isOpen, noSuchRun } from "../run-rules.ts";
import type { RunFilter } from "../run-rules.ts";

type RunRow = Pick<RunHead, "id" | "owner" | "thread" | "task" | "status" | "startedAt">;
type LastRow = Pick<RunHead, "seq" | "updatedAt">;
type Maximum = { readonly number: number | null };

const ROW = "SELECT id, owner, thread, task, status, started AS startedAt FROM run WHERE number = ?";
const LAST = "SELECT seq, at AS updatedAt FROM entry WHERE run = ? ORDER BY seq DESC LIMIT 1";

/**
 * Lists the runs of a file with damaged pages: a bad page makes SQLite give up a whole query, so each run is read by
 * itself, by its number and through no index but that of its entries. Slow, and used for damaged files only.
 */
export class Salvage {
  readonly #damage: Damage;
  readonly #row: Query<RunRow>;
  readonly #last: Query<LastRow>;
  readonly #maxima: readonly Query<Maximum>[];
  readonly #ids: Query<{ readonly number: number; readonly id: string }>;

  constructor(database: DatabaseSync, damage: Damage) {
    this.#damage = damage;
    this.#row = query(database, ROW);
    this.#last = query(database, LAST);
    // If the end of one table is damaged, the other one tells the number of runs.
    this.#maxima = [
      query(database, "SELECT max(number) AS number FROM run"),
      query(database, "SELECT max(run) AS number FROM entry"),
    ];
    // The index of ids has the numbers too, so the table is not read.
    this.#ids = query(database, "SELECT number, id FROM run INDEXED BY sqlite_autoindex_run_1 ORDER BY id");
  }

  /** The runs that match the filter, newest first; unreadable ones are marked as damaged. */
  list(filter: RunFilter): RunHead[] {
    const heads: RunHead[] = [];
    const unreadable: number[] = [];
    for (let number = this.#first(filter.after); number > 0 && heads.length < filter.limit; number -= 1) {
      const row = orDamaged(() => this.#row.get(number));
      if (row === undefined) continue;
      if (row === "damaged") unreadable.push(number);
      else if (isMatch(row, filter)) heads.push(this.#headOf(number, row));
    }
    return unreadable.length === 0 ? heads : [...heads, ...this.#nameless(unreadable, filter)].slice(0, filter.limit);
  }

  #headOf(number: number, row: RunRow): RunHead {
    const last = orDamaged(() => this.#last.get(number));
    if (last === undefined) return { ...row, seq: 0, updatedAt: row.startedAt };
    if (last !== "damaged") return { ...row, ...last };
    this.#damage.note(row.id, LOST_ENTRIES);
    return { ...row, seq: 0, updatedAt: row.startedAt, damaged: LOST_ENTRIES };
  }

  /** Runs of which only the id is readable; they are listed only where nothing else is asked for. */
  #nameless(numbers: readonly number[], { owner, thread, open, ending = "" }: RunFilter): readonly RunHead[] {
    const ids = this.#idsByNumber();
    const named = numbers.map((number) => ids.get(number) ?? `number ${number}`);
    for (const id of named) this.#damage.note(id, LOST_ROW);
    if (owner !== undefined || thread !== undefined || open !== undefined) return [];
    const nothing = { owner: "", thread: "", task: "", status: "failed", seq: 0, startedAt: 0, updatedAt: 0 } as const;
    return named.filter((id) => id.endsWith(ending)).map((id) => ({ id, ...nothing, damaged: LOST_ROW }));
  }

  #idsByNumber(): ReadonlyMap<number, string> {
    const rows = orDamaged(() => this.#ids.all());
    return new Map(rows === "damaged" ? [] : rows.map(({ number, id }) => [number, id]));
  }

  /**
   * Number of the first run of the list: the newest, or the one before `after`; NOT_FOUND when `after` does not exist.
   */
  #first(after: string | undefined): number {
    if (after === undefined) return this.#newest();
    for (const [number, id] of this.#idsByNumber()) if (id === after) return number - 1;
    throw noSuchRun(after);
  }

  #newest(): number {
    for (const maximum of this.#maxima) {
      const found = orDamaged(() => maximum.get()?.number ?? 0);
      if (found !== "damaged") return found;
    }
    throw new Fault("JOURNAL_CORRUPT", TABLE_LOST);
  }
}

const LOST_ENTRIES = "a page of the file with entries of this run is damaged";
const LOST_ROW = "the page of the file with the name and state of this run is damaged";
const TABLE_LOST =
  "The table of runs is damaged where it begins, so no run can be found: stop the daemon, keep the file, " +
  "and restore a copy of it, or save what can be read with `sqlite3 journal.db .recover`.";

function orDamaged<Value>(read: () => Value): Value | "damaged" {
  try {
    return read();
  } catch (thrown) {
    if (isCorrupt(thrown)) return "damaged";
    throw thrown;
  }
}

function isMatch(row: RunRow, { open, owner, thread, ending = "" }: RunFilter): boolean {
  return (
    row.id.endsWith(ending) &&
    (open === undefined || isOpen(row.status) === open) &&
    (owner === undefined || row.owner === owner) &&
    (thread === undefined || row.thread === thread)
  );
}
