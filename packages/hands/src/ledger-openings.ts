import { randomUUID } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { fileIdentity, HAND_LIMITS, isSameFile, type FileIdentity } from "@vidro/core";

/*
 * Detects a ledger that was deleted, copied or rolled back after it judged an action. Each process that opens a ledger
 * adds an opening with a random id and counts its starts there; `id.count` is a mark. A ledger that does not know a
 * mark may have lost the starts after it.
 */

/** The tables that version 2 of a ledger adds. */
export const OPENING_TABLES = `
  CREATE TABLE file (only INTEGER PRIMARY KEY CHECK (only = 1), identity TEXT NOT NULL) STRICT;
  CREATE TABLE opening (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, starts INTEGER NOT NULL) STRICT;`;

/** This process's opening of a ledger, and a look-up of earlier openings. */
export class Openings {
  readonly #id = randomUUID();
  readonly #keep: StatementSync;
  readonly #starts: StatementSync;
  #count = 0;

  /** Adds the opening to tables that exist; durable with the first start that is counted. */
  constructor(database: DatabaseSync, path: string) {
    this.#keep = database.prepare(
      "INSERT INTO opening (id, starts) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET starts = excluded.starts",
    );
    this.#starts = database.prepare("SELECT starts FROM opening WHERE id = ?");
    database.exec("BEGIN IMMEDIATE");
    try {
      forgetIfCopied(database, fileIdentity(path, SYSTEM));
      this.#keep.run(this.#id, this.#count);
      database.exec(
        `DELETE FROM opening WHERE number <= (SELECT max(number) FROM opening) - ${HAND_LIMITS.ledgerOpenings}`,
      );
      database.exec("COMMIT");
    } catch (error) {
      if (database.isTransaction) database.exec("ROLLBACK");
      throw error;
    }
  }

  /** The mark after the starts that this process has written. */
  get mark(): string {
    return `${this.#id}.${this.#count}`;
  }

  /** Counts a start within its transaction; call `done` after the commit. */
  count(): { readonly done: () => void } {
    const next = this.#count + 1;
    this.#keep.run(this.#id, next);
    return { done: () => void (this.#count = next) };
  }

  /** Whether the ledger was at this mark once and has lost nothing since. */
  has(mark: string): boolean {
    const [id = "", count = ""] = mark.split(".");
    const starts = this.#starts.get(id)?.["starts"];
    return starts !== undefined && Number(starts) >= Number(count);
  }
}

const SYSTEM = {
  stat: (path: string) => statSync(path, { bigint: true }),
  read: (path: string) => readFileSync(path, "utf8"),
};

/** Removes all openings if the ledger lies in another file than the one it was written in: the original may go on. */
function forgetIfCopied(database: DatabaseSync, found: FileIdentity): void {
  const text = database.prepare("SELECT identity FROM file").get()?.["identity"];
  const kept: FileIdentity | undefined = text === undefined ? undefined : JSON.parse(String(text));
  if (kept !== undefined && isSameFile(kept, found) && kept.born !== "") return;
  if (kept !== undefined && !isSameFile(kept, found)) database.exec("DELETE FROM opening");
  database.prepare("INSERT OR REPLACE INTO file (only, identity) VALUES (1, ?)").run(JSON.stringify(found));
}
