import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry, LiveItem, Model, ModelReply, RunStarted } from "@vidro/core";
import { redactor } from "@vidro/core/redact";
import { memoryStore } from "../stores/memory.ts";
import { thisHolder } from "../stores/lease-holder.ts";
import { RunLoop } from "./engine.ts";
import { lateHand } from "./late-ports.ts";
import { liveBus } from "./live-bus.ts";
import { openingEntries } from "./opening-entries.ts";

const RUN = "run_1";
const USAGE = { inputTokens: 1, outputTokens: 1 };
const STARTED: RunStarted = {
  type: "run.started",
  task: "say hello",
  system: "",
  agent: "bunny",
  model: "m",
  hand: "none",
  workspace: "/",
  tools: [],
  budget: { steps: 5, actions: 5, tokens: 1000, wallMs: 60_000 },
  thread: "t",
  history: [],
};

/** A loop over a real store, and all that it published and reported. */
async function loopWith(call: Model["call"]) {
  const { journal } = memoryStore();
  const live = liveBus();
  const published: LiveItem[] = [];
  live.watch(RUN, (item) => published.push(item));
  const reported: unknown[] = [];
  let ids = 0;
  const deps = {
    journal,
    model: { name: "m", call },
    hand: lateHand(STARTED, () => Promise.reject(new Error("there is no hand"))),
    live,
    redactor: redactor(["hunter2-hunter2"]),
    now: Date.now,
    chance: () => 0,
    newActionId: () => `act_${(ids += 1)}`,
    report: (_: string, thrown: unknown) => void reported.push(thrown),
  };
  const { entries, state } = openingEntries(RUN, STARTED, deps);
  const { lease } = await journal.create({ id: RUN, owner: "local", thread: "t" }, entries, thisHolder());
  const read = (): Promise<readonly Entry[]> => journal.read(RUN, 0, 100);
  return { loop: new RunLoop(deps, lease!, state), journal, read, published, reported };
}

const reply = (text: string): ModelReply => ({ model: "m", text, calls: [], usage: USAGE });

test("the intent of a model call is durable before the model is called", async () => {
  let before: readonly Entry[] = [];
  const { loop, read } = await loopWith(async function* () {
    before = await read();
    yield { type: "replied", reply: reply("hello") };
  });
  await loop.run();
  assert.equal(before.at(-1)?.event.type, "model.called");
  assert.deepEqual((await read()).at(-1)?.event, { type: "run.finished", result: "hello" });
});

test("published text joins to the recorded text, and neither has a secret", async () => {
  const { loop, read, published } = await loopWith(async function* () {
    for (const text of ["the word is hun", "ter2-hunter2", " and no other"]) yield { type: "delta", text };
    yield { type: "replied", reply: reply("the word is hunter2-hunter2 and no other") };
  });
  await loop.run();
  const text = published.map(({ event }) => (event.type === "model.delta" ? event.text : "")).join("");
  const replied = (await read()).find(({ event }) => event.type === "model.replied")?.event;
  assert.equal(replied?.type === "model.replied" ? replied.text : "", text);
  assert.doesNotMatch(text, /hunter2/);
});

test("a model that throws fails its run with a trace id, and its error is reported", async () => {
  const { loop, read, reported } = await loopWith(async function* () {
    yield { type: "delta", text: "he" };
    throw new Error("out of order");
  });
  await loop.run();
  const end = (await read()).at(-1)?.event;
  assert.match(end?.type === "run.failed" ? end.fault.message : "", /out of order \(trace act_\d+\)/);
  assert.match(String(reported[0]), /out of order/);
});

test("a stopped loop leaves its run open and releases the lease; an aborted one records the end", async () => {
  const called = Promise.withResolvers<void>();
  const waiting: Model["call"] = async function* (_, signal) {
    called.resolve();
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    yield { type: "failed", fault: { code: "MODEL_CUT", message: "aborted" } };
  };
  const stopped = await loopWith(waiting);
  const driving = stopped.loop.run();
  await called.promise;
  stopped.loop.stop();
  await driving;
  assert.deepEqual([(await stopped.journal.head(RUN))?.status, await stopped.journal.undriven(9)], ["running", [RUN]]);
  const aborted = await loopWith(waiting);
  aborted.loop.abort("enough");
  await aborted.loop.run();
  assert.deepEqual((await aborted.read()).at(-1)?.event, { type: "run.aborted", reason: "enough" });
});

test("an answer is refused while no question is open", async () => {
  const { loop } = await loopWith(async function* () {
    yield { type: "replied", reply: reply("hello") };
  });
  await assert.rejects(loop.answer({ text: "yes", by: "me" }), { code: "CONFLICT" });
});
