/**
 * Migrations: the script at index n leads from version n to n + 1. A released script is never changed; a new one is
 * added behind it.
 *
 * The row of a run has the end of its journal (`seq`, `hash`, `status`), so that one UPDATE with a condition checks the
 * lease and the place of an append for many runs at once. `task` is JSON, since text of PostgreSQL cannot hold NUL.
 * `hash` of an entry chains it to the one before it, as in every store.
 */
export const POSTGRES_MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE run (
    number  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id      text NOT NULL UNIQUE,
    owner   text NOT NULL,
    thread  text NOT NULL,
    key     text,
    task    text NOT NULL,
    status  text NOT NULL,
    started bigint NOT NULL,
    updated bigint NOT NULL,
    seq     bigint NOT NULL,
    hash    text NOT NULL,
    epoch   bigint NOT NULL,
    holder  text,
    until   bigint NOT NULL,
    UNIQUE (owner, key)
  ) WITH (fillfactor = 70);
  CREATE INDEX run_thread ON run (thread, number);
  CREATE INDEX run_owner ON run (owner, number);
  CREATE INDEX run_open ON run (number) WHERE status IN ('running', 'asking');
  CREATE TABLE entry (
    run  bigint NOT NULL,
    seq  bigint NOT NULL,
    at   bigint NOT NULL,
    body text NOT NULL,
    hash text NOT NULL,
    PRIMARY KEY (run, seq)
  );
  CREATE TABLE record (
    number  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind    text NOT NULL,
    id      text NOT NULL,
    owner   text NOT NULL,
    body    text NOT NULL,
    version bigint NOT NULL,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    UNIQUE (kind, id)
  );
  CREATE INDEX record_place ON record (kind, number);
  CREATE INDEX record_owner ON record (kind, owner, number);
  CREATE TABLE record_change (
    kind    text PRIMARY KEY,
    changes bigint NOT NULL
  );
  CREATE TABLE incarnation (
    place      integer PRIMARY KEY CHECK (place = 1),
    generation bigint NOT NULL,
    floor      bigint NOT NULL
  );
  `,
  // Large texts of entries, each kept once, and the runs that have them.
  `
  CREATE TABLE part (hash text PRIMARY KEY, body text NOT NULL);
  CREATE TABLE part_use (
    run  bigint NOT NULL,
    hash text NOT NULL,
    PRIMARY KEY (run, hash)
  );
  CREATE INDEX part_use_hash ON part_use (hash);
  `,
  // The lock keeps a run from being written that has a part which is just being deleted.
  `
  CREATE FUNCTION prune(ids text[]) RETURNS integer LANGUAGE plpgsql AS $$
  DECLARE
    gone bigint[];
    hashes text[];
  BEGIN
    LOCK TABLE part IN SHARE ROW EXCLUSIVE MODE;
    WITH deleted AS (
      DELETE FROM run WHERE id = ANY(ids) AND status NOT IN ('running', 'asking') RETURNING number)
    SELECT coalesce(array_agg(number), '{}') INTO gone FROM deleted;
    DELETE FROM entry WHERE run = ANY(gone);
    WITH deleted AS (DELETE FROM part_use WHERE run = ANY(gone) RETURNING hash)
    SELECT coalesce(array_agg(DISTINCT hash), '{}') INTO hashes FROM deleted;
    DELETE FROM part WHERE hash = ANY(hashes) AND NOT EXISTS (SELECT FROM part_use WHERE part_use.hash = part.hash);
    RETURN cardinality(gone);
  END $$;
  `,
  // Findings with their words, as the brain makes them; the weights A, B and C are title, tags and text.
  `
  CREATE TABLE knowledge (
    number  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id      text NOT NULL UNIQUE,
    owner   text NOT NULL,
    title   text NOT NULL,
    tags    text NOT NULL,
    snippet text NOT NULL,
    status  text NOT NULL,
    trust   text NOT NULL,
    run     text,
    seq     bigint,
    at      bigint NOT NULL,
    words   tsvector NOT NULL
  );
  CREATE INDEX knowledge_words ON knowledge USING gin (words);
  CREATE INDEX knowledge_owner ON knowledge (owner, number);
  CREATE INDEX knowledge_unverified ON knowledge (owner, number) WHERE status = 'unverified';
  `,
  // What models used and cost, by day and thread; it begins with what the journals tell. The usage is cut out of a body,
  // since PostgreSQL reads no JSON that has NUL in it.
  `
  CREATE TABLE spending (
    kind        text NOT NULL,
    key         text NOT NULL,
    owner       text NOT NULL,
    shard       smallint NOT NULL,
    updated     bigint NOT NULL,
    runs        bigint NOT NULL,
    steps       bigint NOT NULL,
    input       bigint NOT NULL,
    output      bigint NOT NULL,
    cached      bigint NOT NULL,
    cache_write bigint NOT NULL,
    thinking    bigint NOT NULL,
    unpriced    bigint NOT NULL,
    cost        float8 NOT NULL,
    PRIMARY KEY (kind, key, owner, shard)
  ) WITH (fillfactor = 70);
  INSERT INTO spending
    WITH told AS MATERIALIZED (
      SELECT run, at, split_part(body, '"', 4) AS type, substring(body FROM '"usage":({[^{}]*})')::json AS usage FROM entry
      WHERE body LIKE '{"type":"model.replied"%' OR body LIKE '{"type":"context.compacted"%'
        OR body LIKE '{"type":"model.called","step":1,"attempt":1}%')
    SELECT place.kind, place.key, run.owner, 0, max(at),
      count(*) FILTER (WHERE type = 'model.called'), count(*) FILTER (WHERE type = 'model.replied'),
      sum(coalesce((usage ->> 'inputTokens')::bigint, 0)), sum(coalesce((usage ->> 'outputTokens')::bigint, 0)),
      sum(coalesce((usage ->> 'cachedTokens')::bigint, 0)), sum(coalesce((usage ->> 'cacheWriteTokens')::bigint, 0)),
      sum(coalesce((usage ->> 'thinkingTokens')::bigint, 0)), 0, sum(coalesce((usage ->> 'costUsd')::float8, 0))
    FROM told JOIN run ON run.number = told.run
    CROSS JOIN LATERAL (VALUES
      ('day', to_char(to_timestamp(at / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD')), ('thread', run.thread))
      AS place (kind, key)
    GROUP BY place.kind, place.key, run.owner;
  CREATE OR REPLACE FUNCTION prune(ids text[]) RETURNS integer LANGUAGE plpgsql AS $$
  DECLARE
    gone bigint[];
    threads text[];
    hashes text[];
  BEGIN
    LOCK TABLE part IN SHARE ROW EXCLUSIVE MODE;
    WITH deleted AS (
      DELETE FROM run WHERE id = ANY(ids) AND status NOT IN ('running', 'asking') RETURNING number, thread)
    SELECT coalesce(array_agg(number), '{}'), coalesce(array_agg(DISTINCT thread), '{}') INTO gone, threads FROM deleted;
    DELETE FROM entry WHERE run = ANY(gone);
    WITH deleted AS (DELETE FROM part_use WHERE run = ANY(gone) RETURNING hash)
    SELECT coalesce(array_agg(DISTINCT hash), '{}') INTO hashes FROM deleted;
    DELETE FROM part WHERE hash = ANY(hashes) AND NOT EXISTS (SELECT FROM part_use WHERE part_use.hash = part.hash);
    DELETE FROM spending WHERE kind = 'thread' AND key = ANY(threads)
      AND NOT EXISTS (SELECT FROM run WHERE run.thread = spending.key);
    RETURN cardinality(gone);
  END $$;
  `,
  // What only one open run of an owner may have.
  `
  ALTER TABLE run ADD COLUMN sole text;
  CREATE UNIQUE INDEX run_sole ON run (owner, sole) WHERE sole IS NOT NULL AND status IN ('running', 'asking');
  `,
];
