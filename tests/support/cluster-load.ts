import assert from "node:assert/strict";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { askJson, linesIn } from "./brain-cluster.ts";
import type { BrainCluster } from "./brain-cluster.ts";
import { until } from "./daemon-process.ts";
import type { PostgresServer } from "./postgres-server.ts";
import { AGENT_SSE, JOURNAL_NDJSON, JOURNAL_SSE } from "./resumable-wires.ts";
import type { JournalItem } from "./resumable-wires.ts";

/** What is loaded, and what happens to it meanwhile. */
export interface ClusterLoad {
  readonly cluster: BrainCluster;
  readonly server: PostgresServer;
  /** The schema of the brains' store. */
  readonly schema: string;
  /** What the effects of this load are called. */
  readonly name: string;
  readonly runs: number;
  /** Begins when the first effect has happened. */
  readonly trouble: () => Promise<void>;
}

const WIRES = [JOURNAL_NDJSON, JOURNAL_SSE, AGENT_SSE];
const ENDED_MS = 180_000;

/**
 * Starts runs on all hands by way of the balancer, follows each on every wire and answers it, does something to the
 * brains meanwhile, then checks every promise and prints the numbers [M-14].
 */
export async function underLoad(load: ClusterLoad): Promise<void> {
  const { cluster, name } = load;
  await cluster.settle();
  const numbers = Array.from({ length: load.runs }, (_, index) => index);
  const handOf = (index: number): BrainCluster["hands"][number] | undefined =>
    cluster.hands[index % cluster.hands.length];
  const fileOf = (index: number): string => join(handOf(index)?.workspace ?? "", `${name}-${index}`);
  const runs = await Promise.all(
    numbers.map(async (index) => {
      const task = `run "echo x >> ${name}-${index}; sleep 0.3"`;
      const body = JSON.stringify({ task, hand: handOf(index)?.name });
      const headers = { "idempotency-key": `${name}-${index}` };
      return String((await askJson(cluster, "/v1/runs", { method: "POST", headers, body }))["id"]);
    }),
  );
  const since = performance.now();
  const followed = runs.flatMap((run) => WIRES.map((wire) => follow(cluster, run, wire)));
  const troubled = until("one effect has happened", () => numbers.some((index) => linesIn(fileOf(index)) > 0)).then(
    load.trouble,
  );
  const [entries] = await Promise.all([Promise.all(followed), troubled, ...runs.map((run) => answerAll(cluster, run))]);
  const tookMs = performance.now() - since;
  for (const [index, run] of runs.entries()) {
    const { status, seq } = await askJson(cluster, `/v1/runs/${run}`);
    assert.equal(status, "finished", run);
    const whole = Array.from({ length: Number(seq) }, (_, place) => place + 1);
    assert.deepEqual(entries[index * WIRES.length], whole, "no entry is lost on the journal as lines");
    assert.deepEqual(entries[index * WIRES.length + 1], whole, "no entry is lost on the journal as events");
    assert.ok(linesIn(fileOf(index)) <= 1, "no effect is doubled");
  }
  await print(load, { runs, effects: numbers.filter((index) => linesIn(fileOf(index)) === 1).length, tookMs });
}

async function print(
  { cluster, server, schema, name, runs: count }: ClusterLoad,
  { runs, effects, tookMs }: { readonly runs: readonly string[]; readonly effects: number; readonly tookMs: number },
): Promise<void> {
  const ids = runs.map((run) => `'${run}'`).join(", ");
  const [row] = await server.query(`SELECT count(*) AS taken FROM ${schema}.run WHERE epoch > 1 AND id IN (${ids})`);
  const figures = [
    `${cluster.brains.length} brains`,
    `${count} runs finished`,
    `${String(row?.["taken"])} taken over`,
    `${effects} effects, 0 doubled`,
    `0 entries lost on ${2 * count} streams of the journal`,
    `${Math.round(tookMs)} ms`,
  ];
  process.stdout.write(`M-14 ${name}: ${figures.join(", ")}\n`);
}

/** Follows a run to its end by one wire, by cursor and through cuts; fails on an entry that comes twice or too early. */
async function follow(cluster: BrainCluster, run: string, wire: (typeof WIRES)[number]): Promise<readonly number[]> {
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
    const { status } = await askJson(cluster, `/v1/runs/${run}`);
    if (wire === AGENT_SSE && status === "finished") return seen;
  }
  throw new Error(`Run ${run} has not ended on ${wire.name} after entry ${seen.at(-1)}.`);
}

function isEnd({ event }: JournalItem): boolean {
  const type = (event as { readonly type?: string } | undefined)?.type ?? "";
  return /^run\.(finished|failed|aborted)$/u.test(type);
}

/** Says yes to what a run asks until it has ended. */
async function answerAll(cluster: BrainCluster, run: string): Promise<void> {
  for (const endsAt = performance.now() + ENDED_MS; performance.now() < endsAt; await sleep(200)) {
    const { status } = await askJson(cluster, `/v1/runs/${run}`);
    if (status === "asking") await cluster.ask(`/v1/runs/${run}/answers`, { method: "POST", body: '{"answer":"yes"}' });
    if (status !== "asking" && status !== "running") return;
  }
}
