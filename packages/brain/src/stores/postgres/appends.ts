import { asFault, STORE_LIMITS } from "@vidro/core";
import type { Entry, Lease, NewRecord } from "@vidro/core";
import { linkHash } from "../hash-chain.ts";
import type { ChainLink } from "../hash-chain.ts";
import { joinParts, packEvent } from "../parts.ts";
import type { PackedBody } from "../parts.ts";
import { advance, leaseLost } from "../run-rules.ts";
import { besideValues, makeRecords } from "./beside.ts";
import type { KindCount } from "./beside.ts";
import type { PostgresConnection, SqlValue, Statement } from "./connection.ts";
import { PostgresRows } from "./rows.ts";
import type { RunPlace } from "./rows.ts";
import { countSpending, NOTHING_SPENT, spendingShard, spendingValues } from "./spending.ts";

/** The end of a run's journal, where the next append goes. */
type PostgresTip = Pick<RunPlace, "number" | "epoch" | "status" | "seq" | "hash"> & {
  /** False once the lease was released. */
  readonly isHeld: boolean;
};

/** A link with how its body is stored. */
type StoredLink = ChainLink & PackedBody;

/** An append that waits for its commit. */
interface AppendCall {
  readonly lease: Lease;
  readonly entries: readonly Entry[];
  readonly bodies: readonly PackedBody[];
  readonly beside: readonly NewRecord[];
  readonly resolve: () => void;
  readonly reject: (thrown: unknown) => void;
}

/** The entries that one statement writes to one run. */
interface RunDraft {
  readonly run: string;
  readonly from: PostgresTip;
  tip: PostgresTip;
  readonly links: StoredLink[];
  readonly fresh: Entry[];
  readonly beside: NewRecord[];
  readonly calls: AppendCall[];
}

const MOVE = `WITH draft AS (
      SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::bigint[], $7::text[])
        AS draft (number, epoch, seq_before, seq, status, at, hash)),
    moved AS (
      UPDATE run SET seq = draft.seq, status = draft.status, updated = draft.at, hash = draft.hash FROM draft
      WHERE run.number = draft.number AND run.epoch = draft.epoch AND run.seq = draft.seq_before AND holder IS NOT NULL
      RETURNING run.number, run.owner, run.thread),
    written AS (
      INSERT INTO entry (run, seq, at, body, hash) SELECT link.* FROM
        unnest($8::bigint[], $9::bigint[], $10::bigint[], $11::text[], $12::text[]) AS link (run, seq, at, body, hash)
        JOIN moved ON moved.number = link.run)`;
// Parts of a run that was not moved are written, too, and belong to no run.
const PARTS = `part_written AS (
      INSERT INTO part (hash, body) SELECT * FROM unnest($13::text[], $14::text[]) ON CONFLICT DO NOTHING),
    part_used AS (
      INSERT INTO part_use (run, hash) SELECT part.* FROM unnest($15::bigint[], $16::text[]) AS part (run, hash)
        JOIN moved ON moved.number = part.run ON CONFLICT DO NOTHING)`;
const MOVED = { from: "moved ON moved.number = used.run", owner: "moved.owner", thread: "moved.thread" };

/** The statement of an append: with parts, and with what is to be counted. */
const APPENDS = {
  plain: statement("append", [MOVE]),
  parts: statement("append-parts", [MOVE, PARTS]),
  spent: statement("append-spent", [MOVE, countSpending(13, MOVED)]),
  partsSpent: statement("append-parts-spent", [MOVE, PARTS, countSpending(17, MOVED)]),
} as const;
const RECORDS = makeRecords(17 + NOTHING_SPENT.length, {
  type: "bigint",
  from: "moved ON moved.number = made_record.run",
});
/** The same with records beside the entries. */
const APPEND_BESIDE = statement(
  "append-beside",
  [MOVE, PARTS, countSpending(17, MOVED), RECORDS],
  `SELECT number, NULL AS kind, NULL::bigint AS changes FROM moved UNION ALL SELECT NULL, kind, changes FROM counted`,
);

function statement(name: string, pieces: readonly string[], result = "SELECT number FROM moved"): Statement {
  return { name, text: `${pieces.join(",\n    ")}\n    ${result}` };
}

/** Dependencies of the appends. */
interface PostgresAppendsOptions {
  readonly connection: PostgresConnection;
  /** Called for each run before its callers are. */
  readonly committed: (run: string, seq: number) => void;
  /** Called for each kind whose records were changed. */
  readonly recorded: (kind: string, changes: number) => void;
  /** The clock of records. */
  readonly now: () => number;
}

/**
 * Appends of many runs in one statement, which is one round trip and one commit: it moves each run whose lease and last
 * entry are as expected, and writes the entries of those. While it is under way, the next ones gather. A run that was
 * not moved is looked at by itself: its lease is lost, its entries conflict, or an earlier attempt has written them.
 */
export class PostgresAppends {
  readonly #connection: PostgresConnection;
  readonly #options: PostgresAppendsOptions;
  readonly #shard = spendingShard();
  readonly #tips = new Map<string, PostgresTip>();
  /** The end of the last pending append of each run. */
  readonly #last = new Map<string, Promise<void>>();
  #waiting: AppendCall[] = [];
  #working: Promise<void> | undefined;

