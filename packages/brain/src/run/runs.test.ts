import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { Fault } from "@vidro/core";
import type { Entry, Event, Hand, Journal, Model, ModelReply } from "@vidro/core";
import { makeWorkspace, scriptedModel } from "../../../../tests/support/scenario.ts";
import type { Scenario } from "../../../../tests/support/scenario.ts";
import { finishRun, openHand, openRuns, sweep, temporaryFolder } from "../../../../tests/support/local-runs.ts";
import { thisHolder } from "../stores/lease-holder.ts";
import type { Runs } from "./runs.ts";
import { openStore } from "../stores/stores.ts";

const NOTHING: Scenario = { path: "", task: "", files: {}, replies: [], answers: [], source: "", transcript: "" };
const said = (text: string, ...calls: ModelReply["calls"]): ModelReply => ({
  model: "scripted",
  text,
  calls,
  usage: { inputTokens: 1, outputTokens: 1 },
});
const shell = (command: string): ModelReply => said("", { id: "c1", tool: "shell", input: { command } });

interface Setup {
  readonly runs: Runs;
  readonly workspace: string;
  readonly journal: Journal;
  readonly hand: Hand;
  readonly folder: string;
}

type Test = Parameters<typeof temporaryFolder>[0] & { after(done: () => Promise<void>): void };

async function setUp(
  t: Test,
  model: Model | readonly ModelReply[],
  change: (hand: Hand) => Partial<Hand> = () => ({}),
): Promise<Setup> {
  const folder = temporaryFolder(t);
  const workspace = makeWorkspace(NOTHING, folder);
  const { journal } = await openStore("sqlite", join(folder, "journal.db"));
  const real = await openHand(folder, workspace);
  const hand: Hand = {
    id: real.id,
    workspace,
    tools: real.tools,
    judge: (action) => real.judge(action),
    perform: (order, signal) => real.perform(order, signal),
    acknowledge: (action) => real.acknowledge(action),
    close: () => real.close(),
    ...change(real),
  };
  const runs = openRuns({ journal, model: "call" in model ? model : scriptedModel(model), hand });
  t.after(async () => {
    await runs.close();
    await real.close();
    await journal.close();
  });
  return { runs, workspace, journal, hand, folder };
}

/** Follows until an event of a type has come. */
async function until(runs: Runs, run: string, type: Event["type"], after = 0): Promise<Entry> {
  for await (const followed of runs.follow(run, after)) {
    if ("entry" in followed && followed.entry.event.type === type) return followed.entry;
  }
  throw new Error(`the run ended without ${type}`);
}

const types = (entries: readonly Entry[]): string[] => entries.map((entry) => entry.event.type);

test("the same key gives the same run, and its work is done once", async (t) => {
  const { runs, workspace } = await setUp(t, [said("done")]);
  const asked = { task: "x", workspace, key: "k1" };
  const [one, two] = await Promise.all([runs.start(asked), runs.start(asked)]);
  assert.equal(one.run.id, two.run.id);
  assert.notEqual(one.existed, two.existed);
  await finishRun(runs, one.run.id, []);
  const again = await runs.start(asked);
  assert.equal(again.run.id, one.run.id);
  assert.equal((await runs.list({ limit: 10 })).length, 1);
});

test("a task that is empty or endless is refused by name", async (t) => {
  const { runs, workspace } = await setUp(t, []);
  await assert.rejects(runs.start({ task: "  ", workspace }), { code: "BAD_REQUEST" });
  await assert.rejects(runs.start({ task: "x".repeat(300_000), workspace }), { code: "PAYLOAD_TOO_LARGE" });
  await assert.rejects(runs.find("run_none"), { code: "NOT_FOUND" });
});

test("G5 a follower that comes back after entry n gets n+1 and all that follows, once each", async (t) => {
  const { runs, workspace } = await setUp(t, [shell("true"), said("done")]);
  const { run } = await runs.start({ task: "x", workspace });
  const whole = await finishRun(runs, run.id, ["yes"]);
  for (let after = 0; after < whole.length; after++) {
    const rest: Entry[] = [];
    for await (const followed of runs.follow(run.id, after)) if ("entry" in followed) rest.push(followed.entry);
    assert.deepEqual(rest, whole.slice(after));
  }
});

