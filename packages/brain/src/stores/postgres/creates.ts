import { isSameProcess, RUN_LIMITS } from "@vidro/core";
import type { Entry, Lease, LeaseHolder, NewRun, RunHead, RunStatus } from "@vidro/core";
import { ROOT } from "../hash-chain.ts";
import { joinParts, packEvent } from "../parts.ts";
import type { PackedBody } from "../parts.ts";
import { advance, idTaken, openingOf } from "../run-rules.ts";
import { chainEntries, isWritten } from "./appends.ts";
import type { PostgresAppends } from "./appends.ts";
import { Batches } from "./batches.ts";
import { besideValues, makeRecords } from "./beside.ts";
import type { KindCount } from "./beside.ts";
import type { PostgresConnection } from "./connection.ts";
import { PostgresRows, SERVER_NOW, termOf } from "./rows.ts";
import { countSpending, NOTHING_SPENT, spendingShard, spendingValues } from "./spending.ts";

/** A run that is to be made. */
interface CreateCall {
  readonly run: NewRun;
  readonly entries: readonly Entry[];
  readonly holder: LeaseHolder;
}

/** The run that was made, or the one that was there. */
interface CreateResult {
  readonly head: RunHead;
  readonly lease?: Lease;
}

/** A run with its first entries as they are stored. */
interface CreateDraft extends CreateCall {
  readonly head: RunHead;
  readonly status: RunStatus;
  readonly bodies: readonly PackedBody[];
  readonly links: ReturnType<typeof chainEntries>;
  readonly hash: string;
}

/** Dependencies of the making of runs. */
interface PostgresCreatesOptions {
  readonly connection: PostgresConnection;
  readonly appends: PostgresAppends;
  /** The clock by which leases end; null for the server's. */
  readonly now: () => number | null;
  readonly made: (run: string, seq: number) => void;
  /** Called for each kind whose records were changed. */
  readonly recorded: (kind: string, changes: number) => void;
  /** The clock of records. */
  readonly recordsNow: () => number;
}

/** A run that was made, or a kind of records that was changed with it. */
type MadeRow = { readonly id: string; readonly number: number } | ({ readonly id: null } & KindCount);

const CREATE = {
  name: "create",
  text: `WITH draft AS (
      SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[],
          $8::bigint[], $9::bigint[], $10::text[], $11::text[], $12::text[]) WITH ORDINALITY
        AS draft (id, owner, thread, key, task, status, started, updated, seq, hash, holder, sole, place)),
    made AS (
      INSERT INTO run (id, owner, thread, key, sole, task, status, started, updated, seq, hash, epoch, holder, until)
      SELECT id, owner, thread, key, sole, task, status, started, updated, seq, hash, 1, holder,
          coalesce($13::bigint, ${SERVER_NOW}) + $14::bigint
        FROM draft ORDER BY place
      ON CONFLICT DO NOTHING RETURNING number, id, owner, thread),
    written AS (
      INSERT INTO entry (run, seq, at, body, hash) SELECT made.number, link.seq, link.at, link.body, link.hash FROM
        unnest($15::text[], $16::bigint[], $17::bigint[], $18::text[], $19::text[]) AS link (id, seq, at, body, hash)
        JOIN made USING (id)),
    part_of AS (
      SELECT made.number AS run, part.hash FROM unnest($20::text[], $21::text[]) AS part (id, hash) JOIN made USING (id)),
    part_written AS (
      INSERT INTO part (hash, body) SELECT part.* FROM unnest($22::text[], $23::text[]) AS part (hash, body)
        WHERE part.hash IN (SELECT hash FROM part_of) ON CONFLICT DO NOTHING),
    part_used AS (
      INSERT INTO part_use (run, hash) SELECT * FROM part_of),
    begun AS (SELECT draft.place, made.owner, made.thread FROM made JOIN draft USING (id)),
    ${countSpending(24, { from: "begun ON begun.place = used.run", owner: "begun.owner", thread: "begun.thread" })},
    ${makeRecords(24 + NOTHING_SPENT.length, { type: "text", from: "made ON made.id = made_record.run" })}
    SELECT id, number, NULL AS kind, NULL::bigint AS changes FROM made
    UNION ALL SELECT NULL, NULL, kind, changes FROM counted`,
};

/** Makes runs, those of one turn of the event loop with one statement. */
export class PostgresCreates {
  readonly #options: PostgresCreatesOptions;
  readonly #shard = spendingShard();
  readonly #batches = new Batches<CreateCall, CreateResult>({ work: (calls) => this.#create(calls), atOnce: 1 });

  constructor(options: PostgresCreatesOptions) {
    this.#options = options;
  }

  /** Makes a run; one that an earlier call made, or that has the key, is returned. Calls with one key do not overlap. */
  create(call: CreateCall): Promise<CreateResult> {
    return this.#batches.ask(call);
  }

