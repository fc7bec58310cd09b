import { APPLICATION_ID } from "../stores/sqlite/schema.ts";

/** Migrations of the knowledge base, each run once and in order; only ever appended to. */
export const KNOWLEDGE_MIGRATIONS: readonly string[] = [
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
  // The words are made by searchWords, as in every store; the text itself is in the table alone.
  `DROP TRIGGER entry_added;
  DROP TRIGGER entry_removed;
  DROP TABLE entry_text;
  CREATE VIRTUAL TABLE entry_words USING fts5(
    title, tags, snippet, content = '', contentless_delete = 1, tokenize = 'ascii'
  );
  CREATE TRIGGER entry_unindexed AFTER DELETE ON entry BEGIN
    DELETE FROM entry_words WHERE rowid = old.number;
  END;
  CREATE INDEX entry_owner ON entry (owner, number);`,
  // All that a search asks of an entry, without its text.
  `CREATE INDEX entry_head ON entry (number, owner, status, id);`,
];