test("F8 aborting ends the command and its whole tree before the run is over", async (t) => {
  const { runs, workspace } = await setUp(t, [
    shell("(setsid sleep 300 & echo $! > pid; echo up); sleep 300"),
    said("done"),
  ]);
  const { run } = await runs.start({ task: "x", workspace });
  const question = await until(runs, run.id, "question.asked");
  await runs.answer(run.id, { text: "yes", by: "test" });
  for await (const followed of runs.follow(run.id, question.seq)) {
    if ("live" in followed && followed.live.type === "action.output") break;
  }
  await runs.abort(run.id, "enough");
  const entries = await finishRun(runs, run.id, []);
  assert.deepEqual(types(entries).slice(-2), ["action.finished", "run.aborted"]);
  assert.equal((await runs.find(run.id)).status, "aborted");
  await assert.rejects(runs.abort(run.id, "again"), { code: "CONFLICT" });
  const pid = Number(readFileSync(join(workspace, "pid"), "utf8"));
  // In a sandbox the pid is of another namespace; on the host no process may have it any more.
  assert.ok(pid > 0 && !readCommand(pid).includes("sleep\x00300"));
});

function readCommand(pid: number): string {
  return existsSync(`/proc/${pid}/cmdline`) ? readFileSync(`/proc/${pid}/cmdline`, "utf8") : "";
}

test("an answer to a question that is closed is a conflict, and the open one stays open", async (t) => {
  const { runs, workspace } = await setUp(t, [shell("true"), said("done")]);
  const { run } = await runs.start({ task: "x", workspace });
  const asked = await until(runs, run.id, "question.asked");
  await assert.rejects(runs.answer(run.id, { text: "yes", by: "me", question: "q1" }), { code: "CONFLICT" });
  assert.equal((await runs.find(run.id)).status, "asking");
  assert.ok(asked.event.type === "question.asked");
  await runs.answer(run.id, { text: "yes", by: "me", question: asked.event.id });
  await assert.rejects(runs.answer(run.id, { text: "yes", by: "me" }), { code: "CONFLICT" });
  await finishRun(runs, run.id, []);
});

test("a run that was left open goes on where it stood, also when it waits for an answer", async (t) => {
  const first = await setUp(t, [shell("echo x >> effects.txt"), said("done")]);
  const { run } = await first.runs.start({ task: "x", workspace: first.workspace });
  await until(first.runs, run.id, "question.asked");
  await first.runs.close();
  assert.equal((await first.runs.find(run.id)).status, "asking");
  const second = openRuns({
    journal: first.journal,
    model: scriptedModel([shell("echo x >> effects.txt"), said("done")]),
    hand: first.hand,
  });
  assert.equal((await sweep(second)).resumed, 1);
  const entries = await finishRun(second, run.id, ["yes"]);
  assert.equal(entries.at(-1)?.event.type, "run.finished");
  assert.equal(readFileSync(join(first.workspace, "effects.txt"), "utf8"), "x\n");
});

test("G9 a run whose hand cannot be had is taken up, waits by name, and goes on when the hand is there", async (t) => {
  const first = await setUp(t, [shell("echo x >> effects.txt"), said("done")]);
  const { run } = await first.runs.start({ task: "x", workspace: first.workspace });
  await until(first.runs, run.id, "question.asked");
  await first.runs.close();
  let tries = 0;
  const second = openRuns({
    journal: first.journal,
    model: scriptedModel([shell("echo x >> effects.txt"), said("done")]),
    hand: async () => {
      tries += 1;
      if (tries > 2) return first.hand;
      throw new Fault("NOT_FOUND", "The folder is not there.");
    },
  });
  await assert.rejects(second.resume(run.id), { code: "NOT_FOUND" });
  assert.equal((await sweep(second)).resumed, 1);
  const entries = await finishRun(second, run.id, ["yes"]);
  assert.equal(entries.at(-1)?.event.type, "run.finished");
  assert.equal(readFileSync(join(first.workspace, "effects.txt"), "utf8"), "x\n");
});

test("a brain that lost its lease stops by itself and appends nothing", async (t) => {
  const { runs, workspace, journal } = await setUp(t, [shell("true"), said("done")]);
  const { run } = await runs.start({ task: "x", workspace });
  await until(runs, run.id, "question.asked");
  const { seq } = await runs.find(run.id);
  await journal.lease(run.id, thisHolder());
  await assert.rejects(runs.answer(run.id, { text: "yes", by: "me" }), { code: "LEASE_LOST" });
  assert.equal((await runs.find(run.id)).seq, seq);
});

test("invariant 8: a secret in a task, a reply or an output never reaches the journal", async (t) => {
  const secret = `ghp_${"a1B2".repeat(9)}`;
  const { runs, workspace } = await setUp(t, [
    shell(`echo ${secret.slice(0, 20)}''${secret.slice(20)}`),
    said(`it is ${secret}`),
  ]);
  const { run } = await runs.start({ task: `use ${secret}`, workspace });
  const entries = await finishRun(runs, run.id, ["yes"]);
  assert.equal(entries.at(-1)?.event.type, "run.finished");
  assert.ok(!JSON.stringify(entries).includes(secret));
});

