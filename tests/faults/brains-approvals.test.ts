import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Entry } from "@vidro/core";
import { askJson, BrainCluster, linesIn } from "../support/brain-cluster.ts";
import { until } from "../support/daemon-process.ts";
import type { DaemonProcess } from "../support/daemon-process.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { SHORT_LEASES_FLAGS } from "../support/preload-flags.ts";
import { startRedis } from "../support/redis-server.ts";
import { JOURNAL_NDJSON } from "../support/resumable-wires.ts";

/*
 * Many people answer the same questions at once, at two brains on one PostgreSQL: one answer counts, everyone whose
 * answer was taken gave that one, and what was not approved does not run.
 */

const RUNS = 12;
const ROUNDS = 3;

const [server, redis] = await Promise.all([startPostgres(), startRedis()]);
const cluster = await BrainCluster.up(
  2,
  { VIDRO_STORE: server.storeUrl("approvals"), VIDRO_BUS: redis.url },
  SHORT_LEASES_FLAGS,
);
after(async () => {
  await cluster[Symbol.asyncDispose]();
  await Promise.all([server.close(), redis.close()]);
});
for (const name of ["web-1", "web-2"]) await cluster.join(name);
await cluster.settle();

/** A run that asks, and the file that its command would write to. */
interface AskingRun {
  readonly id: string;
  readonly file: string;
  readonly question: string;
}

async function startAsking(name: string): Promise<readonly AskingRun[]> {
  return Promise.all(
    Array.from({ length: RUNS }, async (_, index) => {
      const hand = cluster.hands[index % cluster.hands.length];
      const body = JSON.stringify({ task: `run "echo x >> ${name}-${index}"`, hand: hand?.name });
      const { id } = await askJson(cluster, "/v1/runs", { method: "POST", body });
      const run = String(id);
      await until("it asks", async () => (await askJson(cluster, `/v1/runs/${run}`))["status"] === "asking", 120_000);
      const asked = (await entriesOf(run, ({ event }) => event.type === "question.asked")).at(-1);
      assert.ok(asked?.event.type === "question.asked");
      return { id: run, file: join(hand?.workspace ?? "", `${name}-${index}`), question: asked.event.id };
    }),
  );
}

/** The entries of a run until its end, or until one that is waited for. */
async function entriesOf(run: string, isLast?: (entry: Entry) => boolean): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for await (const item of JOURNAL_NDJSON.kept(await cluster.ask(JOURNAL_NDJSON.request(run, 0).path, NDJSON))) {
    entries.push(item as unknown as Entry);
    if (isLast?.(item as unknown as Entry) === true) break;
  }
  return entries;
}

const NDJSON = { headers: { accept: "application/x-ndjson" } };

/** What an attempt to answer was, and what it was told. */
interface Attempt {
  readonly text: string;
  readonly status: number;
}

async function answer(
  brain: DaemonProcess,
  { id }: AskingRun,
  given: { readonly answer: string; readonly question?: string; readonly token?: string },
): Promise<Attempt> {
  const { token = brain.token, ...body } = given;
  const response = await fetch(`${brain.url}/v1/runs/${id}/answers`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
  return { text: body.answer, status: response.status };
}

async function tokenOf(...scopes: readonly string[]): Promise<string> {
  const body = JSON.stringify({ owner: "another", scopes });
  const { token } = await askJson(cluster, "/v1/tokens", { method: "POST", body });
  assert.equal(typeof token, "string");
  return String(token);
}

/** The one answer that a run has recorded, after its end. */
async function recordedAnswer({ id, file }: AskingRun): Promise<string> {
  await until(
    "it ends",
    async () => !["running", "asking"].includes(String((await askJson(cluster, `/v1/runs/${id}`))["status"])),
    120_000,
  );
  const events = (await entriesOf(id)).map(({ event }) => event);
  const answers = events.filter((event) => event.type === "question.answered");
  assert.equal(answers.length, 1, `${id} has one answer`);
  const text = answers[0]?.answer ?? "";
  const isYes = text.startsWith("yes");
  assert.equal(events.filter(({ type }) => type === "action.started").length, isYes ? 1 : 0);
  assert.equal(linesIn(file), isYes ? 1 : 0, `${id}: ${text}`);
  return text;
}

test("of hundreds of answers at two brains one counts for each question, and only its like are told that they were taken", async () => {
  const runs = await startAsking("crowd");
  const texts = ["yes", "no", "yes for this run", "no, because it is late"];
  const [strange, bare] = await Promise.all([tokenOf("runs", "approve"), tokenOf("runs")]);
  let [taken, refused] = [0, 0];
  await Promise.all(
    runs.map(async (run, index) => {
      const attempts = await Promise.all(
        Array.from({ length: ROUNDS * texts.length }, (_, place) => {
          const brain = cluster.brains[place % cluster.brains.length]!;
          const text = texts[(place + index) % texts.length] ?? "";
          return answer(brain, run, { answer: text, question: run.question });
        }),
      );
      const others = await Promise.all(
        cluster.brains.flatMap((brain) => [
          answer(brain, run, { answer: "yes", token: strange }),
          answer(brain, run, { answer: "yes", token: bare }),
          answer(brain, run, { answer: "yes", question: "q1_of_another_run" }),
          answer(brain, run, { answer: "yes perhaps", question: run.question }),
        ]),
      );
      assert.ok(
        others.every(({ status }) => status >= 400 && status < 500),
        JSON.stringify(others),
      );
      const recorded = await recordedAnswer(run);
      const told = attempts.filter(({ status }) => status === 200).map(({ text }) => text);
      assert.equal(told.length, ROUNDS, "each of its like is told that it was taken");
      assert.deepEqual([...new Set(told)].map(kindOf), [kindOf(recorded)]);
      const faults = attempts.filter(({ status }) => status !== 200);
      assert.ok(
        faults.every(({ status }) => status === 409),
        JSON.stringify(faults),
      );
      taken += told.length;
      refused += faults.length + others.length;
    }),
  );
  process.stdout.write(`approvals at two brains: ${RUNS} questions, ${taken} answers taken, ${refused} refused\n`);
});

/** The answer as the journal words it. */
function kindOf(text: string): string {
  return text.startsWith("no") ? text.replace(/^no, because /u, "no: ") : text;
}

test("a brain is killed while both are asked: an answer that was taken counts, and what was refused never runs", async () => {
  const runs = await startAsking("killed");
  const [survivor, victim] = cluster.brains;
  assert.ok(survivor !== undefined && victim !== undefined);
  const answered = runs.map(async (run, index) => {
    const text = index % 2 === 0 ? "yes" : "no";
    const atVictim = answer(victim, run, { answer: text, question: run.question }).catch(() => undefined);
    if (index === RUNS / 2) await victim.end("SIGKILL");
    for (;;) {
      const { status } = await answer(survivor, run, { answer: text, question: run.question });
      if (status === 200) break;
      assert.ok(status === 409 || status === 503, `${status}`);
      await sleep(50);
    }
    await atVictim;
    return { text, recorded: await recordedAnswer(run) };
  });
  for (const { text, recorded } of await Promise.all(answered)) assert.equal(recorded, text);
});