  constructor(options: PostgresAppendsOptions) {
    this.#connection = options.connection;
    this.#options = options;
  }

  /** Appends; settles when it is committed or refused. */
  add(lease: Lease, entries: readonly Entry[], beside: readonly NewRecord[]): Promise<void> {
    const bodies = entries.map(({ event }) => packEvent(event));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ lease, entries, bodies, beside, resolve, reject });
    this.#working ??= this.#work();
    const { run } = lease;
    const ended = (): void => void (this.#last.get(run) === settled && this.#last.delete(run));
    const settled: Promise<void> = promise.then(ended, ended);
    this.#last.set(run, settled);
    return promise;
  }

  /** Resolves when all appends to a run that were called before have ended. */
  async waitForAppends(run: string): Promise<void> {
    await this.#last.get(run);
  }

  /** The last `seq` of a run, as far as this process knows it. */
  lastSeq(run: string): number | undefined {
    return this.#tips.get(run)?.seq;
  }

  /** Remembers the end of a run whose lease this process has just got. */
  remember(run: string, tip: PostgresTip): void {
    const [oldest] = this.#tips.size >= STORE_LIMITS.heads ? this.#tips.keys() : [];
    if (oldest !== undefined) this.#tips.delete(oldest);
    this.#tips.set(run, tip);
  }

  /** Forgets the end of a run. */
  forget(run: string): void {
    this.#tips.delete(run);
  }

  /** Resolves when nothing waits any more. */
  async settle(): Promise<void> {
    await this.#working;
  }

  async #work(): Promise<void> {
    // All calls of this turn of the event loop share one statement.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) await this.#commit(this.#waiting.splice(0, STORE_LIMITS.batch));
    this.#working = undefined;
  }

  /** Commits the calls together, then those by themselves that could not be; never rejects. */
  async #commit(calls: readonly AppendCall[]): Promise<void> {
    let alone: readonly AppendCall[];
    try {
      alone = await this.#together(calls);
    } catch (thrown) {
      if (calls.length === 1) return calls[0]?.reject(asFault(thrown));
      alone = calls;
    }
    for (const call of alone) await this.#alone(call).then(call.resolve, call.reject);
  }

  /** Writes what can be written with what is known of the runs; returns the other calls, in their order. */
  async #together(calls: readonly AppendCall[]): Promise<readonly AppendCall[]> {
    const unknown = new Set(calls.map(({ lease }) => lease.run).filter((run) => !this.#tips.has(run)));
    const places = await new PostgresRows(this.#connection).places([...unknown]);
    for (const [run, place] of places) this.remember(run, tipOf(place));
    const drafts = new Map<string, RunDraft>();
    const others = new Set<string>();
    for (const call of calls) {
      const { run } = call.lease;
      const tip = drafts.get(run)?.tip ?? this.#tips.get(run);
      const links = others.has(run) || tip === undefined ? undefined : linksFor(call, tip);
      if (links === undefined || tip === undefined) others.add(run);
      else extend(drafts, call, { tip, ...links });
    }
    const moved = await this.#connection.write(() => this.#write([...drafts.values()]));
    const written = new Set<AppendCall>();
    for (const draft of drafts.values()) {
      if (!moved.has(draft.from.number)) {
        this.#tips.delete(draft.run);
        continue;
      }
      this.#moveTip(draft);
      for (const call of draft.calls) {
        written.add(call);
        call.resolve();
      }
    }
    return calls.filter((call) => !written.has(call));
  }

  /** One call with what the store says of its run now. */
  #alone(call: AppendCall): Promise<void> {
    const { lease, entries } = call;
    return this.#connection.write(async () => {
      for (;;) {
        const rows = new PostgresRows(this.#connection, true);
        const place = (await rows.places([lease.run])).get(lease.run);
        if (place === undefined || place.epoch !== lease.epoch) throw leaseLost(lease.run);
        const tip = tipOf(place);
        const known = await writtenBefore(rows, call, tip.seq);
        if (known === entries.length) return;
        if (!tip.isHeld) throw leaseLost(lease.run);
        const fresh = { ...call, entries: entries.slice(known), bodies: call.bodies.slice(known) };
        const status = advance(lease.run, tip, fresh.entries);
        const drafts = new Map<string, RunDraft>();
        extend(drafts, fresh, { tip, status, links: chainEntries(fresh, tip) });
        for (const draft of drafts.values())
          if ((await this.#write([draft])).has(tip.number)) return this.#moveTip(draft);
      }
    });
  }

  #moveTip({ run, tip }: RunDraft): void {
    this.remember(run, tip);
    this.#options.committed(run, tip.seq);
  }

  /** The numbers of the runs that were moved. */
  async #write(drafts: readonly RunDraft[]): Promise<ReadonlySet<number>> {
    if (drafts.length === 0) return new Set();
    const links = drafts.flatMap((draft) => draft.links.map((link) => ({ run: draft.from.number, ...link })));
    const parts = joinParts(links);
    const uses = links.flatMap(({ run, parts: used }) => [...used.keys()].map((key) => ({ run, key })));
    const values = [
      drafts.map(({ from }) => from.number),
      drafts.map(({ from }) => from.epoch),
      drafts.map(({ from }) => from.seq),
      drafts.map(({ tip }) => tip.seq),
      drafts.map(({ tip }) => tip.status),
      drafts.map((draft) => draft.links.at(-1)?.at ?? 0),
      drafts.map(({ tip }) => tip.hash),
      links.map(({ run }) => run),
      links.map(({ seq }) => seq),
      links.map(({ at }) => at),
      links.map(({ stored }) => stored),
      links.map(({ hash }) => hash),
    ];
    const partValues = [
      parts.map(([key]) => key),
      parts.map(([, text]) => text),
      uses.map(({ run }) => run),
      uses.map(({ key }) => key),
    ];
    const spent = spendingValues(
      this.#shard,
      drafts.map(({ from, fresh }) => ({ number: from.number, entries: fresh })),
    );
    const beside = drafts.flatMap((draft) => draft.beside.map((record) => ({ run: draft.from.number, record })));
    if (beside.length > 0)
      return this.#writeBeside([
        ...values,
        ...partValues,
        ...(spent ?? NOTHING_SPENT),
        ...besideValues(this.#options.now(), beside),
      ]);
    const kind =
      parts.length === 0 ? (spent === undefined ? "plain" : "spent") : spent === undefined ? "parts" : "partsSpent";
    const rows = await this.#connection.query<{ number: number }>(APPENDS[kind], [
      ...values,
      ...(parts.length === 0 ? [] : partValues),
      ...(spent ?? []),
    ]);
    return new Set(rows.map(({ number }) => number));
  }

  async #writeBeside(values: readonly SqlValue[]): Promise<ReadonlySet<number>> {
    const rows = await this.#connection.query<{ number: number | null } & KindCount>(APPEND_BESIDE, values);
    for (const { number, kind, changes } of rows) if (number === null) this.#options.recorded(kind, changes);
    return new Set(rows.flatMap(({ number }) => number ?? []));
  }
}