test("an undriven run is aborted without its hand or its model", async (t) => {
  const { runs, workspace, journal } = await setUp(t, [shell("true"), said("done")]);
  const { run } = await runs.start({ task: "x", workspace });
  await until(runs, run.id, "question.asked");
  await runs.close();
  const gone = { close: async () => undefined } as unknown as Hand;
  const other = openRuns({ journal, model: scriptedModel([]), hand: gone });
  await other.abort(run.id, "enough");
  assert.equal((await other.find(run.id)).status, "aborted");
});

test("a bug inside an effect ends the run by name with a trace id, and the stack goes to the log", async (t) => {
  const silent: Model = {
    name: "silent",
    async *call() {
      yield { type: "delta", text: "…" };
    },
  };
  const { runs, workspace } = await setUp(t, silent);
  const { run } = await runs.start({ task: "x", workspace });
  const last = (await finishRun(runs, run.id, [])).at(-1)!.event;
  assert.ok(last.type === "run.failed" && last.fault.code === "INTERNAL_ERROR");
  assert.match(last.fault.message, /without a terminal event.*\(trace act_/);
});

test("a hand that cannot be reached is ordered again under the same id, and the healing is on record", async (t) => {
  let orders = 0;
  const ids = new Set<string>();
  const { runs, workspace } = await setUp(t, [shell("echo x >> effects.txt"), said("done")], (real) => ({
    async *perform(order, signal) {
      ids.add(order.action.id);
      if (++orders <= 2) yield { type: "failed", fault: { code: "HAND_UNAVAILABLE", message: "gone for a moment" } };
      else yield* real.perform(order, signal);
    },
  }));
  const { run } = await runs.start({ task: "x", workspace });
  const entries = await finishRun(runs, run.id, ["yes"]);
  assert.equal(orders, 3);
  assert.equal(ids.size, 1);
  assert.equal(types(entries).filter((type) => type === "heal.tried").length, 1);
  assert.equal(readFileSync(join(workspace, "effects.txt"), "utf8"), "x\n");
});

test("an outcome that is unknown is asked about before the run goes on", async (t) => {
  const { runs, workspace } = await setUp(t, [shell("true"), said("done")], () => ({
    async *perform() {
      yield { type: "unknown", fault: { code: "OUTCOME_UNKNOWN", message: "who knows" } };
    },
  }));
  const { run } = await runs.start({ task: "x", workspace });
  const entries = await finishRun(runs, run.id, ["yes"]);
  const asked = entries.flatMap(({ event }) => (event.type === "question.asked" ? [event.about.kind] : []));
  assert.deepEqual(asked, ["approval", "unknown"]);
  assert.equal(entries.at(-1)?.event.type, "run.finished");
});

test("a run whose journal is damaged is refused alone; the others are resumed", async (t) => {
  const { runs, workspace, journal, hand, folder } = await setUp(t, [shell("true"), said("done")]);
  const good = await runs.start({ task: "good", workspace });
  const bad = await runs.start({ task: "bad", workspace });
  for (const { run } of [good, bad]) await until(runs, run.id, "question.asked");
  await runs.close();
  const file = new DatabaseSync(join(folder, "journal.db"));
  const damage =
    "UPDATE entry SET body = replace(body, 'bad', 'mad') WHERE seq = 1 AND run = (SELECT number FROM run WHERE id = ?)";
  assert.equal(file.prepare(damage).run(bad.run.id).changes, 1);
  file.close();
  const second = openRuns({ journal, model: scriptedModel([shell("true"), said("done")]), hand });
  const recovered = await sweep(second);
  assert.equal(recovered.resumed, 1);
  assert.deepEqual(
    recovered.refused.map(({ run, fault }) => [run, fault.code]),
    [[bad.run.id, "JOURNAL_CORRUPT"]],
  );
  assert.equal((await finishRun(second, good.run.id, ["yes"])).at(-1)?.event.type, "run.finished");
});

test("a follow-up in the same thread is told what was said before", async (t) => {
  const model = scriptedModel([said("You have one disk."), said("It is empty.")]);
  const { runs, workspace } = await setUp(t, model);
  const first = await runs.start({ task: "how many disks?", workspace });
  await finishRun(runs, first.run.id, []);
  const second = await runs.start({ task: "and how full?", workspace, thread: first.run.thread });
  await finishRun(runs, second.run.id, []);
  assert.deepEqual(
    model.requests[1]?.turns.map((turn) => turn.text),
    ["how many disks?", "You have one disk.", "and how full?"],
  );
});
