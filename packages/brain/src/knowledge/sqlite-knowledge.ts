import { asFault, Fault, KNOWLEDGE_LIMITS } from "@vidro/core";
import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import { APPLICATION_ID } from "../stores/sqlite/schema.ts";
import type { Knowledge, KnowledgeEntry, KnowledgeQuery } from "./knowledge.ts";

/** Migrations, each run once and in order; only ever appended to. */
const MIGRATIONS: readonly string[] = [
  `PRAGMA application_id = ${APPLICATION_ID};
  CREATE TABLE entry (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, owner TEXT NOT NULL, title TEXT NOT NULL, tags TEXT NOT NULL,
    snippet TEXT NOT NULL, status TEXT NOT NULL, trust TEXT NOT NULL, run TEXT, seq INTEGER, at INTEGER NOT NULL
  ) STRICT;
  CREATE VIRTUAL TABLE entry_text USING fts5(
    title, tags, snippet, content = 'entry', content_rowid = 'number', tokenize = 'unicode61 remove_diacritics 2'
  );
  CREATE TRIGGER entry_added AFTER INSERT ON entry BEGIN
    INSERT INTO entry_text (rowid, title, tags, snippet) VALUES (new.number, new.title, new.tags, new.snippet);
  END;
  CREATE TRIGGER entry_removed AFTER DELETE ON entry BEGIN
    INSERT INTO entry_text (entry_text, rowid, title, tags, snippet)
    VALUES ('delete', old.number, old.title, old.tags, old.snippet);
  END;`,
  `CREATE INDEX entry_unverified ON entry (owner, number) WHERE status = 'unverified';
  CREATE TABLE unverified (owner TEXT PRIMARY KEY, entries INTEGER NOT NULL) STRICT;
  CREATE INDEX unverified_most ON unverified (entries);
  INSERT INTO unverified SELECT owner, count(*) FROM entry WHERE status = 'unverified' GROUP BY owner;
  CREATE TRIGGER unverified_added AFTER INSERT ON entry WHEN new.status = 'unverified' BEGIN
    INSERT INTO unverified VALUES (new.owner, 1) ON CONFLICT (owner) DO UPDATE SET entries = entries + 1;
  END;
  CREATE TRIGGER unverified_removed AFTER DELETE ON entry WHEN old.status = 'unverified' BEGIN
    UPDATE unverified SET entries = entries - 1 WHERE owner = old.owner;
  END;
  CREATE TRIGGER unverified_verified AFTER UPDATE OF status ON entry
  WHEN old.status = 'unverified' AND new.status <> 'unverified' BEGIN
    UPDATE unverified SET entries = entries - 1 WHERE owner = old.owner;
  END;`,
];

/** Entries of the whole knowledge base at most. */
interface KnowledgeBound {
  readonly entries?: number;
}

/** Knowledge in a database of its own, opened at its first use; `:memory:` keeps nothing. */
export function sqliteKnowledge(path: string, { entries = KNOWLEDGE_LIMITS.entries }: KnowledgeBound = {}): Knowledge {
  let opened: Promise<DatabaseSync> | undefined;
  const use = async <Value>(work: (database: DatabaseSync) => Value): Promise<Value> => {
    try {
      opened ??= openKnowledge(path);
      // A failure to open is not kept, so that the next use tries again.
      opened.catch(() => (opened = undefined));
      return work(await opened);
    } catch (cause) {
      throw cause instanceof Fault
        ? cause
        : new Fault("STORE_FAILED", `The knowledge base: ${asFault(cause).message}`, { cause });
    }
  };
  return {
    add: (entry) => use((database) => addEntry(database, entry, entries)),
    search: (query) => use((database) => searchEntries(database, query)),
    verify: (id, owner) =>
      use((database) =>
        isChanged(database, "UPDATE entry SET status = 'verified' WHERE id = ? AND owner = ?", [id, owner]),
      ),
    remove: (id, owner) =>
      use((database) => isChanged(database, "DELETE FROM entry WHERE id = ? AND owner = ?", [id, owner])),
    async close() {
      const database = await opened?.catch(() => undefined);
      opened = undefined;
      database?.close();
    },
  };
}

