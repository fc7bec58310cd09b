import { DOCUMENT_LIMITS, KNOWLEDGE_LIMITS } from "@vidro/core";
import type { DocumentSection } from "@vidro/core";
import type { DatabaseSync } from "node:sqlite";
import { APPLICATION_ID } from "../stores/sqlite/schema.ts";
import { LateDatabase } from "./late-database.ts";
import { queryWords, searchWords } from "./search-words.ts";

/** Migrations, each run once and in order; only ever appended to. */
const MIGRATIONS: readonly string[] = [
  `PRAGMA application_id = ${APPLICATION_ID};
  CREATE TABLE folder (folder TEXT PRIMARY KEY, at INTEGER NOT NULL, left_out TEXT NOT NULL, fault TEXT) STRICT;
  CREATE TABLE document (
    number INTEGER PRIMARY KEY, folder TEXT NOT NULL, path TEXT NOT NULL, identity TEXT NOT NULL, UNIQUE (folder, path)
  ) STRICT;
  CREATE TABLE section (
    number INTEGER PRIMARY KEY, document INTEGER NOT NULL, line INTEGER NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL
  ) STRICT;
  CREATE INDEX section_document ON section (document);
  CREATE VIRTUAL TABLE section_words USING fts5(
    title, text, content = '', contentless_delete = 1, tokenize = 'ascii'
  );
  CREATE TRIGGER document_removed AFTER DELETE ON document BEGIN
    DELETE FROM section WHERE document = old.number;
  END;
  CREATE TRIGGER section_removed AFTER DELETE ON section BEGIN
    DELETE FROM section_words WHERE rowid = old.number;
  END;`,
];

/** A section of a document that a search found. */
export interface DocumentMatch {
  readonly path: string;
  readonly line: number;
  readonly title: string;
  readonly snippet: string;
}

/** What is indexed of a folder. */
export interface FolderStatus {
  readonly folder: string;
  readonly documents: number;
  readonly sections: number;
  /** End of the last look; null when there was none. */
  readonly at: number | null;
  /** Why documents were left out; the first reasons. */
  readonly leftOut: readonly string[];
  /** Why the folder could not be looked through. */
  readonly fault: string | null;
}

/** The words of documents, in a database that can be made again from the folders. */
export class DocumentIndex {
  readonly #database: LateDatabase;

  constructor(path: string) {
    this.#database = new LateDatabase(path, MIGRATIONS, { name: "The index of documents" });
  }

  /** The identity of each document of a folder. */
  identities(folder: string): Promise<ReadonlyMap<string, string>> {
    return this.#database.use((database) => {
      const rows = database.prepare("SELECT path, identity FROM document WHERE folder = ?").all(folder);
      return new Map(rows.map(({ path, identity }) => [String(path), String(identity)]));
    });
  }

  /** Stores a document in the place of the one that was there. */
  put(
    folder: string,
    document: { readonly path: string; readonly identity: string; readonly sections: readonly DocumentSection[] },
  ): Promise<void> {
    return this.#database.change((database) => {
      const { path, identity, sections } = document;
      database.prepare("DELETE FROM document WHERE folder = ? AND path = ?").run(folder, path);
      const insert = database.prepare("INSERT INTO document (folder, path, identity) VALUES (?, ?, ?)");
      const { lastInsertRowid } = insert.run(folder, path, identity);
      for (const section of sections) addSection(database, lastInsertRowid, section);
    });
  }

  /** Removes a document. */
  remove(folder: string, path: string): Promise<void> {
    return this.#database.change((database) => {
      database.prepare("DELETE FROM document WHERE folder = ? AND path = ?").run(folder, path);
    });
  }

  /** Removes what is of other folders than these. */
  keepFolders(folders: readonly string[]): Promise<void> {
    return this.#database.change((database) => {
      const kept = JSON.stringify(folders);
      for (const table of ["document", "folder"])
        database.prepare(`DELETE FROM ${table} WHERE folder NOT IN (SELECT value FROM json_each(?))`).run(kept);
    });
  }

  /** Records the end of a look at a folder. */
  settle(
    folder: string,
    end: { readonly leftOut: readonly string[]; readonly fault: string | undefined },
  ): Promise<void> {
    return this.#database.change((database) => {
      database
        .prepare("INSERT OR REPLACE INTO folder VALUES (?, ?, ?, ?)")
        .run(folder, Date.now(), JSON.stringify(end.leftOut.slice(0, DOCUMENT_LIMITS.reasons)), end.fault ?? null);
    });
  }

  /** What is indexed of each folder. */
  status(folders: readonly string[]): Promise<readonly FolderStatus[]> {
    return this.#database.use((database) => folders.map((folder) => statusOf(database, folder)));
  }

  /** The sections that hold all words, best first; those that hold some of them if none holds all. */
  search(text: string, limit: number): Promise<readonly DocumentMatch[]> {
    const words = queryWords(text).map((word) => `"${word}"`);
    return this.#database.use((database) => {
      if (words.length === 0) return [];
      const all = rankedSections(database, words.join(" "), limit);
      return all.length > 0 ? all : rankedSections(database, words.join(" OR "), limit);
    });
  }

  /** Closes the database. */
  close(): Promise<void> {
    return this.#database.close();
  }
}

function addSection(database: DatabaseSync, document: number | bigint, { line, title, text }: DocumentSection): void {
  const { lastInsertRowid } = database
    .prepare("INSERT INTO section (document, line, title, text) VALUES (?, ?, ?, ?)")
    .run(document, line, title.toWellFormed(), text.toWellFormed());
  database
    .prepare("INSERT INTO section_words (rowid, title, text) VALUES (?, ?, ?)")
    .run(lastInsertRowid, searchWords(title).join(" "), searchWords(text).join(" "));
}

function rankedSections(database: DatabaseSync, match: string, limit: number): readonly DocumentMatch[] {
  return database
    .prepare(
      `SELECT path, line, title, substr(text, 1, ${DOCUMENT_LIMITS.snippetChars}) AS snippet FROM (
        SELECT rowid AS place, bm25(section_words, 4, 1) AS score FROM section_words WHERE section_words MATCH ?
        ORDER BY rowid DESC LIMIT ${KNOWLEDGE_LIMITS.ranked}
      ) JOIN section ON section.number = place JOIN document ON document.number = section.document
      ORDER BY score, place LIMIT ?`,
    )
    .all(match, limit)
    .map((row) => ({
      path: String(row["path"]),
      line: Number(row["line"]),
      title: String(row["title"]),
      snippet: String(row["snippet"]),
    }));
}

function statusOf(database: DatabaseSync, folder: string): FolderStatus {
  const counted = database
    .prepare(
      `SELECT count(DISTINCT document.number) AS documents, count(section.number) AS sections
      FROM document LEFT JOIN section ON section.document = document.number WHERE folder = ?`,
    )
    .get(folder);
  const row = database.prepare("SELECT at, left_out, fault FROM folder WHERE folder = ?").get(folder);
  const reasons: unknown = JSON.parse(String(row?.["left_out"] ?? "[]"));
  return {
    folder,
    documents: Number(counted?.["documents"]),
    sections: Number(counted?.["sections"]),
    at: row === undefined ? null : Number(row["at"]),
    leftOut: Array.isArray(reasons) ? reasons.map(String) : [],
    fault: typeof row?.["fault"] === "string" ? row["fault"] : null,
  };
}
