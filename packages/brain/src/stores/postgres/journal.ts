import { asFault, Fault, FOLLOW_LIMITS, isSameProcess, RUN_LIMITS } from "@vidro/core";
import type { Entry, Journal, Lease, LeaseHolder, NewRun, RunHead, RunStatus } from "@vidro/core";
import type { Damage } from "../damage.ts";
import { chainCheck, ROOT } from "../hash-chain.ts";
import { mayLive } from "../lease-holder.ts";
import { joinParts, packEvent } from "../parts.ts";
import type { PackedBody } from "../parts.ts";
import { advance, idTaken, leaseLost, noSuchRun, openingOf, refuseUnlessFree, statusAfter } from "../run-rules.ts";
import type { RunFilter } from "../run-rules.ts";
import { parseEvent, whyUnknown } from "../stored-event.ts";
import type { ChainReport } from "../stored-event.ts";
import { chainEntries, isWritten, PostgresAppends, tipOf } from "./appends.ts";
import type { PostgresConnection } from "./connection.ts";
import { PostgresRows, SERVER_NOW, termOf } from "./rows.ts";
import type { RunPlace } from "./rows.ts";
import { Sequences } from "./sequences.ts";
import { countSpending, NOTHING_SPENT, spendingShard, spendingValues } from "./spending.ts";
import type { PostgresWakes } from "./wakes.ts";

/** Dependencies of the journal. */
interface PostgresJournalOptions {
  readonly connection: PostgresConnection;
  readonly wakes: PostgresWakes;
  /** A clock in the place of the server's, by which leases end. */
  readonly now: (() => number) | undefined;
  readonly damage: Damage;
  /** Lowest epoch of a new lease. */
  readonly floor: number;
}

const CREATE = {
  name: "create",
  text: `WITH made AS (
      INSERT INTO run (id, owner, thread, key, task, status, started, updated, seq, hash, epoch, holder, until)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 1, $11, coalesce($12, ${SERVER_NOW}) + $13)
      ON CONFLICT DO NOTHING RETURNING number),
    written AS (
      INSERT INTO entry (run, seq, at, body, hash) SELECT made.number, link.* FROM made,
        unnest($14::bigint[], $15::bigint[], $16::text[], $17::text[]) AS link (seq, at, body, hash)),
    part_written AS (
      INSERT INTO part (hash, body) SELECT part.* FROM made, unnest($18::text[], $19::text[]) AS part ON CONFLICT DO NOTHING),
    part_used AS (
      INSERT INTO part_use (run, hash) SELECT made.number, part.* FROM made, unnest($18::text[]) AS part),
    ${countSpending(20, { from: "made ON true", owner: "$2", thread: "$3" })}
    SELECT number FROM made`,
};
// The whole old lease is the condition: one that was renewed in between is not taken.
const TAKE = {
  text: `UPDATE run SET epoch = $1, holder = $2, until = coalesce($3, ${SERVER_NOW}) + $4
    WHERE number = $5 AND epoch = $6 AND holder IS NOT DISTINCT FROM $7 AND until = $8
    RETURNING number, id, epoch, holder, until, status, seq, hash, 0::bigint AS now`,
};
const RENEW = {
  name: "renew",
  text: `UPDATE run SET until = coalesce($1, ${SERVER_NOW}) + $2 WHERE id = $3 AND epoch = $4 AND holder IS NOT NULL
    RETURNING number`,
};
const RELEASE = { text: "UPDATE run SET holder = NULL, until = 0 WHERE id = $1 AND epoch = $2" };

/** The journal in a database that it shares with other parts. */
export function postgresJournal(options: PostgresJournalOptions): Journal {
  return new PostgresJournal(options);
}

class PostgresJournal implements Journal {
  readonly #options: PostgresJournalOptions;
  readonly #connection: PostgresConnection;
  readonly #rows: PostgresRows;
  readonly #appends: PostgresAppends;
  readonly #sequences = new Sequences();
  readonly #shard = spendingShard();

  constructor(options: PostgresJournalOptions) {
    this.#options = options;
    this.#connection = options.connection;
    this.#rows = new PostgresRows(options.connection);
    this.#appends = new PostgresAppends(options.connection, (run, seq) => options.wakes.tellChange("run", run, seq));
  }

