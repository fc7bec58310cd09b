import type { LeaseHolder, NewRun, RunHead, RunStatus } from "@vidro/core";
import type { ChainLink } from "../hash-chain.ts";
import { partsIn, unpackBody } from "../parts.ts";
import { noSuchRun } from "../run-rules.ts";
import type { RunFilter, Term } from "../run-rules.ts";
import type { PostgresConnection, SqlValue, Statement } from "./connection.ts";

/** The row of a run as far as appends and leases need it. */
export interface RunPlace {
  readonly number: number;
  readonly id: string;
  readonly epoch: number;
  /** JSON of the holder, null once the lease was released. */
  readonly holder: string | null;
  readonly until: number;
  readonly status: RunStatus;
  readonly seq: number;
  readonly hash: string;
  /** The server's clock, by which the leases of several brains are compared. */
  readonly now: number;
}

/** Entries of a run from `seq` on, at most `limit`. */
export interface LinksPlace {
  readonly run: string;
  readonly seq: number;
  readonly limit: number;
}

/** Milliseconds of the server's clock. */
export const SERVER_NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

const OPEN = "status IN ('running', 'asking')";
const HEAD = `SELECT id, owner, thread, task, status, seq, started AS "startedAt", updated AS "updatedAt" FROM run`;
const PLACES = {
  name: "places",
  text: `SELECT number, id, epoch, holder, until, status, seq, hash, ${SERVER_NOW} AS now FROM run WHERE id = ANY($1)`,
};
const HEADS = { name: "heads", text: `${HEAD} WHERE id = ANY($1)` };
const KNOWN_HEAD = {
  name: "known-head",
  text: `${HEAD} WHERE owner = $1 AND (key = $2 OR (sole = $3 AND ${OPEN})) ORDER BY key = $2 DESC NULLS LAST LIMIT 1`,
};
const LINKS = {
  name: "links",
  text: `SELECT link.* FROM unnest($1::text[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS asked (id, seq, most, place)
    CROSS JOIN LATERAL (
      SELECT asked.place - 1 AS place, entry.seq, at, body, entry.hash FROM entry
      WHERE entry.run = (SELECT number FROM run WHERE run.id = asked.id) AND entry.seq >= asked.seq
      ORDER BY entry.seq LIMIT asked.most) AS link
    ORDER BY link.place, link.seq`,
};
const PARTS = { name: "parts", text: "SELECT hash, body FROM part WHERE hash = ANY($1)" };
const HOLDERS = { text: `SELECT DISTINCT holder FROM run WHERE ${OPEN} AND holder IS NOT NULL` };
const UNDRIVEN = {
  text: `SELECT id FROM run WHERE ${OPEN} AND (holder IS NULL OR until <= coalesce($1, ${SERVER_NOW}) OR holder = ANY($2))
    ORDER BY number LIMIT $3`,
};

type HeadRow = RunHead;

/** Reads of the tables of the journal. */
export class PostgresRows {
  readonly #read: <Row>(statement: Statement, values: readonly SqlValue[]) => Promise<readonly Row[]>;

  /** `isOnce`: reads are part of an attempt that is repeated as a whole. */
  constructor(connection: PostgresConnection, isOnce = false) {
    this.#read = (statement, values) =>
      isOnce ? connection.query(statement, values) : connection.read(statement, values);
  }

  /** The rows of runs by their ids. */
  async places(ids: readonly string[]): Promise<ReadonlyMap<string, RunPlace>> {
    const rows = ids.length === 0 ? [] : await this.#read<RunPlace>(PLACES, [ids]);
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** A run as it is listed. */
  async head(run: string): Promise<RunHead | undefined> {
    return (await this.heads([run]))[0];
  }

  /** Runs as they are listed, in the order of their ids here. */
  async heads(runs: readonly string[]): Promise<readonly (RunHead | undefined)[]> {
    const found = new Map((await this.#read<HeadRow>(HEADS, [runs])).map((row) => [row.id, headOfRow(row)]));
    return runs.map((run) => found.get(run));
  }

  /** The run that the key of a new run belongs to, or else the open one that has its `sole`. */
  async knownHead({ owner, key, sole }: NewRun): Promise<RunHead | undefined> {
    return headOf((await this.#read<HeadRow>(KNOWN_HEAD, [owner, key ?? null, sole ?? null]))[0]);
  }

  /** The entries of a run from `seq` on, at most `limit`. */
  async links(run: string, seq: number, limit: number): Promise<readonly ChainLink[]> {
    return (await this.linksOf([{ run, seq, limit }]))[0] ?? [];
  }

  /** The entries of several places of runs, in the order of the places. */
  async linksOf(places: readonly LinksPlace[]): Promise<readonly (readonly ChainLink[])[]> {
    const rows = await this.#read<ChainLink & { place: number }>(LINKS, [
      places.map(({ run }) => run),
      places.map(({ seq }) => seq),
      places.map(({ limit }) => limit),
    ]);
    const keys = new Set(rows.flatMap(({ body }) => partsIn(body)));
    const found = keys.size === 0 ? [] : await this.#read<{ hash: string; body: string }>(PARTS, [[...keys]]);
    const parts = new Map(found.map(({ hash, body }) => [hash, body]));
    const links = places.map((): ChainLink[] => []);
    for (const { place, seq, at, body, hash } of rows)
      links[place]?.push({ seq, at, body: unpackBody(body, (key) => parts.get(key)), hash });
    return links;
  }

  /** Runs, newest first. */
  async list(filter: RunFilter): Promise<readonly RunHead[]> {
    const conditions: string[] = [];
    const values: SqlValue[] = [];
    const add = (condition: (place: string) => string, value: SqlValue): void => {
      values.push(value);
      conditions.push(condition(`$${values.length}`));
    };
    if (filter.open !== undefined) conditions.push(filter.open ? OPEN : `NOT (${OPEN})`);
    if (filter.owner !== undefined) add((place) => `owner = ${place}`, filter.owner);
    if (filter.thread !== undefined) add((place) => `thread = ${place}`, filter.thread);
    if (filter.ending !== undefined) add((place) => `right(id, length(${place})) = ${place}`, filter.ending);
    if (filter.after !== undefined) {
      const after = (await this.places([filter.after])).get(filter.after);
      if (after === undefined) throw noSuchRun(filter.after);
      add((place) => `number < ${place}`, after.number);
    }
    const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
    const text = `${HEAD} ${where} ORDER BY number DESC LIMIT $${values.length + 1}`;
    return (await this.#read<HeadRow>({ text }, [...values, filter.limit])).map(headOfRow);
  }

  /** Open runs whose lease was released, has expired, or whose holder is not alive; oldest first. */
  async undriven(now: number | null, mayLive: (holder: LeaseHolder) => boolean, limit: number): Promise<string[]> {
    const holders = (await this.#read<{ holder: string }>(HOLDERS, [])).map(({ holder }) => holder);
    const dead = holders.filter((holder) => !mayLive(JSON.parse(holder)));
    return (await this.#read<{ id: string }>(UNDRIVEN, [now, dead, limit])).map(({ id }) => id);
  }
}

/** The lease in a row. */
export function termOf({ holder, until }: RunPlace): Term {
  return { holder: holder === null ? undefined : JSON.parse(holder), until };
}

function headOf(row: HeadRow | undefined): RunHead | undefined {
  return row && headOfRow(row);
}

function headOfRow(row: HeadRow): RunHead {
  const { id, owner, thread, status, seq, startedAt, updatedAt } = row;
  return { id, owner, thread, task: JSON.parse(row.task), status, seq, startedAt, updatedAt };
}
