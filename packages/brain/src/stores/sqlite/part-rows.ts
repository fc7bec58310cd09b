import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { ChainLink } from "../hash-chain.ts";
import { unpackBody } from "../parts.ts";
import { query } from "./query.ts";
import type { Query } from "./query.ts";

/** The tables of parts: large texts of entries, each kept once. */
export class PartRows {
  readonly #number: Query<{ readonly number: number }>;
  readonly #text: Query<{ readonly text: string }>;
  readonly #insert: StatementSync;
  readonly #use: StatementSync;

  constructor(database: DatabaseSync) {
    this.#number = query(database, "SELECT number FROM part WHERE hash = unhex(?)");
    this.#text = query(database, "SELECT text FROM part WHERE hash = unhex(?)");
    this.#insert = database.prepare("INSERT INTO part (hash, text) VALUES (unhex(?), ?)");
    this.#use = database.prepare("INSERT OR IGNORE INTO part_use (part, run) VALUES (?, ?)");
  }

  /** Keeps parts of an entry of a run. */
  keep(run: number, parts: ReadonlyMap<string, string>): void {
    for (const [key, text] of parts) {
      const number = this.#number.get(key)?.number ?? this.#insert.run(key, text).lastInsertRowid;
      this.#use.run(number, run);
    }
  }

  /** Stored entries with their whole bodies. */
  whole(links: ChainLink[]): ChainLink[] {
    return links.map((link) => {
      const body = unpackBody(link.body, (key) => this.#text.get(key)?.text);
      return body === link.body ? link : { ...link, body };
    });
  }
}
