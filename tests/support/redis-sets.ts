import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "./daemon-process.ts";
import { freePort } from "./postgres-server.ts";
import { startRedis } from "./redis-server.ts";

/** Several servers of Redis behind one address. */
interface RedisSet {
  readonly url: string;
  close(): Promise<void>;
}

/** A master with a replica, and a sentinel that watches them. */
export async function startSentinels(): Promise<RedisSet & { failOver(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), "vidro-sentinel-"));
  const master = await startRedis();
  const replica = await startRedis(["--replicaof", "127.0.0.1", String(master.port)]);
  const port = await freePort();
  const lines = [
    `port ${port}`,
    "bind 127.0.0.1",
    `dir ${folder}`,
    `sentinel monitor main 127.0.0.1 ${master.port} 1`,
    "sentinel down-after-milliseconds main 500",
    "sentinel failover-timeout main 3000",
  ];
  writeFileSync(join(folder, "sentinel.conf"), lines.join("\n"));
  const child = spawn("redis-server", [join(folder, "sentinel.conf"), "--sentinel"], { stdio: "ignore" });
  process.once("exit", () => child.kill("SIGKILL"));
  // A sentinel closes the connections of a server whose role it changes.
  const says = async (words: RegExp): Promise<boolean> =>
    words.test(String(await replica.command("INFO").catch(() => "")));
  await until("the replica follows", () => says(/master_link_status:up/u));
  return {
    url: `redis+sentinel://127.0.0.1:${port}/main`,
    async failOver() {
      await master.kill();
      await until("the replica is the master", () => says(/role:master/u));
    },
    async close() {
      if (child.exitCode === null && child.signalCode === null) {
        const gone = once(child, "exit");
        child.kill("SIGKILL");
        await gone;
      }
      await Promise.all([master.close(), replica.close()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Two servers that share the keys. */
export async function startCluster(): Promise<RedisSet> {
  const flags = ["--cluster-enabled", "yes", "--cluster-node-timeout", "2000"];
  const [one, two] = await Promise.all([startRedis(flags), startRedis(flags)]);
  await one.command("CLUSTER", "ADDSLOTSRANGE", "0", "8000");
  await two.command("CLUSTER", "ADDSLOTSRANGE", "8001", "16383");
  await one.command("CLUSTER", "MEET", "127.0.0.1", String(two.port));
  for (const server of [one, two])
    await until("the cluster stands", async () =>
      /cluster_state:ok/u.test(String(await server.command("CLUSTER", "INFO"))),
    );
  return {
    url: `redis+cluster://127.0.0.1:${one.port},127.0.0.1:${two.port}`,
    async close() {
      await Promise.all([one.close(), two.close()]);
    },
  };
}
