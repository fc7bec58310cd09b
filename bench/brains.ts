import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as rest } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Entry } from "@vidro/core";
import { openBus } from "../packages/brain/src/bus/buses.ts";
import { thisHolder } from "../packages/brain/src/stores/lease-holder.ts";
import { postgresStore } from "../packages/brain/src/stores/postgres.ts";
import { startPostgres } from "../tests/support/postgres-server.ts";
import type { PostgresServer } from "../tests/support/postgres-server.ts";
import { startRedis } from "../tests/support/redis-server.ts";
import { POSTGRES, REDIS } from "./contest/needs.ts";
import type { Figure, Goal, Table } from "./contest/report.ts";
import { figure, medianMs, spreadOf } from "./contest/spread.ts";

const BRAIN = fileURLToPath(new URL("contestants/brain-on-postgres.ts", import.meta.url));
const STEPS_MS = 4000;
const ROUNDS = 3;
const OPEN_RUNS = 1000;
const SENT = 1000;
const FOLLOWERS = 20;
const MANY = 1_000_000;
const FEW = 1000;

/** What several brains on one PostgreSQL carry. */
export const brains: Figure = {
  name: "brains",
  title: "Several brains on one PostgreSQL",
  method: `PostgreSQL with its own defaults and Redis on this machine, each brain a process of its own, all on the same cores: what is gained by a second brain here is less than with machines of their own.
*Steps*: each brain drives 32 runs at once for ${STEPS_MS / 1000} s, as in the durable loop. *Delivery*: entries are appended at one brain, ${SENT} of them at 250 a second, and read by ${FOLLOWERS} followers at another one that Redis wakes. *Recovery*: a brain with ${figure(OPEN_RUNS)} open runs is killed, and two others take them up; from the kill to the last. *Size*: the same calls with ${figure(FEW)} and with ${figure(MANY)} runs in the store.`,
  needs: [POSTGRES, REDIS],
  async measure() {
    const server = await startPostgres([]);
    try {
      const steps = await measureSteps(server);
      const delivery = await measureDelivery(server);
      const recovered = await measureRecovery(server);
      const { table, goals } = await measureSize(server);
      const [one = 0, two = 0, three = 0] = steps;
      const at = (share: number): number => delivery[Math.floor((delivery.length - 1) * share)] ?? NaN;
      return {
        tables: [
          [
            ["", "1 brain", "2 brains", "3 brains"],
            ["steps a second", figure(one), figure(two), figure(three)],
          ],
          [
            ["across brains", "median", "p99", "most"],
            ["append at one → read by a follower at another, ms", ...[0.5, 0.99, 1].map((share) => figure(at(share)))],
            [`${figure(OPEN_RUNS)} runs of a killed brain taken up by two, ms`, figure(recovered), "–", "–"],
          ],
          table,
        ],
        goals: [...goals, within("runs of a dead brain are taken up within 30 s, ms", recovered, 30_000)],
      };
    } finally {
      await server.close();
    }
  },
};

function within(goal: string, found: number, most: number): Goal {
  return { goal: `${goal} ≤ ${figure(most)}`, reached: figure(found), met: found <= most };
}

const CHILDREN = new Set<ChildProcess>();
process.once("exit", () => CHILDREN.forEach((child) => child.kill("SIGKILL")));

/** A brain as a process; its lines are waited for one by one. */
class Brain {
  readonly child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(...words: readonly string[]) {
    const flags = ["--conditions=vidro-source", "--disable-warning=ExperimentalWarning"];
    const child = spawn(process.execPath, [...flags, BRAIN, ...words], { stdio: ["pipe", "pipe", "inherit"] });
    CHILDREN.add(child);
    child.once("exit", () => CHILDREN.delete(child));
    this.child = child;
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  async line(): Promise<string> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error("A brain ended.");
    return value;
  }

  async kill(): Promise<void> {
    const gone = once(this.child, "exit");
    this.child.kill("SIGKILL");
    await gone;
  }
}

async function measureSteps(server: PostgresServer): Promise<readonly number[]> {
  const perSecond: number[][] = [[], [], []];
  for (let round = 0; round < ROUNDS; round += 1)
    for (const count of [1, 2, 3]) {
      const url = server.storeUrl("steps");
      const all = Array.from({ length: count }, () => new Brain("steps", url, String(STEPS_MS)));
      await Promise.all(all.map((brain) => brain.line()));
      for (const { child } of all) child.stdin?.write("go\n");
      const steps = await Promise.all(all.map(async (brain) => Number(await brain.line())));
      perSecond[count - 1]?.push(steps.reduce((sum, one) => sum + one, 0) / (STEPS_MS / 1000));
    }
  return perSecond.map((rounds) => spreadOf(rounds).median);
}

