import { asFault, Fault, FOLLOW_LIMITS, POSTGRES_LIMITS, RUN_LIMITS } from "@vidro/core";
import type { Entry, Journal, Lease, LeaseHolder, NewRecord, NewRun, RunHead, RunStatus } from "@vidro/core";
import type { Damage } from "../damage.ts";
import { chainCheck, ROOT } from "../hash-chain.ts";
import type { ChainLink } from "../hash-chain.ts";
import { mayLive } from "../lease-holder.ts";
import { leaseLost, noSuchRun, refuseUnlessFree, statusAfter } from "../run-rules.ts";
import type { RunFilter } from "../run-rules.ts";
import { parseEvent, whyUnknown } from "../stored-event.ts";
import type { ChainReport } from "../stored-event.ts";
import { PostgresAppends, tipOf } from "./appends.ts";
import { Batches } from "./batches.ts";
import type { PostgresConnection } from "./connection.ts";
import { PostgresCreates } from "./creates.ts";
import { PostgresRows, SERVER_NOW, termOf } from "./rows.ts";
import type { LinksPlace, RunPlace } from "./rows.ts";
import { Sequences } from "./sequences.ts";
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
const RELEASE = {
  name: "release",
  text: `UPDATE run SET holder = NULL, until = 0 FROM unnest($1::text[], $2::bigint[]) AS given (id, epoch)
    WHERE run.id = given.id AND run.epoch = given.epoch`,
};

/** The journal in a database that it shares with other parts. */
export function postgresJournal(options: PostgresJournalOptions): Journal {
  return new PostgresJournal(options);
}

class PostgresJournal implements Journal {
  readonly #options: PostgresJournalOptions;
  readonly #connection: PostgresConnection;
  readonly #rows: PostgresRows;
  readonly #appends: PostgresAppends;
  readonly #creates: PostgresCreates;
  readonly #sequences = new Sequences();
  readonly #releases = new Batches<Lease, void>({ work: (leases) => this.#release(leases), atOnce: 1 });
  readonly #ends = new Batches<LinksPlace, readonly ChainLink[]>({
    work: (places) => this.#rows.linksOf(places),
    atOnce: Infinity,
  });
  readonly #heads = new Batches<string, RunHead | undefined>({
    work: (runs) => this.#rows.heads(runs),
    atOnce: Infinity,
  });

  constructor(options: PostgresJournalOptions) {
    this.#options = options;
    this.#connection = options.connection;
    this.#rows = new PostgresRows(options.connection);
    const { connection } = options;
    const changed = (run: string, seq: number): void => options.wakes.tellChange("run", run, seq);
    const recorded = (kind: string, changes: number): void => options.wakes.tellChange("record", kind, changes);
    const clock = options.now ?? Date.now;
    this.#appends = new PostgresAppends({ connection, committed: changed, recorded, now: clock });
    const made = { made: changed, recorded, recordsNow: clock };
    this.#creates = new PostgresCreates({ connection, appends: this.#appends, now: () => this.#now(), ...made });
  }

  create(run: NewRun, entries: readonly Entry[], holder: LeaseHolder): Promise<{ head: RunHead; lease?: Lease }> {
    const order = run.key === undefined ? run.id : JSON.stringify([run.owner, run.key]);
    return this.#sequences.do(order, () => this.#creates.create({ run, entries, holder }));
  }

  append(lease: Lease, entries: readonly Entry[], beside: readonly NewRecord[] = []): Promise<void> {
    return this.#appends.add(lease, entries, beside);
  }

  async read(run: string, after: number, limit: number): Promise<readonly Entry[]> {
    return this.#ofRun(run, async () => {
      // The entry before the first one is read too: the check begins with its hash.
      const place = { run, seq: after, limit: limit + 1 };
      const lastSeq = this.#appends.lastSeq(run);
      // Those who follow a run are at its end: what they read together is short.
      const isEnd = lastSeq !== undefined && lastSeq - after <= POSTGRES_LIMITS.endEntries;
      const [...links] = isEnd ? await this.#ends.ask(place) : await this.#rows.links(run, after, place.limit);
      const before = links[0]?.seq === after ? links.shift() : undefined;
      const isEmpty = before === undefined && links.length === 0;
      if (isEmpty && lastSeq === undefined && (await this.head(run)) === undefined) throw noSuchRun(run);
      const check = chainCheck(run, before ?? { seq: Math.max(after, 1) - 1, hash: ROOT.hash });
      return links.slice(0, limit).map((link) => {
        const reason = check(link);
        if (reason !== undefined) throw new Fault("JOURNAL_CORRUPT", `The journal of run ${run} is broken: ${reason}.`);
        return { seq: link.seq, at: link.at, event: parseEvent(run, link) };
      });
    });
  }

  head(run: string): Promise<RunHead | undefined> {
    return this.#heads.ask(run);
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
      await this.#releases.ask(lease);
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
    await Promise.all(
      [this.#appends, this.#creates, this.#releases, this.#ends, this.#heads].map((calls) => calls.settle()),
    );
    await this.#options.wakes.close();
    await this.#connection.close();
  }

  /** The clock that was given; null for the server's. */
  #now(): number | null {
    return this.#options.now?.() ?? null;
  }

  async #release(leases: readonly Lease[]): Promise<readonly void[]> {
    const values = [leases.map(({ run }) => run), leases.map(({ epoch }) => epoch)];
    await this.#connection.write(() => this.#connection.query(RELEASE, values));
    return leases.map(() => undefined);
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
