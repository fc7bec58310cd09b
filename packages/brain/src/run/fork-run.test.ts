import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { Fault } from "@vidro/core";
import type { Entry, Model, ModelReply, RunStarted, Turn } from "@vidro/core";
import { scriptedModel } from "../../../../tests/support/scenario.ts";
import { finishRun, openHand, openRuns, temporaryFolder } from "../../../../tests/support/local-runs.ts";
import { memoryStore } from "../stores/memory.ts";
import { forkRun } from "./fork-run.ts";
import { replayRun } from "./replay-run.ts";
import type { ReplayedStep } from "./replay-run.ts";
import type { Runs, StartRequest } from "./runs.ts";

const said = (text: string, ...calls: ModelReply["calls"]): ModelReply => ({
  model: "scripted",
  text,
  calls,
  usage: { inputTokens: 3, outputTokens: 2 },
});
const look = (id: string): ModelReply => said("I look.", { id, tool: "working_directory", input: {} });

/** A run that looked twice and answered, and what is needed to fork and replay it. */
async function story(t: TestContext, replies: readonly ModelReply[] = [look("c1"), look("c2"), said("done")]) {
  const folder = temporaryFolder(t);
  const { journal } = memoryStore();
  const hand = await openHand(folder, folder);
  const model = scriptedModel(replies);
  const runs = openRuns({ journal, model, hand });
  t.after(async () => {
    await runs.close();
    await hand.close();
  });
  const { run } = await runs.start({ task: "where am I?", workspace: folder, owner: "ana" });
  const entries = await finishRun(runs, run.id, ["yes", "yes"]);
  return { runs, run: run.id, entries, model, folder };
}

const started = async (runs: Runs, run: string): Promise<RunStarted> => {
  const [first] = await runs.read(run, 0, 1);
  return first?.event.type === "run.started" ? first.event : assert.fail("no start");
};

const callsIn = (turns: readonly Turn[]): number =>
  turns.filter((turn) => turn.role === "assistant" && turn.action !== undefined).length;

test("a fork at any entry begins with what the run had done up to the last decision before it, and does none of it again", async (t) => {
  const { runs, run, entries } = await story(t);
  let last = -1;
  for (const { seq } of entries) {
    const { run: fork, existed } = await forkRun(runs, run, { at: seq, as: { owner: "ana" } });
    assert.equal(existed, false);
    const { forked, task } = await started(runs, fork.id);
    assert.equal(task, "where am I?");
    assert.ok(forked !== undefined && forked.run === run && forked.seq <= seq, `at ${seq}`);
    const calls = callsIn(forked.turns);
    assert.ok(calls >= last, "a later entry knows no less");
    last = calls;
    const own = await finishRun(runs, fork.id, ["yes", "yes"]);
    const acted = own.filter(({ event }) => event.type === "action.started").length;
    assert.equal(acted, 2 - calls, `at ${seq} only what is left is done`);
    assert.equal(own.at(-1)?.event.type, "run.finished");
  }
  assert.equal(last, 2);
  const after = await runs.read(run, 0, 1000);
  assert.equal(after.length, entries.length, "the run itself is left as it is");
});

test("an entry that the run does not have is refused with those that it has", async (t) => {
  const { runs, run, entries } = await story(t);
  for (const at of [0, -1, entries.length + 1, Number.MAX_SAFE_INTEGER])
    await assert.rejects(forkRun(runs, run, { at }), {
      code: "BAD_REQUEST",
      message: new RegExp(`1 to ${entries.length}; it cannot be forked at ${at}`),
    });
  await assert.rejects(forkRun(runs, "run_none", {}), { code: "NOT_FOUND" });
});

test("words that are said to a fork are its last turn, and blank ones are none", async (t) => {
  const { runs, run } = await story(t);
  const lastTurn = async (text: string | undefined): Promise<Turn | undefined> => {
    const { run: fork } = await forkRun(runs, run, { text });
    return (await started(runs, fork.id)).forked?.turns.at(-1);
  };
  assert.deepEqual(await lastTurn("  e agora? "), { role: "user", text: "e agora?" });
  for (const none of ["", "  \n", undefined]) assert.notEqual((await lastTurn(none))?.role, "user");
});