/** Milliseconds from before each append to each follower that has read it, in order. */
async function measureDelivery(server: PostgresServer): Promise<readonly number[]> {
  const redis = await startRedis();
  const url = server.storeUrl("delivery");
  const buses = await Promise.all([openBus(redis.url), openBus(redis.url)]);
  const [near, far] = await Promise.all(buses.map((bus) => postgresStore(url, { bus })));
  if (near === undefined || far === undefined) throw new Error("no store");
  const note = (seq: number): Entry => ({ seq, at: Date.now(), event: { type: "note.observed", note: `note ${seq}` } });
  const { lease } = await near.journal.create({ id: "run", owner: "me", thread: "t" }, [note(1)], thisHolder());
  if (lease === undefined) throw new Error("no lease");
  const sentAt: number[] = [];
  const took: number[] = [];
  const done = Promise.withResolvers<void>();
  const stops = Array.from({ length: FOLLOWERS }, () => {
    let cursor = 1;
    let reading: Promise<void> | undefined;
    let again = false;
    const read = async (): Promise<void> => {
      while (again) {
        again = false;
        for (const { seq } of await far.journal.read("run", cursor, 256)) {
          cursor = seq;
          took.push(performance.now() - (sentAt[seq] ?? NaN));
        }
      }
      if (took.length >= SENT * FOLLOWERS) done.resolve();
    };
    return far.journal.watch("run", () => {
      again = true;
      reading ??= read().finally(() => (reading = undefined));
    });
  });
  await rest(500);
  for (let seq = 2; seq < SENT + 2; seq += 1) {
    sentAt[seq] = performance.now();
    void near.journal.append(lease, [note(seq)]);
    await rest(4);
  }
  await done.promise;
  for (const stop of stops) stop();
  await Promise.all([near.close(), far.close(), ...buses.map((bus) => bus.close())]);
  await redis.close();
  return took.sort((one, other) => one - other);
}

async function measureRecovery(server: PostgresServer): Promise<number> {
  const url = server.storeUrl("recovery");
  const killed = new Brain("open", url, String(OPEN_RUNS));
  await killed.line();
  const survivors = [new Brain("sweep", url), new Brain("sweep", url)];
  await Promise.all(survivors.map((brain) => brain.line()));
  await killed.kill();
  const since = performance.now();
  while (Number((await server.query("SELECT count(*) AS n FROM recovery.run WHERE epoch > 1"))[0]?.["n"]) < OPEN_RUNS)
    await rest(50);
  const took = performance.now() - since;
  for (const brain of survivors) await brain.kill();
  return took;
}

/** The same calls on a small and on a large store. */
async function measureSize(server: PostgresServer): Promise<{ table: Table; goals: readonly Goal[] }> {
  const calls = ["boot", "start a run", "newest 50", "50 of an owner", "50 from the middle on", "open runs"];
  const took: (readonly number[])[] = [];
  for (const count of [FEW, MANY]) {
    const schema = `size_${count}`;
    await (await postgresStore(server.storeUrl(schema))).close();
    await server.query(fillSql(schema, count));
    took.push(await measureCalls(server.storeUrl(schema), count));
  }
  const [few = [], many = []] = took;
  const ms = (value = NaN): string => figure(value);
  const ratio = (index: number): number => (many[index] ?? NaN) / (few[index] ?? NaN);
  return {
    table: [
      ["ms", `${figure(FEW)} runs`, `${figure(MANY)} runs`, "ratio"],
      ...calls.map((name, index) => [name, ms(few[index]), ms(many[index]), `${figure(ratio(index))} ×`]),
    ],
    goals: calls.map((name, index) => within(`${name}: a million ÷ a thousand runs`, ratio(index), 2)),
  };
}

async function measureCalls(url: string, count: number): Promise<readonly number[]> {
  const boot = await medianMs(5, async () => (await postgresStore(url)).close());
  const store = await postgresStore(url);
  const { journal } = store;
  let made = 0;
  const first = (): Entry => ({ seq: 1, at: Date.now(), event: { type: "note.observed", note: "a task" } });
  const start = await medianMs(100, () => {
    made += 1;
    return journal.create({ id: `new_${made}`, owner: "me", thread: "t" }, [first()], thisHolder());
  });
  const lists = [
    { limit: 50 },
    { limit: 50, owner: "owner_7" },
    { limit: 50, after: `run_${count / 2}` },
    { limit: 50, open: true },
  ];
  const listed: number[] = [];
  for (const filter of lists) listed.push(await medianMs(50, () => journal.list(filter)));
  await store.close();
  return [boot, start, ...listed];
}

/** Ended runs of a hundred owners, each with one entry. */
function fillSql(schema: string, count: number): string {
  const hash = "0".repeat(64);
  return `SET synchronous_commit = off;
    INSERT INTO ${schema}.run (id, owner, thread, task, status, started, updated, seq, hash, epoch, until)
    SELECT 'run_' || n, 'owner_' || n % 100, 'thread_' || n, '"a task"', 'finished', n, n, 1, '${hash}', 1, 0
    FROM generate_series(1, ${count}) AS n;
    INSERT INTO ${schema}.entry SELECT number, 1, number, '{"type":"note.observed","note":"x"}', '${hash}' FROM ${schema}.run;
    ANALYZE ${schema}.run; ANALYZE ${schema}.entry`;
}
