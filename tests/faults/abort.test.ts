import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { RUN_LIMITS } from "@vidro/core";
import type { Hand, Journal, Json, JsonObject, Model, Records } from "@vidro/core";
import { dialTcpHand } from "../../packages/brain/src/south/agent-tcp.ts";
import { HandRegister } from "../../packages/brain/src/south/register/hand-register.ts";
import type { Runs } from "../../packages/brain/src/run/runs.ts";
import { memoryStore } from "../../packages/brain/src/stores/memory.ts";
import { until } from "../support/daemon-process.ts";
import { assertOutcomes, modelThatCalls, outcomeTypes, entriesOf, waitForEvent } from "../support/outcomes.ts";
import { processesIn } from "../support/processes.ts";
import { ALLOW_ALL, frame, startTcpHand } from "../support/tcp-hand.ts";
import type { ListeningHand } from "../support/tcp-hand.ts";
import { answer, HELLO, startForeignTcpServer } from "../support/foreign-tcp-server.ts";
import type { TcpRequest } from "../support/foreign-tcp-server.ts";
import { openRuns } from "../support/local-runs.ts";

/* Whatever the model, the hand or the link does: an abort answers, and leaves nothing behind. */

const log = (): void => undefined;
const SLEEP = { command: "echo $$ > pid; exec sleep 600", access: "host" };

/** One brain: a register on records that the next one may have, and the way to one hand that listens. */
class Brain {
  readonly journal: Journal;
  readonly hands: HandRegister;
  readonly #where: { readonly port: number; readonly token: string };
  #dialling: ReturnType<typeof dialTcpHand> | undefined;

  private constructor(parts: Pick<Brain, "journal" | "hands">, where: { port: number; token: string }) {
    this.journal = parts.journal;
    this.hands = parts.hands;
    this.#where = where;
  }

  static async up(
    t: TestContext,
    store: { readonly journal: Journal; readonly records: Records },
    where: { port: number; token: string; overdueMs?: number },
  ): Promise<Brain> {
    const overdue = where.overdueMs === undefined ? {} : { overdueMs: where.overdueMs };
    const hands = new HandRegister({ records: store.records, log, now: Date.now, ...overdue });
    await hands.load();
    const brain = new Brain({ journal: store.journal, hands }, where);
    t.after(() => brain.hangUp());
    return brain;
  }

  /** Dials the hand and gives it. */
  async dial(): Promise<Hand> {
    const { port, token } = this.#where;
    const at = { host: "127.0.0.1", port, token, owner: "ana", id: "far", redialMs: 1 };
    this.#dialling = dialTcpHand(at, { hands: this.hands, log });
    await this.#dialling.reached;
    return this.hands.at("far");
  }

  async hangUp(): Promise<void> {
    await this.#dialling?.close();
  }

  runs(t: TestContext, hand: Hand, model: Model): Runs {
    const runs = openRuns({ journal: this.journal, model, hand });
    t.after(() => runs.close());
    return runs;
  }
}

/** Aborts a run in time, and gives what the journal says of its end. */
async function aborted(runs: Runs, run: string): Promise<readonly string[]> {
  const at = performance.now();
  await runs.abort(run, "enough");
  const tookMs = performance.now() - at;
  assert.ok(tookMs < RUN_LIMITS.abortMs, `the abort took ${tookMs} ms`);
  const entries = await entriesOf(runs, run);
  assertOutcomes(entries);
  return outcomeTypes(entries);
}

/** A hand of ours on another machine, whose work leaves its pid in a file. */
async function host(t: TestContext): Promise<ListeningHand & { readonly isAlive: () => boolean }> {
  const hand = await startTcpHand(t, { policy: ALLOW_ALL, bounds: { burst: 1e9 } });
  return { ...hand, isAlive: () => processesIn(hand.workspace).length > 0 };
}

const hasBegun = ({ workspace }: ListeningHand): Promise<void> =>
  until("the command has begun", () => {
    try {
      return readFileSync(join(workspace, "pid"), "utf8").endsWith("\n");
    } catch {
      return false;
    }
  });

