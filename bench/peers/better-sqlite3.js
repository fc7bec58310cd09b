// @ts-nocheck
import { DatabaseSync } from "node:sqlite";

/**
 * The part of better-sqlite3 that LangGraph's SqliteSaver calls, on node:sqlite: the same engine as ours, and no
 * binary that has to be built at install.
 */
export class Database {
  #database;

  constructor(path, synchronous) {
    this.#database = new DatabaseSync(path);
    this.#database.exec(`PRAGMA synchronous = ${synchronous}`);
  }

  pragma(text) {
    this.#database.exec(`PRAGMA ${text}`);
  }

  exec(sql) {
    this.#database.exec(sql);
  }

  prepare(sql) {
    const statement = this.#database.prepare(sql);
    const plain = (values) => values.map((value) => value ?? null);
    return {
      get: (...values) => statement.get(...plain(values)),
      all: (...values) => statement.all(...plain(values)),
      run: (...values) => statement.run(...plain(values)),
    };
  }

  transaction(work) {
    return (...args) => {
      this.#database.exec("BEGIN");
      try {
        const result = work(...args);
        this.#database.exec("COMMIT");
        return result;
      } catch (thrown) {
        this.#database.exec("ROLLBACK");
        throw thrown;
      }
    };
  }

  close() {
    this.#database.close();
  }
}
