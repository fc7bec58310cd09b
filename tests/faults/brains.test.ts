import assert from "node:assert/strict";
import { once } from "node:events";
import { cpSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { lines, Stage } from "../../packages/cli/src/stage.fixture.ts";
import { DaemonProcess, until } from "../support/daemon-process.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { startBalancer } from "../support/tcp-balancer.ts";

/*
 * G1, G2, G3, G5, G9 with two brains on one PostgreSQL and no bus: any client follows, answers and stops any run on any
 * brain, and the runs of a brain that was killed go on at the other one.
 */

const server = await startPostgres();
after(() => server.close());

/** Bound of G9, and room for a loaded machine. */
const TAKEN_OVER_MS = 60_000;

interface JournalLine {
  readonly event?: { readonly type: string };
  readonly seq?: number;
}

/** The places of a run's entries, followed by cursor through cuts until its end; fails on a gap. */
async function followToEnd(ask: Ask, run: string): Promise<readonly JournalLine[]> {
  const seen: JournalLine[] = [];
  for (const endsAt = performance.now() + TAKEN_OVER_MS; performance.now() < endsAt;) {
    try {
      const headers = { accept: "application/x-ndjson" };
      const response = await ask(`/v1/runs/${run}/events?after=${seen.at(-1)?.seq ?? 0}`, { headers });
      let rest = "";
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        const found = (rest + chunk).split("\n");
        rest = found.pop() ?? "";
        for (const line of found) {
          const entry = JSON.parse(line || "{}") as JournalLine;
          if (entry.seq === undefined) continue;
          assert.equal(entry.seq, (seen.at(-1)?.seq ?? 0) + 1, "no entry is left out");
          seen.push(entry);
          if (/^run\.(finished|failed|aborted)$/u.test(entry.event?.type ?? "")) return seen;
        }
      }
    } catch (thrown) {
      if (thrown instanceof assert.AssertionError) throw thrown;
    }
    await sleep(50);
  }
  throw new Error(`Run ${run} has not ended; its last entry is ${JSON.stringify(seen.at(-1))}`);
}

type Ask = (path: string, init?: RequestInit) => Promise<Response>;