test("F35 G13 a run whose hand is away is aborted in time, and its command ends when the hand is back, also to a brain that was started again", async (t) => {
  const far = await host(t);
  const store = memoryStore();
  const where = { port: far.port, token: await far.token("hand") };
  const first = await Brain.up(t, store, where);
  const runs = first.runs(t, await first.dial(), modelThatCalls("shell", SLEEP));
  const { run } = await runs.start({ task: "sleep", workspace: "." });
  await hasBegun(far);
  await first.hangUp();
  assert.deepEqual(await aborted(runs, run.id), ["action.unknown", "run.aborted"]);
  assert.ok(far.isAlive(), "the hand has not been told yet");
  const second = await Brain.up(t, store, where);
  await second.dial();
  await until("the command is gone", () => !far.isAlive());
  await until("nothing is left to be stopped", async () => {
    return (await store.records.list("hand-stop", { limit: 1 })).length === 0;
  });
});

test("F35 G13 a run without a driver is aborted, and the command that it left behind ends with it", async (t) => {
  const far = await host(t);
  const store = memoryStore();
  const where = { port: far.port, token: await far.token("hand") };
  const first = await Brain.up(t, store, where);
  const model = modelThatCalls("shell", SLEEP);
  const leaving = first.runs(t, await first.dial(), model);
  const { run } = await leaving.start({ task: "sleep", workspace: "." });
  await hasBegun(far);
  await leaving.close();
  await first.hangUp();
  assert.ok(far.isAlive(), "a brain that goes down leaves work on other machines alone");
  const second = await Brain.up(t, store, where);
  const runs = second.runs(t, await second.dial(), model);
  assert.deepEqual(await aborted(runs, run.id), ["action.finished", "run.aborted"]);
  assert.ok(!far.isAlive(), "its outcome says that it has ended");
});

/** A foreign server that takes a brain's orders and does with them what the test says; the rest it answers. */
async function silent(
  t: TestContext,
  heed: (said: TcpRequest) => Json | undefined = () => undefined,
): Promise<{ readonly port: number; readonly heard: TcpRequest[]; say(value: Json): void }> {
  const heard: TcpRequest[] = [];
  const hello = { ...HELLO, data: { ...HELLO.data, extensions: ["JUDGE", "RUN_TOOL", "CANCEL", "ACK"] } };
  const hand = { name: "far", workspace: "/", tools: [SHELL] };
  const verdict = { decision: "allow", rule: "r", class: "code-exec", reason: "" };
  const judgement = { plan: { kind: "facts", facts: "x" }, hash: "h", policy: "p", verdict };
  const { port, sockets } = await startForeignTcpServer(
    t,
    (said) => {
      heard.push(said);
      if (said.act === "AUTH") return answer(said, { hand });
      if (said.act === "JUDGE") return answer(said, { judgement });
      return said.act === "RUN_TOOL" || said.act === "CANCEL" ? heed(said) : answer(said);
    },
    hello,
  );
  return { port, heard, say: (value) => void sockets.at(-1)?.write(frame(value)) };
}

const SHELL: JsonObject = {
  name: "shell",
  description: "",
  idempotent: false,
  parameters: { type: "object", properties: {} },
};
const acts = (heard: readonly TcpRequest[]): readonly string[] => heard.map(({ act }) => act);

test("F35 G13 a run whose hand says nothing is aborted in time, and the hand is told to stop", async (t) => {
  const far = await silent(t);
  const brain = await Brain.up(t, memoryStore(), { port: far.port, token: "x" });
  const runs = brain.runs(t, await brain.dial(), modelThatCalls("shell", {}));
  const { run } = await runs.start({ task: "hang", workspace: "." });
  await until("it is ordered", () => acts(far.heard).includes("RUN_TOOL"));
  assert.deepEqual(await aborted(runs, run.id), ["action.unknown", "run.aborted"]);
  await until("it is told to stop", () => acts(far.heard).includes("CANCEL"));
});

test("F35 G13 a run whose model never ends is aborted in time", async (t) => {
  const begun = Promise.withResolvers<void>();
  const model: Model = {
    name: "endless",
    async *call() {
      begun.resolve();
      yield { type: "delta", text: "…" };
      await new Promise<never>(() => undefined);
    },
  };
  const far = await silent(t);
  const brain = await Brain.up(t, memoryStore(), { port: far.port, token: "x" });
  const runs = brain.runs(t, await brain.dial(), model);
  const { run } = await runs.start({ task: "think", workspace: "." });
  await begun.promise;
  assert.deepEqual(await aborted(runs, run.id), ["run.aborted"]);
});

