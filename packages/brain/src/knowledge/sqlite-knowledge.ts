import { KNOWLEDGE_LIMITS } from "@vidro/core";
import type { DatabaseSync } from "node:sqlite";
import { noSuchPlace } from "../stores/record-rules.ts";
import { boundedEntry, entryOf, excessCheck, KNOWLEDGE_KIND } from "./entry-row.ts";
import type { EntryRow } from "./entry-row.ts";
import type { Knowledge, KnowledgeEntry, KnowledgePart, KnowledgeQuery } from "./knowledge.ts";
import { inTransaction, LateDatabase } from "./late-database.ts";
import { queryWords, searchWords } from "./search-words.ts";
import { KNOWLEDGE_MIGRATIONS } from "./sqlite-schema.ts";

/** Entries of the whole knowledge base at most. */
interface KnowledgeBound {
  readonly entries?: number;
}

/** Knowledge in a database of its own, opened at its first use; `:memory:` keeps nothing. */
export function sqliteKnowledge(path: string, { entries = KNOWLEDGE_LIMITS.entries }: KnowledgeBound = {}): Knowledge {
  const isCheckDue = excessCheck(entries);
  const late = new LateDatabase(path, KNOWLEDGE_MIGRATIONS, { name: "The knowledge base", prepare: indexRest });
  const use = late.use.bind(late);
  return {
    add: (entry) =>
      use((database) => {
        inTransaction(database, () => addEntry(database, entry));
        if (isCheckDue()) removeExcess(database, entries);
      }),
    search: (query) => use((database) => searchEntries(database, query)),
    list: (part) => use((database) => listEntries(database, part)),
    find: (id, owner) => use((database) => rows(database, `SELECT * FROM entry WHERE id = ? ${OWNED}`, [id, owner])[0]),
    verify: (id, owner) =>
      use((database) => isChanged(database, `UPDATE entry SET status = 'verified' WHERE id = ? ${OWNED}`, [id, owner])),
    remove: (id, owner) =>
      use((database) => isChanged(database, `DELETE FROM entry WHERE id = ? ${OWNED}`, [id, owner])),
    close: () => late.close(),
  };
}

/** The condition of an owner, or of all when it is null. */
const OWNED = "AND owner = coalesce(?, owner)";

/** Indexes the entries that an older version has written without their words. */
function indexRest(database: DatabaseSync): void {
  let isBehind = false;
  const behind = `SELECT number, title, tags, snippet FROM entry
    WHERE number > coalesce((SELECT max(rowid) FROM entry_words), 0) ORDER BY number LIMIT ${KNOWLEDGE_LIMITS.ranked}`;
  for (;;) {
    const found = database.prepare(behind).all() as unknown as readonly (IndexedText & { readonly number: number })[];
    if (found.length === 0) break;
    isBehind = true;
    inTransaction(database, () => {
      for (const row of found) indexEntry(database, row.number, row);
    });
  }
  if (isBehind) database.exec("INSERT INTO entry_words (entry_words) VALUES ('optimize')");
}

type IndexedText = Pick<EntryRow, "title" | "tags" | "snippet">;

function indexEntry(database: DatabaseSync, number: number | bigint, { title, tags, snippet }: IndexedText): void {
  const words = (text: string): string => searchWords(text).join(" ");
  database
    .prepare("INSERT INTO entry_words (rowid, title, tags, snippet) VALUES (?, ?, ?, ?)")
    .run(number, words(title), words(tags), words(snippet));
}