/** Requests of an administrator to an address; one that is cut is sent again. */
function asker(url: string, token: string): Ask {
  return async (path, init = {}) => {
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${token}`);
    headers.set("content-type", "application/json");
    for (const endsAt = performance.now() + TAKEN_OVER_MS; ;) {
      try {
        return await fetch(url + path, { ...init, headers, keepalive: false });
      } catch (thrown) {
        if (performance.now() > endsAt) throw thrown;
        await sleep(50);
      }
    }
  };
}

async function json(response: Promise<Response>): Promise<{ readonly [field: string]: unknown }> {
  return (await (await response).json()) as { [field: string]: unknown };
}

test("a run is followed, answered and stopped at a brain that does not drive it", async () => {
  const VIDRO_STORE = server.storeUrl("any_brain");
  await using stage = await Stage.set({ VIDRO_STORE });
  await using other = await Stage.set({ VIDRO_STORE });
  await using driving = await DaemonProcess.up(stage, { flags: ["--port", "0"] });
  await using asked = await DaemonProcess.up(other, { flags: ["--port", "0", "--no-local-hand"] });
  const ask = asker(asked.url, driving.token);
  const statusAt = async (run: string): Promise<unknown> => (await json(ask(`/v1/runs/${run}`)))["status"];

  const run = await driving.run('run "echo x >> effects.txt"');
  const followed = followToEnd(ask, run);
  await until("it asks", async () => (await statusAt(run)) === "asking");
  const answered = await ask(`/v1/runs/${run}/answers`, { method: "POST", body: JSON.stringify({ answer: "yes" }) });
  assert.equal(answered.status, 200, await answered.text());
  const there = (await followed).map(({ seq, event }) => [seq, event?.type]);
  const here = (await followToEnd(asker(driving.url, driving.token), run)).map(({ seq, event }) => [seq, event?.type]);
  assert.deepEqual(there, here);
  assert.equal(readFileSync(join(stage.workspace, "effects.txt"), "utf8"), "x\n");

  const second = await driving.run('run "echo y >> effects.txt; sleep 600"');
  await until("it asks", async () => (await statusAt(second)) === "asking");
  await ask(`/v1/runs/${second}/answers`, { method: "POST", body: JSON.stringify({ answer: "yes" }) });
  await stage.holds("effects.txt");
  await until("it runs", () => readFileSync(join(stage.workspace, "effects.txt"), "utf8") === "x\ny\n");
  const stopped = await ask(`/v1/runs/${second}/abort`, { method: "POST", body: "{}" });
  assert.equal(stopped.status, 200, await stopped.text());
  assert.equal(await statusAt(second), "aborted");
});

const RUNS = 10;

/** How often a command has written its line. */
function effectsOf(file: string): number {
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").length : 0;
}

function typesOf(journal: readonly JournalLine[]): readonly (string | undefined)[] {
  return journal.map(({ event }) => event?.type);
}

test("a brain is killed under load: no entry is lost, no effect is doubled, every run ends at the other one", async () => {
  const VIDRO_STORE = server.storeUrl("killed_brain");
  await using host = await Stage.set();
  await using stage = await Stage.set({ VIDRO_STORE });
  await using other = await Stage.set({ VIDRO_STORE });
  const [made] = lines((await host.run("tokens", "create", "--scopes", "hand,approve", "--json")).stdout);
  const hand = host.start("hands", "serve", "--tcp", "127.0.0.1:0", "--name", "web-2", "--json");
  const [ready] = (await once(hand.stdout, "data")) as [Buffer];
  const { tcp } = JSON.parse(ready.toString("utf8")) as { tcp: string };
  const flags = ["--port", "0", "--no-local-hand"];
  await using killed = await DaemonProcess.up(stage, { flags });
  const dialled = await stage.run("hands", "dial", `tcp://${tcp}`, "--token", String(made?.["token"]), "--json");
  assert.equal(dialled.code, 0, dialled.stderr);
  // Both brains read the secrets of hands with one key.
  cpSync(join(stage.home, "ca"), join(other.home, "ca"), { recursive: true });
  await using survivor = await DaemonProcess.up(other, { flags });
  const isHandThere = async (): Promise<boolean> =>
    /^vidro_hands\{state="ok"\} 1$/mu.test(await (await survivor.ask("/metrics")).text());
  await until("both brains reach the hand", isHandThere);

  await using balancer = await startBalancer([killed.url, survivor.url]);
  const ask = asker(balancer.url, killed.token);
  const runs = await Promise.all(
    Array.from({ length: RUNS }, async (_, index) => {
      const task = `run "echo x >> effect-${index}; sleep 0.2"`;
      const headers = { "idempotency-key": `run-${index}` };
      const { id } = await json(
        ask("/v1/runs", { method: "POST", headers, body: JSON.stringify({ task, hand: "web-2" }) }),
      );
      return String(id);
    }),
  );
  const followed = runs.map((run) => followToEnd(ask, run));
  const over = new AbortController();
  const answering = runs.map(async (run) => {
    while (!over.signal.aborted) {
      const { status } = await json(ask(`/v1/runs/${run}`));
      if (status === "asking") await ask(`/v1/runs/${run}/answers`, { method: "POST", body: '{"answer":"yes"}' });
      if (status === "finished") return;
      await sleep(100);
    }
  });
  const hasEffect = (): boolean => runs.some((_, index) => effectsOf(join(host.workspace, `effect-${index}`)) > 0);
  await until("one effect has happened", hasEffect);
  await killed.end("SIGKILL");
  const killedAt = performance.now();
  const journals = await Promise.all(followed).finally(() => over.abort());
  await Promise.all(answering);
  const tookMs = performance.now() - killedAt;
  hand.kill("SIGKILL");

  const ends = journals.map((journal) => typesOf(journal).at(-1));
  assert.deepEqual(
    ends,
    Array.from({ length: RUNS }, () => "run.finished"),
  );
  // An action whose outcome is on record as done happened once, every other one at most once.
  const effects = journals.map((_, index) => effectsOf(join(host.workspace, `effect-${index}`)));
  const done = journals.map((journal) => typesOf(journal).includes("action.finished"));
  for (const [index, count] of effects.entries())
    assert.ok(done[index] === true ? count === 1 : count <= 1, String(count));
  const kept = await Promise.all(runs.map((run) => followToEnd(asker(survivor.url, survivor.token), run)));
  assert.deepEqual(journals, kept, "what a follower was shown is in the journal");
  const [row] = await server.query("SELECT count(*) AS taken FROM killed_brain.run WHERE epoch > 1");
  const figures = [
    `${RUNS} runs`,
    `${String(row?.["taken"])} taken over`,
    `${effects.filter((count) => count === 1).length} effects`,
  ];
  process.stdout.write(`brains: ${figures.join(", ")}, all ended ${Math.round(tookMs)} ms after the kill\n`);
});