const ENDED = { type: "finished", outcome: { kind: "value", text: "done after all" } };

test("F37 an order that a silent hand does not end in its own time is stopped and asked about, and a late end settles it", async (t) => {
  const far = await silent(t);
  const brain = await Brain.up(t, memoryStore(), { port: far.port, token: "x", overdueMs: 50 });
  const runs = brain.runs(t, await brain.dial(), modelThatCalls("shell", { timeout_ms: 100 }));
  const { run } = await runs.start({ task: "hang", workspace: "." });
  const question = await waitForEvent(runs, run.id, "question.asked");
  assert.equal(question.about.kind, "unknown");
  await until("it is told to stop", () => acts(far.heard).includes("CANCEL"));
  const [ordered] = far.heard.filter(({ act }) => act === "RUN_TOOL");
  far.say(answer(ordered ?? assert.fail(), { ended: ENDED }));
  const entries = await entriesOf(runs, run.id);
  assert.deepEqual(outcomeTypes(entries), ["action.unknown", "action.finished", "run.finished"]);
  assertOutcomes(entries);
  assert.equal((await runs.find(run.id)).status, "finished");
});

test("F37 a hand that comes back with the truth in its ledger settles the question about it", async (t) => {
  let isBack = false;
  const far = await silent(t, (said) => {
    if (said.act !== "RUN_TOOL" || !isBack) return undefined;
    assert.equal(said.data?.["ttlMs"], 0, "it is asked, and must not begin");
    return answer(said, { ended: ENDED });
  });
  const brain = await Brain.up(t, memoryStore(), { port: far.port, token: "x", overdueMs: 50 });
  const runs = brain.runs(t, await brain.dial(), modelThatCalls("shell", { timeout_ms: 100 }));
  const { run } = await runs.start({ task: "hang", workspace: "." });
  await waitForEvent(runs, run.id, "question.asked");
  await brain.hangUp();
  isBack = true;
  await brain.dial();
  const entries = await entriesOf(runs, run.id);
  assert.deepEqual(outcomeTypes(entries), ["action.unknown", "action.finished", "run.finished"]);
  assertOutcomes(entries);
});

const RUBBISH: readonly Json[] = [{ type: "finished" }, { type: "finished", outcome: { kind: "value" } }, "done", {}];

test("an end that makes no sense is unknown, and no fault of ours", async (t) => {
  for (const ended of RUBBISH) {
    const far = await silent(t, (said) => (said.act === "RUN_TOOL" ? answer(said, { ended }) : answer(said)));
    const brain = await Brain.up(t, memoryStore(), { port: far.port, token: "x" });
    const runs = brain.runs(t, await brain.dial(), modelThatCalls("shell", {}));
    const { run } = await runs.start({ task: "x", workspace: "." });
    assert.equal((await waitForEvent(runs, run.id, "question.asked")).about.kind, "unknown");
    assert.deepEqual(await aborted(runs, run.id), ["action.unknown", "run.aborted"]);
  }
});

test("a bug while an action is under way leaves its outcome unknown before the run fails", async (t) => {
  const far = await silent(t);
  const brain = await Brain.up(t, memoryStore(), { port: far.port, token: "x" });
  const hand = await brain.dial();
  const broken: Hand = {
    id: hand.id,
    workspace: hand.workspace,
    tools: hand.tools,
    judge: (action) => hand.judge(action),
    // oxlint-disable-next-line require-yield -- it has a bug
    async *perform() {
      throw new Error("a bug");
    },
    acknowledge: (action) => hand.acknowledge(action),
    close: () => hand.close(),
  };
  const runs = brain.runs(t, broken, modelThatCalls("shell", {}));
  const { run } = await runs.start({ task: "x", workspace: "." });
  const entries = await entriesOf(runs, run.id);
  assert.deepEqual(outcomeTypes(entries), ["action.unknown", "run.failed"]);
  assertOutcomes(entries);
});
