import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Fault, RUN_LIMITS } from "@vidro/core";
import { decide, fold } from "@vidro/core/run";
import type { Entry, Event, HandEvent } from "@vidro/core";
import { makeWorkspace, readScenario } from "../support/scenario.ts";
import { openHand, temporaryFolder } from "../support/local-runs.ts";

/* What comes late, twice or out of order. */

const SCENARIO = join(import.meta.dirname, "../scenarios/02-approved-effect.txt");

const started: Event = {
  type: "run.started",
  task: "x",
  system: "",
  agent: "bunny",
  model: "m",
  hand: "local",
  workspace: "/w",
  tools: [],
  budget: { steps: 9, actions: 9, tokens: 1e6, wallMs: RUN_LIMITS.wallMs },
  thread: "t",
  history: [],
};
const action = { id: "act_1", tool: "shell", input: { command: "true" }, callId: "c" };
const replied: Event = {
  type: "model.replied",
  model: "m",
  text: "",
  usage: { inputTokens: 0, outputTokens: 0 },
  action,
};
const acting: readonly Event[] = [
  started,
  { type: "model.called", step: 1, attempt: 1 },
  replied,
  {
    type: "policy.judged",
    action: "act_1",
    plan: { kind: "facts", facts: "x" },
    hash: "h",
    policy: "p",
    verdict: { decision: "allow", rule: "r", class: "read", reason: "" },
  },
  { type: "action.started", action, hand: "local" },
];
const finished: Event = { type: "action.finished", action: "act_1", outcome: { kind: "value", text: "ok" } };
const entries = (events: readonly Event[]): Entry[] =>
  events.map((event, index) => ({ seq: index + 1, at: index, event }));

test("F18 a second outcome, an outcome of another action or an answer to nothing cannot enter a journal", () => {
  const impossible: readonly Event[] = [
    { ...finished, action: "act_2" },
    { type: "question.answered", id: "q1", answer: "yes", by: "me" },
    started,
  ];
  for (const event of impossible) {
    assert.throws(
      () => fold(entries([...acting, event])),
      (thrown) => thrown instanceof Fault && thrown.code === "JOURNAL_CORRUPT",
      event.type,
    );
  }
  assert.throws(
    () => fold(entries([...acting, finished, finished])),
    (thrown) => thrown instanceof Fault && thrown.code === "JOURNAL_CORRUPT",
  );
});

test("F18 every phase has exactly one way on, whatever came before", () => {
  const all = entries([...acting, finished]);
  for (let cut = 1; cut <= all.length; cut++) {
    assert.ok(decide(fold(all.slice(0, cut))!, { run: "run_1", now: 100, chance: 0.5 }).do !== undefined);
  }
});

async function orderOnce(
  t: Parameters<typeof temporaryFolder>[0],
  ttlMs: number,
): Promise<{ events: HandEvent[]; workspace: string }> {
  const folder = temporaryFolder(t);
  const workspace = makeWorkspace(readScenario(SCENARIO), folder);
  const hand = await openHand(folder, workspace);
  const wanted = { ...action, input: { command: "echo x >> effects.txt" } };
  const judged = await hand.judge(wanted);
  assert.ok("hash" in judged);
  const order = { action: wanted, run: "run_1", epoch: 1, ttlMs, approved: judged.hash };
  const events: HandEvent[] = [];
  for await (const event of hand.perform(order, new AbortController().signal)) events.push(event);
  await hand.close();
  return { events, workspace };
}

test("F28 an order that comes too late, as after a night asleep, is refused and does nothing", async (t) => {
  const { events, workspace } = await orderOnce(t, 0);
  assert.equal(events.length, 1);
  assert.ok(events[0]?.type === "failed" && events[0].fault.code === "ACTION_EXPIRED");
  assert.ok(!existsSync(join(workspace, "effects.txt")));
});

test("F28 a run that slept for eight hours has not used up its time at work, and a question it asked has kept", () => {
  const night = 8 * 3_600_000;
  const asleep = [...entries(acting), { seq: 6, at: night, event: finished }];
  const woken = decide(fold(asleep)!, { run: "run_1", now: night + 1, chance: 0 });
  assert.ok(woken.do === "record" && woken.event.type === "model.called");
});
