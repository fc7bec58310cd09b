import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { BrainCluster, linesIn } from "../support/brain-cluster.ts";
import { until } from "../support/daemon-process.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { startRedis } from "../support/redis-server.ts";
import { AGENT_SSE, JOURNAL_NDJSON, JOURNAL_SSE } from "../support/resumable-wires.ts";
import type { JournalItem } from "../support/resumable-wires.ts";

/*
 * M-14: three brains on one PostgreSQL and one Redis behind a plain TCP balancer, hands on different brains, followers on
 * every wire with cursors. VIDRO_BRAIN_RUNS sets how many runs there are, and adds a brain that is
 * stopped until its runs are taken over, which takes as long as a lease.
 */

const isLong = process.env["VIDRO_BRAIN_RUNS"] !== undefined;
const RUNS = Number(process.env["VIDRO_BRAIN_RUNS"] ?? 15);
const WIRES = [JOURNAL_NDJSON, JOURNAL_SSE, AGENT_SSE];
const ENDED_MS = 120_000;
const STOPPED_MS = 60_000;

const [server, redis] = await Promise.all([startPostgres(), startRedis()]);
const cluster = await BrainCluster.up(3, { VIDRO_STORE: server.storeUrl("many"), VIDRO_BUS: redis.url });
after(async () => {
  await cluster[Symbol.asyncDispose]();
  await Promise.all([server.close(), redis.close()]);
});
for (const name of ["web-1", "web-2", "web-3"]) await cluster.join(name);

/** Follows a run to its end by one wire, by cursor and through cuts; fails on an entry that comes twice or too early. */
async function follow(run: string, wire: (typeof WIRES)[number]): Promise<readonly number[]> {
  const seen: number[] = [];
  for (const endsAt = performance.now() + ENDED_MS; performance.now() < endsAt; await sleep(50)) {
    const { path, headers } = wire.request(run, seen.at(-1) ?? 0);
    try {
      const response = await cluster.ask(path, { headers });
      for await (const item of wire.kept(response)) {
        assert.ok(item.seq > (seen.at(-1) ?? 0), `${wire.name}: entry ${item.seq} after ${seen.at(-1)}`);
        seen.push(item.seq);
        if (isEnd(item)) return seen;
      }
    } catch (thrown) {
      if (thrown instanceof assert.AssertionError) throw thrown;
    }
    const { status } = (await (await cluster.ask(`/v1/runs/${run}`)).json()) as { status?: string };
    if (wire === AGENT_SSE && status === "finished") return seen;
  }
  throw new Error(`Run ${run} has not ended on ${wire.name} after entry ${seen.at(-1)}.`);
}

function isEnd({ event }: JournalItem): boolean {
  const type = (event as { readonly type?: string } | undefined)?.type ?? "";
  return /^run\.(finished|failed|aborted)$/u.test(type);
}