  create(run: NewRun, entries: readonly Entry[], holder: LeaseHolder): Promise<{ head: RunHead; lease?: Lease }> {
    const order = run.key === undefined ? run.id : JSON.stringify([run.owner, run.key]);
    return this.#sequences.do(order, () => this.#connection.write(() => this.#create(run, entries, holder)));
  }

  append(lease: Lease, entries: readonly Entry[]): Promise<void> {
    return this.#appends.add(lease, entries);
  }

  async read(run: string, after: number, limit: number): Promise<readonly Entry[]> {
    return this.#ofRun(run, async () => {
      // The entry before the first one is read too: the check begins with its hash.
      const links = [...(await this.#rows.links(run, after, limit + 1))];
      const before = links[0]?.seq === after ? links.shift() : undefined;
      if (before === undefined && links.length === 0 && (await this.#rows.head(run)) === undefined)
        throw noSuchRun(run);
      const check = chainCheck(run, before ?? { seq: Math.max(after, 1) - 1, hash: ROOT.hash });
      return links.slice(0, limit).map((link) => {
        const reason = check(link);
        if (reason !== undefined) throw new Fault("JOURNAL_CORRUPT", `The journal of run ${run} is broken: ${reason}.`);
        return { seq: link.seq, at: link.at, event: parseEvent(run, link) };
      });
    });
  }

  head(run: string): Promise<RunHead | undefined> {
    return this.#rows.head(run);
  }

  list(filter: RunFilter): Promise<readonly RunHead[]> {
    return this.#rows.list(filter);
  }

  undriven(limit: number): Promise<readonly string[]> {
    return this.#rows.undriven(this.#now(), mayLive, limit);
  }

  lease(run: string, holder: LeaseHolder): Promise<Lease> {
    return this.#sequences.do(run, () =>
      this.#connection.write(async () => {
        for (;;) {
          const held = (await new PostgresRows(this.#connection, true).places([run])).get(run);
          if (held === undefined) throw noSuchRun(run);
          refuseUnlessFree(run, termOf(held), { asker: holder, now: this.#now() ?? held.now });
          const taken = await this.#take(held, holder);
          if (taken === undefined) continue;
          this.#appends.remember(run, tipOf(taken));
          return { run, epoch: taken.epoch };
        }
      }),
    );
  }

  renew(lease: Lease): Promise<void> {
    return this.#connection.write(async () => {
      const values = [this.#now(), RUN_LIMITS.leaseMs, lease.run, lease.epoch];
      if ((await this.#connection.query(RENEW, values)).length === 0) throw leaseLost(lease.run);
    });
  }

  release(lease: Lease): Promise<void> {
    return this.#sequences.do(lease.run, async () => {
      // The last entries of a run may be on their way, and they need the lease.
      await this.#appends.waitForAppends(lease.run);
      await this.#connection.write(() => this.#connection.query(RELEASE, [lease.run, lease.epoch]));
      this.#appends.forget(lease.run);
    });
  }

  watch(run: string, wake: () => void): () => void {
    return this.#options.wakes.watch("run", run, { count: this.#appends.lastSeq(run), wake });
  }

  verify(run: string): Promise<ChainReport> {
    return this.#ofRun(run, async () => {
      const report = await this.#verifyRun(run);
      if (report.brokenAt !== undefined) this.#options.damage.note(run, report.reason ?? "the chain is broken");
      return report;
    });
  }

  async close(): Promise<void> {
    await this.#appends.settle();
    await this.#options.wakes.close();
    await this.#connection.close();
  }

