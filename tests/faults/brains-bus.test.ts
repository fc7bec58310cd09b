import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { BrainCluster } from "../support/brain-cluster.ts";
import { underLoad } from "../support/cluster-load.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { startRedis } from "../support/redis-server.ts";

/*
 * M-14: two and three brains on one PostgreSQL and one Redis behind a plain TCP balancer, three hands on different
 * brains, followers on every wire with cursors. VIDRO_BRAIN_RUNS sets how many runs there are at once.
 */

const RUNS = Number(process.env["VIDRO_BRAIN_RUNS"] ?? 50);

const [server, redis] = await Promise.all([startPostgres(), startRedis()]);
after(() => Promise.all([server.close(), redis.close()]));

for (const count of [2, 3])
  suite(`${count} brains`, async () => {
    const schema = `brains_${count}`;
    const env = { VIDRO_STORE: server.storeUrl(schema), VIDRO_BUS: `${redis.url}?prefix=${schema}:` };
    const cluster = await BrainCluster.up(count, env);
    after(() => cluster[Symbol.asyncDispose]());
    for (const name of ["web-1", "web-2", "web-3"]) await cluster.join(name);
    const loaded = { cluster, server, schema, runs: RUNS };

    test("hands are connected to different brains, and each brain reaches all of them", async () => {
      await cluster.settle();
      for (const brain of cluster.brains) assert.match(brain.log, /"hand\.connected"/u);
    });

    for (const index of Array.from({ length: count }, (_, brain) => brain))
      test(`G1 G2 G3 G5 G9 brain ${index + 1} is killed under load: every run ends, nothing is lost or done twice`, async () => {
        const trouble = async (): Promise<void> => void (await cluster.brains[index]?.end("SIGKILL"));
        await underLoad({ ...loaded, name: `killed-${index + 1}-of-${count}`, trouble });
        await cluster.start(index);
      });

    test("every brain is restarted in turn under load: every run ends, nothing is lost or done twice", async () => {
      const trouble = async (): Promise<void> => {
        for (const index of cluster.brains.keys()) {
          await cluster.brains[index]?.end("SIGTERM");
          await cluster.start(index);
        }
      };
      await underLoad({ ...loaded, name: `restarted-${count}`, trouble });
    });
  });