/** Starts runs on all hands, follows and answers them, does something to the brains meanwhile, and checks every promise. */
async function underLoad(name: string, trouble: (hasBegun: () => boolean) => Promise<void>): Promise<void> {
  await cluster.settle();
  const fileOf = (index: number): string => {
    const { workspace } = cluster.hands[index % cluster.hands.length] ?? { workspace: "" };
    return join(workspace, `${name}-${index}`);
  };
  const numbers = Array.from({ length: RUNS }, (_, index) => index);
  const runs = await Promise.all(
    numbers.map(async (index) => {
      const body = JSON.stringify({
        task: `run "echo x >> ${name}-${index}; sleep 0.3"`,
        hand: cluster.hands[index % cluster.hands.length]?.name,
      });
      const headers = { "idempotency-key": `${name}-${index}` };
      const made = await cluster.ask("/v1/runs", { method: "POST", headers, body });
      return ((await made.json()) as { id: string }).id;
    }),
  );
  const since = performance.now();
  const followed = runs.flatMap((run) => WIRES.map((wire) => follow(run, wire)));
  const answered = runs.map(answerAll);
  const hasBegun = (): boolean => numbers.some((index) => linesIn(fileOf(index)) > 0);
  const [entries] = await Promise.all([Promise.all(followed), trouble(hasBegun), ...answered]);
  const tookMs = performance.now() - since;
  for (const [index, run] of runs.entries()) {
    const { status, seq } = (await (await cluster.ask(`/v1/runs/${run}`)).json()) as { status: string; seq: number };
    assert.equal(status, "finished", run);
    const whole = Array.from({ length: seq }, (_, place) => place + 1);
    assert.deepEqual(entries[index * WIRES.length], whole, "no entry is lost on the journal as lines");
    assert.deepEqual(entries[index * WIRES.length + 1], whole, "no entry is lost on the journal as events");
    assert.ok(linesIn(fileOf(index)) <= 1, "no effect is doubled");
  }
  const taken = await server.query("SELECT count(*) AS taken FROM many.run WHERE epoch > 1");
  const effects = numbers.filter((index) => linesIn(fileOf(index)) === 1).length;
  process.stdout.write(
    `brains on a bus: ${name}: ${RUNS} runs, ${effects} effects, 0 doubled, 0 entries lost on ${2 * RUNS} streams of the journal, ${String(taken[0]?.["taken"])} runs taken over so far, ${Math.round(tookMs)} ms\n`,
  );
}

/** Says yes to what a run asks until it has ended. */
async function answerAll(run: string): Promise<void> {
  for (const endsAt = performance.now() + ENDED_MS; performance.now() < endsAt; await sleep(100)) {
    const { status } = (await (await cluster.ask(`/v1/runs/${run}`)).json()) as { status: string };
    if (status === "asking") await cluster.ask(`/v1/runs/${run}/answers`, { method: "POST", body: '{"answer":"yes"}' });
    if (status !== "asking" && status !== "running") return;
  }
}

test("hands are connected to different brains, and each brain reaches all of them", async () => {
  await cluster.settle();
  for (const brain of cluster.brains) assert.match(brain.log, /"hand\.connected"/u);
});

test("G1 G2 G9 a brain is killed under load, with a hand on each: every run ends, nothing is lost or done twice", async () => {
  await underLoad("killed", async (hasBegun) => {
    await until("one effect has happened", hasBegun);
    await cluster.brains[2]?.end("SIGKILL");
  });
  await cluster.start(2);
});

test("F14 F15 Redis is emptied, then killed and started again twice under load: every run ends, nothing is lost or done twice", async () => {
  await underLoad("emptied", async (hasBegun) => {
    await until("one effect has happened", hasBegun);
    await redis.command("FLUSHALL");
    for (let flap = 0; flap < 2; flap += 1) {
      await redis.kill();
      await redis.start();
      await cluster.settle();
    }
  });
});

test("every brain is restarted in turn under load: every run ends, nothing is lost or done twice", async () => {
  await underLoad("rolled", async (hasBegun) => {
    await until("one effect has happened", hasBegun);
    for (const index of cluster.brains.keys()) {
      await cluster.brains[index]?.end("SIGTERM");
      await cluster.start(index);
    }
  });
});

if (isLong)
  test("F20 a brain is stopped until its runs are taken over, then goes on: every run ends, nothing is lost or done twice", async () => {
    await underLoad("stopped", async (hasBegun) => {
      await until("one effect has happened", hasBegun);
      const stopped = cluster.brains[1];
      process.kill(stopped?.pid ?? 0, "SIGSTOP");
      const stoppedAt = Date.now();
      const held = `SELECT count(*) AS held FROM many.run WHERE status IN ('running', 'asking') AND holder LIKE '%${stopped?.pid}%'`;
      await until(
        "its runs are taken over",
        async () => Number((await server.query(held))[0]?.["held"]) === 0 && Date.now() - stoppedAt > STOPPED_MS,
        ENDED_MS,
      );
      process.kill(stopped?.pid ?? 0, "SIGCONT");
    });
  });