  /** Resolves when all calls are answered. */
  settle(): Promise<void> {
    return this.#batches.settle();
  }

  #create(calls: readonly CreateCall[]): Promise<readonly Promise<CreateResult>[]> {
    const drafts = calls.map((call) => draftOf(call));
    // An id names one run of a statement; a second call with it finds that run.
    const first = new Map(drafts.toReversed().map((draft) => [draft.run.id, draft]));
    return this.#options.connection.write(async () => {
      const made = await this.#write(drafts.filter((draft) => first.get(draft.run.id) === draft));
      return drafts.map(async (draft) => {
        const { id } = draft.run;
        const number = first.get(id) === draft ? made.get(id) : undefined;
        if (number === undefined)
          return (await this.#options.connection.write(() => this.#madeBefore(draft))) ?? this.create(draft);
        const { head, status, hash } = draft;
        this.#options.appends.remember(id, { number, epoch: 1, isHeld: true, status, seq: head.seq, hash });
        this.#options.made(id, head.seq);
        return { head, lease: { run: id, epoch: 1 } };
      });
    });
  }

  /** The numbers of the runs that were made, by their ids. */
  async #write(drafts: readonly CreateDraft[]): Promise<ReadonlyMap<string, number>> {
    const links = drafts.flatMap((draft) => draft.links.map((link) => ({ ...link, id: draft.run.id })));
    const uses = drafts.flatMap(({ run, bodies }) => joinParts(bodies).map(([key]) => ({ id: run.id, key })));
    const parts = joinParts(drafts.flatMap(({ bodies }) => bodies));
    const beside = drafts.flatMap(({ run }) => (run.beside ?? []).map((record) => ({ run: run.id, record })));
    const rows = await this.#options.connection.query<MadeRow>(CREATE, [
      drafts.map(({ run }) => run.id),
      drafts.map(({ run }) => run.owner),
      drafts.map(({ run }) => run.thread),
      drafts.map(({ run }) => run.key ?? null),
      drafts.map(({ head }) => JSON.stringify(head.task)),
      drafts.map(({ status }) => status),
      drafts.map(({ head }) => head.startedAt),
      drafts.map(({ head }) => head.updatedAt),
      drafts.map(({ head }) => head.seq),
      drafts.map(({ hash }) => hash),
      drafts.map(({ holder }) => JSON.stringify(holder)),
      drafts.map(({ run }) => run.sole ?? null),
      this.#options.now(),
      RUN_LIMITS.leaseMs,
      links.map(({ id }) => id),
      links.map(({ seq }) => seq),
      links.map(({ at }) => at),
      links.map(({ stored }) => stored),
      links.map(({ hash }) => hash),
      uses.map(({ id }) => id),
      uses.map(({ key }) => key),
      parts.map(([key]) => key),
      parts.map(([, text]) => text),
      ...(spendingValues(
        this.#shard,
        drafts.map(({ entries }, index) => ({ number: index + 1, entries })),
      ) ?? NOTHING_SPENT),
      ...besideValues(this.#options.recordsNow(), beside),
    ]);
    for (const row of rows) if (row.id === null) this.#options.recorded(row.kind, row.changes);
    return new Map(rows.flatMap((row) => (row.id === null ? [] : [[row.id, row.number] as const])));
  }

  /**
   * The run that was known, or the one that an earlier attempt at the same call made; CONFLICT when it differs, and
   * undefined when the open run that was in the way has ended.
   */
  async #madeBefore({ run, entries, bodies, holder }: CreateDraft): Promise<CreateResult | undefined> {
    const rows = new PostgresRows(this.#options.connection, true);
    const known = await rows.knownHead(run);
    if (known !== undefined && known.id !== run.id) return { head: known };
    const place = (await rows.places([run.id])).get(run.id);
    if (place === undefined && run.sole !== undefined) return undefined;
    const held = place && termOf(place).holder;
    const isSame = place?.epoch === 1 && held !== undefined && isSameProcess(held, holder);
    const head = await rows.head(run.id);
    if (head?.seq !== entries.length || !isSame || !(await isWritten(rows, run.id, { entries, bodies })))
      throw idTaken(run.id);
    return { head, lease: { run: run.id, epoch: 1 } };
  }
}

function draftOf(call: CreateCall): CreateDraft {
  const { run, entries } = call;
  const { first, task } = openingOf(run.id, entries);
  const status = advance(run.id, { seq: ROOT.seq, status: "running" }, entries);
  const bodies = entries.map(({ event }) => packEvent(event));
  const links = chainEntries({ lease: { run: run.id }, entries, bodies }, ROOT);
  const { seq, at: updatedAt, hash } = links.at(-1) ?? { seq: ROOT.seq, at: first.at, hash: ROOT.hash };
  const { id, owner, thread } = run;
  const head = { id, owner, thread, task, status, seq, startedAt: first.at, updatedAt };
  return { ...call, head, status, bodies, links, hash };
}
