/** "Vidr" in the header of the file. */
export const APPLICATION_ID = 0x56_69_64_72;

/**
 * Migrations: the script at index n leads from version n to n + 1. A released script is never changed; a new one is
 * added behind it.
 *
 * Entries lie in the order in which they were written, not by run: a commit for many runs then touches a few pages at
 * the end of the file instead of a page for each run, which makes it about three times as fast.
 */
export const MIGRATIONS: readonly string[] = [
  `
  PRAGMA application_id = ${APPLICATION_ID};
  CREATE TABLE run (
    number  INTEGER PRIMARY KEY,
    id      TEXT NOT NULL UNIQUE,
    thread  TEXT NOT NULL,
    key     TEXT UNIQUE,
    task    TEXT NOT NULL,
    status  TEXT NOT NULL,
    started INTEGER NOT NULL,
    epoch   INTEGER NOT NULL,
    holder  TEXT,
    until   INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX run_thread ON run (thread, number);
  CREATE INDEX run_open ON run (number) WHERE status IN ('running', 'asking');
  CREATE TABLE entry (
    run  INTEGER NOT NULL,
    seq  INTEGER NOT NULL,
    at   INTEGER NOT NULL,
    body TEXT NOT NULL,
    hash BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX entry_place ON entry (run, seq);
  `,
  // SQLite cannot remove UNIQUE from a column, so the table of runs is copied.
  `
  CREATE TABLE owned_run (
    number  INTEGER PRIMARY KEY,
    id      TEXT NOT NULL UNIQUE,
    owner   TEXT NOT NULL DEFAULT 'local',
    thread  TEXT NOT NULL,
    key     TEXT,
    task    TEXT NOT NULL,
    status  TEXT NOT NULL,
    started INTEGER NOT NULL,
    epoch   INTEGER NOT NULL,
    holder  TEXT,
    until   INTEGER NOT NULL,
    UNIQUE (owner, key)
  ) STRICT;
  INSERT INTO owned_run (number, id, thread, key, task, status, started, epoch, holder, until)
    SELECT number, id, thread, key, task, status, started, epoch, holder, until FROM run;
  DROP TABLE run;
  ALTER TABLE owned_run RENAME TO run;
  CREATE INDEX run_thread ON run (thread, number);
  CREATE INDEX run_owner ON run (owner, number);
  CREATE INDEX run_open ON run (number) WHERE status IN ('running', 'asking');
  CREATE TABLE record (
    number  INTEGER PRIMARY KEY,
    kind    TEXT NOT NULL,
    id      TEXT NOT NULL,
    owner   TEXT NOT NULL,
    body    TEXT NOT NULL,
    version INTEGER NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    UNIQUE (kind, id)
  ) STRICT;
  CREATE INDEX record_place ON record (kind, number);
  CREATE INDEX record_owner ON record (kind, owner, number);
  CREATE TABLE record_change (
    kind    TEXT PRIMARY KEY,
    changes INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE TABLE incarnation (
    only       INTEGER PRIMARY KEY CHECK (only = 1),
    generation INTEGER NOT NULL,
    floor      INTEGER NOT NULL,
    file       TEXT NOT NULL
  ) STRICT;
  `,
  `
  CREATE TABLE seal (number INTEGER PRIMARY KEY, body TEXT NOT NULL, signature BLOB NOT NULL) STRICT;
  CREATE TABLE record_unsealed (number INTEGER PRIMARY KEY, kind TEXT NOT NULL, id TEXT NOT NULL) STRICT;
  INSERT INTO record_unsealed (kind, id) SELECT kind, id FROM record;
  `,
  // Large texts of entries, each kept once, and the runs that have them.
  `
  CREATE TABLE part (number INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, text TEXT NOT NULL) STRICT;
  CREATE TABLE part_use (
    part INTEGER NOT NULL,
    run  INTEGER NOT NULL,
    PRIMARY KEY (part, run)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX part_use_run ON part_use (run);
  `,
  // What models used and cost, by day and thread; it begins with what the journals tell.
  `
  CREATE TABLE spending (
    kind        TEXT NOT NULL,
    key         TEXT NOT NULL,
    owner       TEXT NOT NULL,
    updated     INTEGER NOT NULL,
    runs        INTEGER NOT NULL,
    steps       INTEGER NOT NULL,
    input       INTEGER NOT NULL,
    output      INTEGER NOT NULL,
    cached      INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    thinking    INTEGER NOT NULL,
    unpriced    INTEGER NOT NULL,
    cost        REAL NOT NULL,
    PRIMARY KEY (kind, key, owner)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO spending
    WITH used AS (
      SELECT date(at / 1000, 'unixepoch') AS day, thread, owner, at, type, json_extract(event, '$.usage') AS usage
      FROM (
        SELECT run, at, replace(body, char(1), '"') AS event, json_extract(replace(body, char(1), '"'), '$.type') AS type
        FROM entry
        WHERE body LIKE '{"type":"model.replied"%' OR body LIKE '{"type":"context.compacted"%'
          OR body LIKE '{"type":"model.called","step":1,"attempt":1}%')
      JOIN run ON run.number = run),
    placed AS (SELECT 'day' AS kind, day AS key, * FROM used UNION ALL SELECT 'thread', thread, * FROM used)
    SELECT kind, key, owner, max(at), sum(type = 'model.called'), sum(type = 'model.replied'),
      sum(ifnull(json_extract(usage, '$.inputTokens'), 0)), sum(ifnull(json_extract(usage, '$.outputTokens'), 0)),
      sum(ifnull(json_extract(usage, '$.cachedTokens'), 0)), sum(ifnull(json_extract(usage, '$.cacheWriteTokens'), 0)),
      sum(ifnull(json_extract(usage, '$.thinkingTokens'), 0)), 0, total(json_extract(usage, '$.costUsd'))
    FROM placed GROUP BY kind, key, owner;
  `,
  // What only one open run of an owner may have.
  `
  ALTER TABLE run ADD COLUMN sole TEXT;
  CREATE UNIQUE INDEX run_sole ON run (owner, sole) WHERE sole IS NOT NULL AND status IN ('running', 'asking');
  `,
];

/** The newest version of a store that this Vidro knows. */
export const STORE_VERSION = MIGRATIONS.length;