function addEntry(database: DatabaseSync, entry: KnowledgeEntry): void {
  const row = boundedEntry(entry);
  const { id, owner, title, tags, snippet, status, trust, run, seq, at } = row;
  const { changes, lastInsertRowid } = database
    .prepare(
      `INSERT INTO entry (id, owner, title, tags, snippet, status, trust, run, seq, at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
    )
    .run(id, owner, title, tags, snippet, status, trust, run, seq, at);
  if (changes > 0) indexEntry(database, lastInsertRowid, row);
}

/** Removes entries of the owner who has most, so that one who floods the knowledge base removes none of another's. */
function removeExcess(database: DatabaseSync, bound: number): void {
  const counted = database.prepare("SELECT count(*) AS entries FROM entry").get();
  const excess = Number(counted?.["entries"]) - bound;
  if (excess <= 0) return;
  database
    .prepare(
      `DELETE FROM entry WHERE number IN (SELECT number FROM entry WHERE status = 'unverified'
        AND owner = (SELECT owner FROM unverified ORDER BY entries DESC LIMIT 1) ORDER BY number LIMIT ?)`,
    )
    .run(excess);
}

type Parameter = string | number | undefined;

function isChanged(database: DatabaseSync, statement: string, values: readonly Parameter[]): boolean {
  return database.prepare(statement).run(...values.map((value) => value ?? null)).changes > 0;
}

function rows(database: DatabaseSync, statement: string, values: readonly Parameter[]): readonly KnowledgeEntry[] {
  const found = database.prepare(statement).all(...values.map((value) => value ?? null));
  return (found as unknown as readonly EntryRow[]).map(entryOf);
}

function listEntries(database: DatabaseSync, part: KnowledgePart): readonly KnowledgeEntry[] {
  const { owner, status, ending, after, limit } = part;
  const place =
    after === undefined
      ? Number.MAX_SAFE_INTEGER
      : database.prepare(`SELECT number FROM entry WHERE id = ? ${OWNED}`).get(after, owner ?? null)?.["number"];
  if (place === undefined) throw noSuchPlace(KNOWLEDGE_KIND, after ?? "");
  // An owner that is named has an index of its own; `coalesce` would hide it.
  const conditions = [
    "number < ?",
    ...(owner === undefined ? [] : ["owner = ?"]),
    ...(status === undefined ? [] : ["status = ?"]),
    ...(ending === undefined ? [] : ["substr(id, -length(?)) = ?"]),
  ];
  const values = [Number(place), owner, status, ending, ending].filter((value) => value !== undefined);
  return rows(database, `SELECT * FROM entry WHERE ${conditions.join(" AND ")} ORDER BY number DESC LIMIT ?`, [
    ...values,
    limit,
  ]);
}

function searchEntries(database: DatabaseSync, query: KnowledgeQuery): readonly KnowledgeEntry[] {
  const { text, after, limit } = query;
  // In quotes, so that none is an operator.
  const words = queryWords(text).map((word) => `"${word}"`);
  if (words.length === 0) return [];
  const all = rankedPlaces(database, words.join(" "), query);
  const ranked = all.length > 0 ? all : rankedPlaces(database, words.join(" OR "), query);
  const start = after === undefined ? 0 : ranked.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && start === 0) throw noSuchPlace(KNOWLEDGE_KIND, after);
  const one = database.prepare("SELECT * FROM entry WHERE number = ?");
  return ranked.slice(start, start + limit).map(({ place }) => entryOf(one.get(place) as unknown as EntryRow));
}

/** The places of the newest matches, the best first: a title says more than a tag, and a tag more than the text. */
function rankedPlaces(
  database: DatabaseSync,
  match: string,
  { owner, status, after, limit }: KnowledgePart,
): readonly { readonly place: number; readonly id: string }[] {
  const found = database
    .prepare(
      `SELECT place, id FROM (
        SELECT entry.number AS place, entry.id AS id, bm25(entry_words, 4, 2, 1) AS score
        FROM entry_words JOIN entry INDEXED BY entry_head ON entry.number = entry_words.rowid
        WHERE entry_words MATCH ? ${OWNED} AND status = coalesce(?, status)
        ORDER BY entry_words.rowid DESC LIMIT ${KNOWLEDGE_LIMITS.ranked}
      ) ORDER BY score, place DESC LIMIT ?`,
    )
    .all(match, owner ?? null, status ?? null, after === undefined ? limit : KNOWLEDGE_LIMITS.ranked);
  return found as unknown as { place: number; id: string }[];
}
