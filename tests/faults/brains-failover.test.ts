import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { BrainCluster } from "../support/brain-cluster.ts";
import { underLoad } from "../support/cluster-load.ts";
import { until } from "../support/daemon-process.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { startRedis } from "../support/redis-server.ts";
import { startReplyCutter } from "../support/reply-cutter.ts";
import { startSwitchableProxy } from "../support/switchable-proxy.ts";

/*
 * What is behind two brains fails under load, and one of the brains stands still for a minute. Leases are as long as
 * they are by themselves.
 */

const RUNS = 20;
const SCHEMA = "failing";
const STOPPED_MS = 60_000;

const [server, redis] = await Promise.all([startPostgres(), startRedis()]);
const [storeWay, busWay] = await Promise.all([startReplyCutter(server.port), startSwitchableProxy(redis.url)]);
const cluster = await BrainCluster.up(2, {
  VIDRO_STORE: server.storeUrl(SCHEMA).replace(`:${server.port}/`, `:${storeWay.port}/`),
  VIDRO_BUS: busWay.url.replace("http:", "redis:"),
});
after(async () => {
  await cluster[Symbol.asyncDispose]();
  await Promise.all([storeWay[Symbol.asyncDispose](), busWay[Symbol.asyncDispose]()]);
  await Promise.all([server.close(), redis.close()]);
});
for (const name of ["web-1", "web-2", "web-3"]) await cluster.join(name);

const load = { cluster, server, schema: SCHEMA, runs: RUNS };

/** Notes the epochs of the brains' sessions that each hand has on record, until it is stopped; they must never go back. */
function watchEpochs(): { stop(): number } {
  const highest = new Map<string, number>();
  const look = (): void => {
    for (const { name, state } of cluster.hands) {
      const { epoch } = JSON.parse(readFileSync(join(state, "epoch.json"), "utf8")) as { epoch: number };
      assert.ok(epoch >= (highest.get(name) ?? 0), `${name} went from session ${highest.get(name)} back to ${epoch}`);
      highest.set(name, epoch);
    }
  };
  look();
  const before = Math.max(...highest.values());
  let failure: unknown;
  const timer = setInterval(() => {
    try {
      look();
    } catch (thrown) {
      failure ??= thrown;
    }
  }, 20);
  return {
    stop() {
      clearInterval(timer);
      if (failure !== undefined) throw failure as Error;
      look();
      return Math.max(...highest.values()) - before;
    },
  };
}

test("F14 F15 Redis is emptied, then killed and started again twice under load: every run ends, nothing is lost or done twice", async () => {
  const trouble = async (): Promise<void> => {
    await redis.command("FLUSHALL");
    for (let flap = 0; flap < 2; flap += 1) {
      await redis.kill();
      await redis.start();
      await cluster.settle();
    }
  };
  await underLoad({ ...load, name: "emptied", trouble });
});