  /** The clock that was given; null for the server's. */
  #now(): number | null {
    return this.#options.now?.() ?? null;
  }

  async #create(
    run: NewRun,
    entries: readonly Entry[],
    holder: LeaseHolder,
  ): Promise<{ head: RunHead; lease?: Lease }> {
    const rows = new PostgresRows(this.#connection, true);
    const known = run.key === undefined ? undefined : await rows.headOfKey(run.owner, run.key);
    if (known !== undefined && known.id !== run.id) return { head: known };
    const { first, task } = openingOf(run.id, entries);
    const status = advance(run.id, { seq: ROOT.seq, status: "running" }, entries);
    const bodies = entries.map(({ event }) => packEvent(event));
    const parts = joinParts(bodies);
    const links = chainEntries({ lease: { run: run.id }, entries, bodies }, ROOT);
    const { seq, at: updatedAt, hash } = links.at(-1) ?? { seq: ROOT.seq, at: first.at, hash: ROOT.hash };
    const { id, owner, thread } = run;
    const head = { id, owner, thread, task, status, seq, startedAt: first.at, updatedAt };
    const [made] = await this.#connection.query<{ number: number }>(CREATE, [
      id,
      owner,
      thread,
      run.key ?? null,
      JSON.stringify(task),
      status,
      first.at,
      updatedAt,
      seq,
      hash,
      JSON.stringify(holder),
      this.#now(),
      RUN_LIMITS.leaseMs,
      links.map((link) => link.seq),
      links.map(({ at }) => at),
      links.map(({ stored }) => stored),
      links.map((link) => link.hash),
      parts.map(([key]) => key),
      parts.map(([, text]) => text),
      ...(spendingValues(this.#shard, [{ number: 0, entries }]) ?? NOTHING_SPENT),
    ]);
    if (made === undefined) return this.#madeBefore({ run, entries, bodies }, holder);
    this.#appends.remember(id, { number: made.number, epoch: 1, isHeld: true, status, seq, hash });
    this.#options.wakes.tellChange("run", id, seq);
    return { head, lease: { run: id, epoch: 1 } };
  }

  /** The run of the key, or the one that an earlier attempt at the same call made; CONFLICT when it differs. */
  async #madeBefore(
    { run, entries, bodies }: { run: NewRun; entries: readonly Entry[]; bodies: readonly PackedBody[] },
    holder: LeaseHolder,
  ): Promise<{ head: RunHead; lease?: Lease }> {
    const rows = new PostgresRows(this.#connection, true);
    const known = run.key === undefined ? undefined : await rows.headOfKey(run.owner, run.key);
    if (known !== undefined && known.id !== run.id) return { head: known };
    const place = (await rows.places([run.id])).get(run.id);
    const held = place && termOf(place).holder;
    const isSame = place?.epoch === 1 && held !== undefined && isSameProcess(held, holder);
    const head = await rows.head(run.id);
    if (head?.seq !== entries.length || !isSame || !(await isWritten(rows, run.id, { entries, bodies })))
      throw idTaken(run.id);
    return { head, lease: { run: run.id, epoch: 1 } };
  }

  /** Takes a lease that is still as it was read. */
  async #take(held: RunPlace, holder: LeaseHolder): Promise<RunPlace | undefined> {
    const epoch = Math.max(held.epoch + 1, this.#options.floor);
    const next = [epoch, JSON.stringify(holder), this.#now(), RUN_LIMITS.leaseMs];
    const before = [held.number, held.epoch, held.holder, held.until];
    const [taken] = await this.#connection.query<RunPlace>(TAKE, [...next, ...before]);
    return taken;
  }

  async #verifyRun(run: string): Promise<ChainReport> {
    const head = await this.#rows.head(run);
    if (head === undefined) throw noSuchRun(run);
    const check = chainCheck(run);
    let entries = 0;
    let status: RunStatus = "running";
    for (;;) {
      const links = await this.#rows.links(run, entries + 1, FOLLOW_LIMITS.batch);
      for (const link of links) {
        const reason = check(link) ?? whyUnknown(run, link);
        if (reason !== undefined) return { entries, brokenAt: entries + 1, reason };
        status = statusAfter(status, parseEvent(run, link));
        entries += 1;
      }
      if (links.length < FOLLOW_LIMITS.batch) break;
    }
    // A run may go on while it is read; entries that its row has and the table lacks were cut off.
    if (entries > head.seq || (entries === head.seq && status === head.status && entries > 0)) return { entries };
    return { entries, brokenAt: entries + 1, reason: `the run is ${head.status}, but entry ${entries + 1} is missing` };
  }

  /** Reads one run; damage is remembered. */
  async #ofRun<Result>(run: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (thrown) {
      const { code, message } = asFault(thrown);
      if (code === "JOURNAL_CORRUPT") this.#options.damage.note(run, message);
      throw thrown;
    }
  }
}
