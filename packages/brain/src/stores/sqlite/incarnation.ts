import { readFileSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { fileIdentity, isSameFile, STORE_LIMITS } from "@vidro/core";
import { FIRST_GENERATION } from "@vidro/core/run";
import type { FileIdentity } from "@vidro/core";
import type { SqliteConnection } from "./connection.ts";
import { isOutOfSpace } from "./fault.ts";
import { query } from "./query.ts";
import type { Incarnation } from "../store.ts";
import { StoreMark } from "../store-mark.ts";

/*
 * Detects a store that was restored from a backup. The store keeps the identity of its file inside, and its number of
 * entries in a file beside it: a backup restored as a new file has another identity than it says, and one copied over
 * the store has fewer entries than the file beside it counts.
 */

/** Why a store counts as restored, for people. */
const WHY = {
  told: "it was started with --restored",
  moved: "its file is not the one that it was written in",
  rolledBack: "it lacks entries that it had before",
} as const;

interface Row {
  readonly generation: number;
  readonly floor: number;
  readonly file: string;
}

/** The facts about a store when it is opened. */
interface OpenedStore {
  readonly row: Row | undefined;
  readonly file: FileIdentity;
  readonly why: string | undefined;
}

/**
 * The incarnation of a store in a file, durable when it returns. From then on the file beside the store counts the
 * entries that the connection commits.
 */
export function sqliteIncarnation(
  connection: SqliteConnection,
  path: string,
  { restored, now }: { readonly restored: boolean; readonly now: () => number },
): Incarnation {
  const { database } = connection;
  const file = fileIdentity(path, SYSTEM);
  const mark = new StoreMark(path, file.inode);
  const look = (): OpenedStore => lookAt(database, { file, marked: mark.read(), isTold: restored });
  const incarnation = recordIncarnation({ database, path }, look, now);
  const counting = new CountWriter(() => mark.write(entriesIn(connection.database)));
  counting.write();
  const nothing = (): void => undefined;
  const closing = (): void => {
    counting.write();
    mark.close();
  };
  connection.join({ opened: nothing, begun: nothing, undone: nothing, committed: () => counting.soon(), closing });
  return incarnation;
}

interface OpenFile {
  readonly database: DatabaseSync;
  readonly path: string;
}

/** Records the incarnation; a store that was not restored is only read. */
function recordIncarnation({ database, path }: OpenFile, look: () => OpenedStore, now: () => number): Incarnation {
  const { row, why } = look();
  if (row !== undefined && why === undefined) return { generation: row.generation, floor: row.floor };
  try {
    database.exec("BEGIN IMMEDIATE");
    // Checked again under the lock: another process may have been faster.
    const found = look();
    const incarnation = nextIncarnation(found, now);
    database
      .prepare("INSERT OR REPLACE INTO incarnation (only, generation, floor, file) VALUES (1, ?, ?, ?)")
      .run(incarnation.generation, incarnation.floor, JSON.stringify(found.file));
    database.exec("COMMIT");
    return incarnation;
  } catch (thrown) {
    if (database.isTransaction) database.exec("ROLLBACK");
    if (!isOutOfSpace(thrown, path)) throw thrown;
    // A store on a full disk can be read; the next opening with free space finds the same.
    return nextIncarnation(look(), now);
  }
}

function nextIncarnation({ row, why }: OpenedStore, now: () => number): Incarnation {
  const { generation, floor } = row ?? FIRST;
  if (why === undefined) return { generation, floor };
  return { generation: generation + 1, floor: Math.max(floor + 1, now()), restored: why };
}

/** Writes the count at once, but at a bounded rate. */
class CountWriter {
  readonly #count: () => void;
  #countedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(count: () => void) {
    this.#count = count;
  }

  /** Something was committed. */
  soon(): void {
    const restMs = this.#countedAt + STORE_LIMITS.markMs - performance.now();
    if (restMs <= 0) return this.write();
    this.#timer ??= setTimeout(() => this.write(), restMs).unref();
  }

  write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#countedAt = performance.now();
    try {
      this.#count();
    } catch {
      // A failing disk is reported by the next write to the store itself.
    }
  }
}

const FIRST = { generation: FIRST_GENERATION, floor: 0 };

/** Evidence for or against a restore. */
interface Evidence {
  readonly file: FileIdentity;
  /** Entries that the file beside the store counts in this one. */
  readonly marked: number | "another file" | undefined;
  readonly isTold: boolean;
}

function lookAt(database: DatabaseSync, evidence: Evidence): OpenedStore {
  const row = query<Row>(database, "SELECT generation, floor, file FROM incarnation").get();
  return { row, file: evidence.file, why: evidence.isTold ? WHY.told : whyRestored(database, row, evidence) };
}

function whyRestored(database: DatabaseSync, row: Row | undefined, { file, marked }: Evidence): string | undefined {
  // A store without a row was never opened by this version, so there is no file beside it yet.
  if (row === undefined) return marked === undefined ? undefined : WHY.moved;
  const kept: FileIdentity = JSON.parse(row.file);
  if (!isSameFile(kept, file)) return WHY.moved;
  return typeof marked === "number" && entriesIn(database) < marked ? WHY.rolledBack : undefined;
}

/** Number of entries: they are never deleted, and their keys ascend in the order of writing. */
function entriesIn(database: DatabaseSync): number {
  return query<{ readonly last: number | null }>(database, "SELECT max(rowid) AS last FROM entry").get()?.last ?? 0;
}

const SYSTEM = {
  stat: (path: string) => statSync(path, { bigint: true }),
  read: (path: string) => readFileSync(path, "utf8"),
};