test("F15 Redis fails over to a replica that lacks acknowledged writes: no event is lost, epochs never go back at the hands", async () => {
  const replication = await startSwitchableProxy(redis.url);
  const replica = await startRedis(["--replicaof", "127.0.0.1", new URL(replication.url).port]);
  await until("the replica follows", async () => /master_link_status:up/u.test(String(await replica.command("INFO"))));
  const epochs = watchEpochs();
  let lost: readonly string[] = [];
  const trouble = async (): Promise<void> => {
    replication.freeze();
    assert.equal(await redis.command("SET", "probe", "acknowledged"), "OK");
    const streams = (): Promise<string[]> => redis.command<string[]>("KEYS", "task:*");
    const known = new Set(await replica.command<string[]>("KEYS", "task:*"));
    // What the brains themselves were told is written, and the replica does not get.
    const lengths = async (from: typeof redis, names: readonly string[]): Promise<readonly number[]> =>
      Promise.all(names.map((name) => from.command<number>("XLEN", name)));
    const isAhead = async (): Promise<boolean> => {
      const names = await streams();
      const [here, there] = await Promise.all([lengths(redis, names), lengths(replica, names)]);
      lost = names.filter((name, index) => !known.has(name) || (here[index] ?? 0) > (there[index] ?? 0));
      return lost.length > 0;
    };
    await until("brains have written what the replica lacks", isAhead);
    await redis.kill();
    await replica.command("REPLICAOF", "NO", "ONE");
    busWay.leadTo(replica.url);
    await cluster.settle();
    // Hands that are connected to it get sessions at the other brain.
    await cluster.brains[1]?.end("SIGTERM");
    await cluster.start(1);
  };
  await underLoad({ ...load, name: "failed-over", trouble });
  assert.equal(await replica.command("GET", "probe"), null, "an acknowledged write is lost");
  assert.ok(lost.length > 0);
  const grown = epochs.stop();
  assert.ok(grown > 0, "hands have had new sessions");
  process.stdout.write(
    `F15: acknowledged writes to ${lost.length} streams and the probe were lost; epochs at the hands grew by ${grown} and never went back\n`,
  );
  // The former master comes back as the one server again.
  await redis.start();
  busWay.leadTo(redis.url);
  await cluster.settle();
  await replica.close();
  await replication[Symbol.asyncDispose]();
});

test("F14 F16 connections to PostgreSQL are cut, a reply is lost after its commit, it is killed, then read-only: every run ends, nothing is lost or done twice", async () => {
  const trouble = async (): Promise<void> => {
    storeWay.cutAll();
    storeWay.cutReplyTo("action.finished");
    await until("a reply was lost", () => storeWay.cuts > 0);
    await server.kill();
    await server.start();
    await server.query("ALTER DATABASE postgres SET default_transaction_read_only = on");
    storeWay.cutAll();
    await until("the brains say so", async () => (await cluster.brains[0]?.ask("/readyz"))?.status === 503);
    const told = (await (await cluster.brains[0]?.ask("/readyz"))?.json()) as { checks: { store: string } };
    assert.equal(told.checks.store, "down");
    await server.query("BEGIN READ WRITE; ALTER DATABASE postgres RESET default_transaction_read_only; COMMIT");
    storeWay.cutAll();
  };
  await underLoad({ ...load, name: "store-failing", trouble });
});

test("F20 G8 a brain stands still for a minute, and its runs are taken over; when it goes on, it stops driving them by itself, nothing is lost or done twice", async () => {
  const [, stopped] = cluster.brains;
  assert.ok(stopped !== undefined);
  const trouble = async (): Promise<void> => {
    process.kill(stopped.pid, "SIGSTOP");
    const since = performance.now();
    const open = `FROM ${SCHEMA}.run WHERE status IN ('running', 'asking') AND holder LIKE '%"pid":${stopped.pid},%'`;
    const [{ held } = { held: 0 }] = await server.query(`SELECT count(*) AS held ${open}`);
    assert.ok(Number(held) > 0, "it drives runs when it is stopped");
    const isTakenOver = async (): Promise<boolean> =>
      Number((await server.query(`SELECT count(*) AS held ${open}`))[0]?.["held"]) === 0;
    await until("its runs are taken over", isTakenOver, 120_000);
    await until("the time is over", () => performance.now() - since >= STOPPED_MS, STOPPED_MS + 1000);
    process.kill(stopped.pid, "SIGCONT");
    await until("it says that it has lost its leases", () => stopped.log.includes('"run.lease_lost"'), 60_000);
    process.stdout.write(`F20: ${String(held)} runs were taken over while the brain stood still\n`);
  };
  await underLoad({ ...load, name: "stood-still", trouble });
  const made = await stopped.ask("/v1/runs", { method: "POST", body: '{"task":"uptime","hand":"web-1"}' });
  const { id } = (await made.json()) as { id: string };
  await until("it works on", async () => {
    const { status } = (await (await stopped.ask(`/v1/runs/${id}`)).json()) as { status: string };
    return status === "finished";
  });
});