/** The end of a run from its row. */
export function tipOf({ number, epoch, holder, status, seq, hash }: RunPlace): PostgresTip {
  return { number, epoch, status, seq, hash, isHeld: holder !== null };
}

/** Entries chained behind a tip. */
export function chainEntries(
  { lease, entries, bodies }: Pick<AppendCall, "entries" | "bodies"> & { readonly lease: Pick<Lease, "run"> },
  tip: { readonly hash: string },
): StoredLink[] {
  let { hash } = tip;
  return bodies.map((body, index) => {
    const link = { seq: entries[index]?.seq ?? 0, at: entries[index]?.at ?? 0, ...body };
    hash = linkHash(lease.run, hash, link);
    return { ...link, hash };
  });
}

/** The links and status of a call that follows a tip as it is known here; undefined when it does not. */
function linksFor(
  call: AppendCall,
  tip: PostgresTip,
): (Pick<PostgresTip, "status"> & { links: StoredLink[] }) | undefined {
  const { lease, entries } = call;
  if (tip.epoch !== lease.epoch || !tip.isHeld || entries[0]?.seq !== tip.seq + 1) return undefined;
  try {
    return { status: advance(lease.run, tip, entries), links: chainEntries(call, tip) };
  } catch {
    // Refused by what is known here, which may be old: the store itself is asked.
    return undefined;
  }
}

function extend(
  drafts: Map<string, RunDraft>,
  call: AppendCall,
  {
    tip,
    status,
    links,
  }: Pick<PostgresTip, "status"> & { readonly tip: PostgresTip; readonly links: readonly StoredLink[] },
): void {
  const { run } = call.lease;
  const draft = drafts.get(run) ?? { run, from: tip, tip, links: [], fresh: [], beside: [], calls: [] };
  drafts.set(run, draft);
  const last = links.at(-1);
  draft.tip = { ...tip, status, seq: last?.seq ?? tip.seq, hash: last?.hash ?? tip.hash };
  draft.links.push(...links);
  draft.fresh.push(...call.entries);
  draft.beside.push(...call.beside);
  draft.calls.push(call);
}

/** Number of entries that an earlier attempt has written, byte for byte. */
async function writtenBefore(rows: PostgresRows, { lease, entries, bodies }: AppendCall, seq: number): Promise<number> {
  const [first] = entries;
  if (first === undefined || first.seq > seq) return 0;
  const known = Math.min(entries.length, seq - first.seq + 1);
  return (await isWritten(rows, lease.run, { entries: entries.slice(0, known), bodies })) ? known : 0;
}

/** Whether a run has these entries, byte for byte. */
export async function isWritten(
  rows: PostgresRows,
  run: string,
  { entries, bodies }: Pick<AppendCall, "entries" | "bodies">,
): Promise<boolean> {
  const links = await rows.links(run, entries[0]?.seq ?? 0, entries.length);
  return entries.every(({ seq, at }, index) => {
    const link = links[index];
    return link?.seq === seq && link.at === at && link.body === bodies[index]?.body;
  });
}