/** Opens the database; nothing of it is loaded before the first use, which most processes never make. */
async function openKnowledge(path: string): Promise<DatabaseSync> {
  if (path !== ":memory:") {
    const { openDatabase } = await import("../stores/sqlite/open.ts");
    return openDatabase(path, MIGRATIONS);
  }
  const { DatabaseSync: Database } = await import("node:sqlite");
  const database = new Database(path);
  for (const migration of MIGRATIONS) database.exec(migration);
  return database;
}

function addEntry(database: DatabaseSync, entry: KnowledgeEntry, bound: number): void {
  const { id, owner, title, tags, snippet, status, trust, source, at } = entry;
  const text = (value: string, chars: number): string => value.slice(0, chars);
  database
    .prepare(
      `INSERT INTO entry (id, owner, title, tags, snippet, status, trust, run, seq, at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
    )
    .run(
      id,
      owner,
      text(title, KNOWLEDGE_LIMITS.titleChars),
      JSON.stringify(tags.slice(0, KNOWLEDGE_LIMITS.tags).map((tag) => text(tag, KNOWLEDGE_LIMITS.titleChars))),
      text(snippet, KNOWLEDGE_LIMITS.snippetChars),
      status,
      trust,
      source?.run ?? null,
      source?.seq ?? null,
      at,
    );
  const { count } = row(database.prepare("SELECT count(*) AS count FROM entry").get());
  if (Number(count) <= bound) return;
  // Of the owner who has most, so that one who floods the knowledge base removes none of another owner's.
  database.exec(
    `DELETE FROM entry WHERE number = (SELECT number FROM entry WHERE status = 'unverified'
      AND owner = (SELECT owner FROM unverified ORDER BY entries DESC LIMIT 1) ORDER BY number LIMIT 1)`,
  );
}

function isChanged(database: DatabaseSync, statement: string, place: readonly [id: string, owner: string]): boolean {
  return database.prepare(statement).run(...place).changes > 0;
}

/** Each word in quotes, so that nothing in a query is an operator. */
function wordsOf(text: string): readonly string[] {
  const words = text.normalize("NFC").match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(words)].slice(0, KNOWLEDGE_LIMITS.queryWords).map((word) => `"${word}"`);
}

function searchEntries(database: DatabaseSync, { owner, text, limit }: KnowledgeQuery): readonly KnowledgeEntry[] {
  const words = wordsOf(text);
  if (words.length === 0) return [];
  // A title says more than a tag, and a tag more than the text. Of many matches the newest are ranked.
  const statement = database.prepare(
    `SELECT entry.* FROM (
      SELECT entry.number AS place, bm25(entry_text, 4, 2, 1) AS score
      FROM entry_text JOIN entry ON entry.number = entry_text.rowid
      WHERE entry_text MATCH ? AND entry.owner = ? ORDER BY entry_text.rowid DESC LIMIT ${KNOWLEDGE_LIMITS.ranked}
    ) JOIN entry ON entry.number = place ORDER BY score, place DESC LIMIT ?`,
  );
  const all = statement.all(words.join(" "), owner, limit);
  return (all.length > 0 ? all : statement.all(words.join(" OR "), owner, limit)).map(readEntry);
}

type Row = { readonly [column: string]: SQLOutputValue };

function row(found: Row | undefined): Row {
  return found ?? {};
}

function readEntry(found: Row): KnowledgeEntry {
  const tags: unknown = JSON.parse(String(found["tags"]));
  const source = found["run"] === null ? {} : { source: { run: String(found["run"]), seq: Number(found["seq"]) } };
  return {
    id: String(found["id"]),
    owner: String(found["owner"]),
    title: String(found["title"]),
    tags: Array.isArray(tags) ? tags.map(String) : [],
    snippet: String(found["snippet"]),
    status: found["status"] === "verified" ? "verified" : "unverified",
    ...source,
    trust: found["trust"] === "person" ? "person" : "model",
    at: Number(found["at"]),
  };
}
