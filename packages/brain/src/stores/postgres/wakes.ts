import { POSTGRES_LIMITS } from "@vidro/core";
import type { Bus, Json } from "@vidro/core";
import type { Client, Notification } from "pg";
import { Watchers } from "../watchers.ts";
import type { PostgresConnection } from "./connection.ts";

/** Things that can be watched: a run by its id, and records by their kind. */
type WatchedTable = "run" | "record";

/** A change: which table, which run or kind, and its counter after it. */
type Change = readonly [WatchedTable, string, number];

/** Dependencies of the wakes. */
interface PostgresWakesOptions {
  readonly connection: PostgresConnection;
  /** Makes a connection for LISTEN; it is not connected yet. */
  readonly client: () => Client;
  readonly channel: string;
  /** Carries notifications in the place of NOTIFY while it is up. */
  readonly bus: Bus | undefined;
}

const COUNTS = {
  run: { name: "run-counts", text: "SELECT id AS thing, seq AS count FROM run WHERE id = ANY($1)" },
  record: {
    name: "kind-counts",
    text: "SELECT kind AS thing, changes AS count FROM record_change WHERE kind = ANY($1)",
  },
} as const;

const NOTIFY = {
  name: "notify",
  text: "SELECT count(pg_notify($1, payload)::text) FROM unnest($2::text[]) AS payload",
};

/**
 * Tells watchers of changes: those of this process at once, those of other brains by the bus or by NOTIFY. A notification is a hint
 * that is sent after the commit: one that is lost is made up for by reading the counters of what is watched, at
 * intervals and whenever the connection was lost.
 */
export class PostgresWakes {
  readonly #options: PostgresWakesOptions;
  readonly #watchers = { run: new Watchers(), record: new Watchers() };
  readonly #untold = new Map<string, Change>();
  #client: Client | undefined;
  #telling: Promise<void> | undefined;
  #connecting: Promise<void> | undefined;
  #looking: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #stopHearing: (() => void) | undefined;

  constructor(options: PostgresWakesOptions) {
    this.#options = options;
  }

  get #topic(): string {
    return `wakes:${this.#options.channel}`;
  }

  /** Begins to listen; a server that is away is tried again at each interval. */
  start(): this {
    this.#timer = setInterval(() => this.#tend(), POSTGRES_LIMITS.lookMs).unref();
    this.#stopHearing = this.#options.bus?.subscribe(this.#topic, (text) => this.#take(text));
    this.#tend();
    return this;
  }

  /** Watches a run or a kind whose counter is `count`, if that is known. Returns a function that stops it. */
  watch(
    table: WatchedTable,
    thing: string,
    { count = -1, wake }: { count: number | undefined; wake: () => void },
  ): () => void {
    return this.#watchers[table].add(thing, count, wake);
  }

  /** Tells watchers here at once and other brains soon. */
  tellChange(table: WatchedTable, thing: string, count: number): void {
    this.#watchers[table].tell(thing, count);
    if (this.#untold.size < POSTGRES_LIMITS.untold) this.#untold.set(`${table} ${thing}`, [table, thing, count]);
    this.#telling ??= this.#tell();
  }

  /** Stops listening. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#stopHearing?.();
    await this.#telling;
    await this.#connecting;
    await this.#looking;
    await this.#client?.end().catch(() => undefined);
    for (const watchers of Object.values(this.#watchers)) watchers.clear();
  }

  /** Connects again where that is needed, and reads the counters. */
  #tend(): void {
    if (this.#isClosed) return;
    if (this.#client === undefined) this.#connecting ??= this.#connect().finally(() => (this.#connecting = undefined));
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
  }

  async #connect(): Promise<void> {
    const client = this.#options.client();
    const lost = (): void => {
      if (this.#client === client) this.#client = undefined;
    };
    client.on("error", lost).on("end", lost);
    client.on("notification", (heard) => this.#hear(heard, client));
    try {
      await client.connect();
      await client.query(`LISTEN ${this.#options.channel}`);
      this.#client = client;
    } catch {
      await client.end().catch(() => undefined);
    }
  }

  /** Tells the other brains of all changes; ends with the last look at them, so that a later one begins anew. */
  async #tell(): Promise<void> {
    try {
      // Changes of several turns of the event loop share one notification.
      for (; this.#untold.size > 0;) {
        await new Promise((resolve) => setTimeout(resolve, POSTGRES_LIMITS.tellMs).unref());
        const { bus } = this.#options;
        if (this.#client === undefined) await this.#connecting;
        const client = this.#client;
        const changes = [...this.#untold.values()];
        this.#untold.clear();
        if (bus?.condition().isUp === true) {
          bus.publish(this.#topic, JSON.stringify(changes));
          continue;
        }
        if (client === undefined) return;
        try {
          await client.query({ ...NOTIFY, values: [this.#options.channel, payloadsOf(changes)] });
        } catch {
          // The other brains read the counters.
        }
      }
    } finally {
      this.#telling = undefined;
    }
  }

  #hear({ processId, payload }: Notification, client: Client): void {
    if (processId !== Reflect.get(client, "processID")) this.#take(payload ?? "");
  }

  #take(text: string): void {
    for (const [table, thing, count] of changesIn(text)) {
      if ((table === "run" || table === "record") && typeof thing === "string" && typeof count === "number")
        this.#watchers[table].tell(thing, count);
    }
  }

  /** Reads the counters of everything that is watched; never rejects. */
  async #look(): Promise<void> {
    for (const table of ["run", "record"] as const) {
      const things = this.#watchers[table].things();
      if (things.length === 0) continue;
      try {
        const rows = await this.#options.connection.query<{ thing: string; count: number }>(COUNTS[table], [things]);
        for (const { thing, count } of rows) this.#watchers[table].tell(thing, count);
      } catch {
        // The next turn tries again; readers get the fault themselves.
      }
    }
  }
}

/** The changes in a notification; none when another program wrote to the channel. */
function changesIn(payload: string): readonly (readonly Json[])[] {
  try {
    const changes: Json = JSON.parse(payload);
    return Array.isArray(changes) ? changes.filter((change) => Array.isArray(change)) : [];
  } catch {
    return [];
  }
}

/** Changes as texts that a notification can hold. */
function payloadsOf(changes: readonly Change[]): readonly string[] {
  const payloads: string[] = [];
  let part: string[] = [];
  let chars = 0;
  for (const text of changes.map((change) => JSON.stringify(change))) {
    if (chars + text.length > POSTGRES_LIMITS.notifyChars && part.length > 0) {
      payloads.push(`[${part.join(",")}]`);
      part = [];
      chars = 0;
    }
    part.push(text);
    chars += text.length + 1;
  }
  return part.length === 0 ? payloads : [...payloads, `[${part.join(",")}]`];
}