test("the owner, the key and the hands of a fork are those of its caller", async (t) => {
  const { runs, run } = await story(t);
  const as = { owner: "bob", key: "k1" };
  const [one, two] = [await forkRun(runs, run, { as }), await forkRun(runs, run, { as })];
  assert.deepEqual([two.run.id, two.existed], [one.run.id, true]);
  assert.equal((await runs.find(one.run.id, "bob")).owner, "bob");
  await assert.rejects(runs.find(one.run.id, "ana"), { code: "NOT_FOUND" });
});

test("a model that is gone is replaced by the usual one, and a model that is named is not", async (t) => {
  const { runs, run } = await story(t);
  const asked: (string | undefined)[] = [];
  const start = async (request: StartRequest) => {
    asked.push(request.model);
    if (request.model !== undefined) throw new Fault("MODEL_UNKNOWN", "It is gone.");
    return runs.start(request);
  };
  const gone = { find: runs.find.bind(runs), read: runs.read.bind(runs), start };
  await forkRun(gone, run, {});
  assert.deepEqual(asked, ["scripted", undefined]);
  await assert.rejects(forkRun(gone, run, { model: "other/one" }), { code: "MODEL_UNKNOWN" });
  assert.deepEqual(asked.slice(2), ["other/one"]);
});

async function* each(entries: readonly Entry[]): AsyncGenerator<Entry> {
  yield* entries;
}

/** All steps of a replay with another model. */
async function replayed(entries: readonly Entry[], model: Model, signal = new AbortController().signal) {
  const steps: ReplayedStep[] = [];
  for await (const step of replayRun(each(entries), model, signal)) steps.push(step);
  return steps;
}

test("the same model decides the same at each step of a replay, from the prompts that there were", async (t) => {
  const { entries, model } = await story(t);
  const before = model.requests.length;
  const steps = await replayed(entries, model);
  assert.deepEqual(
    steps.map(({ step, recorded, same }) => [step, recorded.kind, same]),
    [
      [1, "action", true],
      [2, "action", true],
      [3, "answer", true],
    ],
  );
  assert.deepEqual(
    model.requests.slice(before).map(({ turns }) => turns.length),
    model.requests.slice(0, before).map(({ turns }) => turns.length),
  );
  assert.ok(steps.every(({ usage }) => usage?.inputTokens === 3));
});

test("another decision is told beside the recorded one: another tool, another input, words, a failure", async (t) => {
  const { entries } = await story(t);
  const kinds = async (reply: ModelReply | Fault) => {
    const model: Model = {
      name: "other",
      async *call() {
        if (reply instanceof Fault) yield { type: "failed", fault: reply.report() };
        else yield { type: "replied", reply };
      },
    };
    return (await replayed(entries, model)).map(({ other, same }) => `${other.kind} ${same}`);
  };
  assert.deepEqual(await kinds(said("", { id: "x", tool: "os_info", input: {} })), [
    "action false",
    "action false",
    "action false",
  ]);
  assert.deepEqual(await kinds(said("I am here.")), ["answer false", "answer false", "answer true"]);
  assert.deepEqual(await kinds(new Fault("MODEL_REFUSED", "no")), ["failed false", "failed false", "failed false"]);
});

test("a model that ends without a word has failed, and a replay that is aborted ends without that step", async (t) => {
  const { entries } = await story(t);
  const mute: Model = { name: "mute", async *call() {} };
  const [first] = await replayed(entries, mute);
  assert.ok(first?.other.kind === "failed" && first.other.fault.code === "MODEL_UNAVAILABLE");
  const stop = new AbortController();
  let asked = 0;
  const stopping: Model = {
    name: "stopping",
    async *call() {
      if ((asked += 1) === 2) stop.abort();
      yield { type: "replied", reply: said("x") };
    },
  };
  assert.equal((await replayed(entries, stopping, stop.signal)).length, 1);
  assert.deepEqual(await replayed([], mute), []);
  assert.deepEqual(await replayed(entries.slice(0, 1), mute), []);
});
