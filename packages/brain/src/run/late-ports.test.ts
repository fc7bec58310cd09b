import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@vidro/core";
import type { Action, Hand, HandEvent, Order, RunStarted } from "@vidro/core";
import { startedEvent } from "../stores/journal.fixture.ts";
import { factsOfRun } from "./facts-of-run.ts";
import { allowAlways, lateHand, NO_MODEL } from "./late-ports.ts";
import { runBudget, unpricedModel } from "./run-budget.ts";
import { generationOf, newRun, originOf } from "./run-origin.ts";

const ACTION: Action = { id: "act_1", callId: "c", tool: "shell", input: {} };
const ORDER: Order = { action: ACTION, epoch: 1, run: "run_1", ttlMs: 1 };
const STARTED = { ...startedEvent("x"), hand: "far", workspace: "/w" } as RunStarted;
const signal = new AbortController().signal;

/** A hand that does everything at once. */
const WHOLE = {
  id: "far",
  judge: async () => ({ hash: "h" }),
  async *perform(): AsyncGenerator<HandEvent> {
    yield { type: "output", stream: "stdout", chunk: "x" };
    yield { type: "failed", fault: { code: "TOOL_FAILED", message: "no" } };
  },
  acknowledge: async () => undefined,
} as unknown as Hand;

test("a hand that cannot be opened is away for every use, and says which hand it is and why", async () => {
  const hand = lateHand(STARTED, () => Promise.reject(new Fault("NOT_FOUND", "There is no such hand.")));
  const fault = {
    code: "HAND_UNAVAILABLE",
    message: "The hand far cannot be used (NOT_FOUND): There is no such hand.",
  };
  assert.deepEqual(await hand.judge(ACTION), fault);
  assert.deepEqual(await Array.fromAsync(hand.perform(ORDER, signal)), [{ type: "failed", fault }]);
  assert.deepEqual(await hand.allowAlways?.(ACTION, "h"), fault);
  await hand.acknowledge("act_1");
  hand.watch?.(() => assert.fail("there is no hand that could wake"))();
  await hand.close();
  assert.deepEqual([hand.id, hand.workspace, hand.tools], ["far", "/w", STARTED.tools]);
});

test("each use tries to open it again, and once it is open it is opened no more", async () => {
  let opens = 0;
  const hand = lateHand(STARTED, async () => {
    opens += 1;
    if (opens < 3) throw new Fault("HAND_UNAVAILABLE");
    return WHOLE;
  });
  for (const _ of ["once", "twice"]) assert.ok("code" in (await hand.judge(ACTION)));
  assert.deepEqual(await hand.judge(ACTION), { hash: "h" });
  assert.equal((await Array.fromAsync(hand.perform(ORDER, signal))).length, 2);
  assert.equal(opens, 3);
});

test("a hand whose policy is the host's own adds no rule from here, and says how it is done there", async () => {
  const refused = await allowAlways(WHOLE, ACTION, "h");
  assert.ok(typeof refused === "object" && refused.code === "POLICY_DENIED");
  assert.match(refused.message, /The policy of far .*vidro policy add/);
  assert.equal(await allowAlways({ ...WHOLE, allowAlways: async () => "rule-7" }, ACTION, "h"), "rule-7");
  const late = lateHand(STARTED, async () => WHOLE);
  assert.deepEqual(await late.allowAlways?.(ACTION, "h"), refused);
});

test("the model of a run that is taken over to be aborted only fails", async () => {
  const events = await Array.fromAsync(NO_MODEL.call({ system: "", turns: [], tools: [] }, signal));
  assert.deepEqual(
    events.map((event) => event.type === "failed" && event.fault.code),
    ["MODEL_UNAVAILABLE"],
  );
});

test("a budget is what was asked for, and the usual bounds for all else", () => {
  const usual = runBudget();
  assert.deepEqual(runBudget({}), usual);
  assert.deepEqual(runBudget({ steps: 1, costUsd: 2 }), { ...usual, steps: 1, costUsd: 2 });
  assert.deepEqual([unpricedModel("m").code, unpricedModel("m").message.includes("m")], ["MODEL_UNPRICED", true]);
});

test("facts are told to a model that reads them, with the day in UTC, and not to one that does not", async () => {
  const hand = { ...WHOLE, surroundings: async () => ({ system: "Linux" }) } as unknown as Hand;
  const reads = { ...NO_MODEL, summarises: true } as const;
  const late = Date.UTC(2026, 10, 18, 23, 59, 59, 999);
  assert.deepEqual(await factsOfRun(reads, hand, late), { facts: { system: "Linux", date: "2026-11-18" } });
  assert.deepEqual(await factsOfRun(reads, hand, late + 1), { facts: { system: "Linux", date: "2026-11-19" } });
  assert.deepEqual(await factsOfRun(NO_MODEL, hand, late), {});
  assert.deepEqual(await factsOfRun(reads, WHOLE, late), {});
  const silent = { ...hand, surroundings: async () => ({}) } as unknown as Hand;
  assert.deepEqual(await factsOfRun(reads, silent, late), {});
});

test("a helper has the trace of its parent, and a text that is no trace is left out", () => {
  const traces = { isTrace: (text: string) => text.startsWith("00-"), traceparent: () => "00-x" };
  const parent = { run: "run_1", action: "act_1", seq: 3, depth: 1 };
  assert.deepEqual(originOf({ helper: { parent, trace: "00-a" } }, { traces }), { parent, trace: "00-a" });
  assert.deepEqual(originOf({ helper: { parent, trace: "rubbish" } }, { traces }), { parent });
  assert.deepEqual(originOf({ helper: { parent, trace: "00-a" } }, {}), { parent });
  assert.deepEqual(originOf({}, { traces }), {});
});

test("a new run belongs to the person at this machine unless an owner is named, and only a later generation is told", () => {
  assert.deepEqual(newRun("r", "t", {}), { id: "r", owner: "local", thread: "t" });
  assert.deepEqual(newRun("r", "t", { owner: "ana", key: "k", sole: "s" }), {
    id: "r",
    owner: "ana",
    thread: "t",
    key: "k",
    sole: "s",
  });
  assert.deepEqual(
    [generationOf({}), generationOf({ generation: 1 }), generationOf({ generation: 2 })],
    [{}, {}, { generation: 2 }],
  );
});
