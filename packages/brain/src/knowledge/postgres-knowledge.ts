import { KNOWLEDGE_LIMITS, POSTGRES_LIMITS } from "@vidro/core";
import { postgresAddress } from "../stores/postgres/address.ts";
import { PostgresConnection } from "../stores/postgres/connection.ts";
import { openPostgres } from "../stores/postgres/open.ts";
import { noSuchPlace } from "../stores/record-rules.ts";
import { boundedEntry, entryOf, excessCheck, KNOWLEDGE_KIND } from "./entry-row.ts";
import type { EntryRow } from "./entry-row.ts";
import type { Knowledge, KnowledgeEntry, KnowledgePart, KnowledgeQuery } from "./knowledge.ts";
import { queryWords, searchWords } from "./search-words.ts";

/** The condition of an owner, or of all when it is null. */
const OWNED = "($2::text IS NULL OR owner = $2)";
const COLUMNS = "number, id, owner, title, tags, snippet, status, trust, run, seq, at";
const ADD = {
  text: `INSERT INTO knowledge (id, owner, title, tags, snippet, status, trust, run, seq, at, words)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::tsvector) ON CONFLICT (id) DO NOTHING`,
};
const FIND = { text: `SELECT ${COLUMNS} FROM knowledge WHERE id = $1 AND ${OWNED}` };
// An entry that is verified already counts as well, so that a repetition gives the same answer.
const VERIFY = { text: `UPDATE knowledge SET status = 'verified' WHERE id = $1 AND ${OWNED} RETURNING number` };
const REMOVE = { text: `DELETE FROM knowledge WHERE id = $1 AND ${OWNED} RETURNING number` };
const LIST = {
  text: `SELECT ${COLUMNS} FROM knowledge WHERE ${OWNED} AND number < $1 AND ($3::text IS NULL OR status = $3)
    AND ($4::text IS NULL OR right(id, length($4)) = $4) ORDER BY number DESC LIMIT $5`,
};
// Of many matches the newest are ranked.
const RANK = {
  text: `SELECT number, id FROM (
      SELECT number, id, ts_rank('{0, 0.25, 0.5, 1}', words, $1::tsquery) AS score FROM knowledge
      WHERE words @@ $1::tsquery AND ${OWNED} AND ($3::text IS NULL OR status = $3)
      ORDER BY number DESC LIMIT ${KNOWLEDGE_LIMITS.ranked}
    ) found ORDER BY score DESC, number DESC`,
};
const BY_NUMBER = { text: `SELECT ${COLUMNS} FROM knowledge WHERE number = ANY($1::bigint[])` };
// Of the owner who has most, so that one who floods the knowledge base removes none of another's.
const REMOVE_EXCESS = {
  text: `DELETE FROM knowledge WHERE number IN (SELECT number FROM knowledge WHERE status = 'unverified' AND owner = (
      SELECT owner FROM knowledge WHERE status = 'unverified' GROUP BY owner ORDER BY count(*) DESC LIMIT 1)
    ORDER BY number LIMIT greatest(0, (SELECT count(*) FROM knowledge) - $1))`,
};

interface Row extends EntryRow {
  readonly number: number;
}

/** Knowledge in the PostgreSQL database that brains share, opened at its first use. */
export function postgresKnowledge(where: string, entries: number = KNOWLEDGE_LIMITS.entries): Knowledge {
  let opened: Promise<PostgresConnection> | undefined;
  const isCheckDue = excessCheck(entries);
  const database = (): Promise<PostgresConnection> => {
    opened ??= openConnection(where);
    // A failure to open is not kept, so that the next use tries again.
    opened.catch(() => (opened = undefined));
    return opened;
  };
  const change = async (statement: typeof VERIFY, id: string, owner: string | undefined): Promise<boolean> => {
    const connection = await database();
    return connection.write(
      async (isRepeat) => (await connection.query(statement, [id, owner ?? null])).length > 0 || isRepeat,
    );
  };
  return {
    async add(entry) {
      const connection = await database();
      await connection.write(() => connection.query(ADD, valuesOf(entry)));
      if (isCheckDue()) await connection.write(() => connection.query(REMOVE_EXCESS, [entries]));
    },
    search: async (query) => searchEntries(await database(), query),
    list: async (part) => listEntries(await database(), part),
    async find(id, owner) {
      const [row] = await (await database()).read<Row>(FIND, [id, owner ?? null]);
      return row && entryOf(row);
    },
    verify: (id, owner) => change(VERIFY, id, owner),
    remove: (id, owner) => change(REMOVE, id, owner),
    async close() {
      const connection = await opened?.catch(() => undefined);
      opened = undefined;
      await connection?.close();
    },
  };
}

async function openConnection(where: string): Promise<PostgresConnection> {
  const { pool, address } = await openPostgres(postgresAddress(where), {
    connections: POSTGRES_LIMITS.knowledgeConnections,
  });
  return new PostgresConnection(pool, address.name);
}

function valuesOf(entry: KnowledgeEntry): readonly (string | number | null)[] {
  const { id, owner, title, tags, snippet, status, trust, run, seq, at } = boundedEntry(entry);
  const words = [...weighWords(title, "A"), ...weighWords(tags, "B"), ...weighWords(snippet, "C")];
  return [id, owner, title, tags, snippet, status, trust, run, seq, at, words.join(" ")];
}

/** Words as PostgreSQL reads them; a word has only letters and digits, so that quotes hold it. */
function weighWords(text: string, weight: "A" | "B" | "C"): readonly string[] {
  return searchWords(text).map((word, index) => `'${word}':${index + 1}${weight}`);
}

async function listEntries(connection: PostgresConnection, part: KnowledgePart): Promise<readonly KnowledgeEntry[]> {
  const { owner = null, status = null, ending = null, after, limit } = part;
  let place: number | undefined = Number.MAX_SAFE_INTEGER;
  if (after !== undefined) place = (await connection.read<Row>(FIND, [after, owner]))[0]?.number;
  if (place === undefined) throw noSuchPlace(KNOWLEDGE_KIND, after ?? "");
  return (await connection.read<Row>(LIST, [place, owner, status, ending, limit])).map(entryOf);
}

async function searchEntries(connection: PostgresConnection, query: KnowledgeQuery) {
  const { text, owner = null, status = null, after, limit } = query;
  const words = queryWords(text).map((word) => `'${word}'`);
  if (words.length === 0) return [];
  const rank = (match: string) => connection.read<Pick<Row, "number" | "id">>(RANK, [match, owner, status]);
  const all = await rank(words.join(" & "));
  const ranked = all.length > 0 ? all : await rank(words.join(" | "));
  const start = after === undefined ? 0 : ranked.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && start === 0) throw noSuchPlace(KNOWLEDGE_KIND, after);
  const wanted = ranked.slice(start, start + limit).map(({ number }) => number);
  const found = new Map((await connection.read<Row>(BY_NUMBER, [wanted])).map((row) => [row.number, row]));
  return wanted.flatMap((number) => found.get(number) ?? []).map(entryOf);
}
