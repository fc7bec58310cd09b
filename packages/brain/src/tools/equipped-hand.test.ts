import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { canonicalJson, Fault } from "@vidro/core";
import type { Action, Hand, HandEvent, Judgement, Order, ToolSpec } from "@vidro/core";
import type { BrainTool } from "./brain-tool.ts";
import { equippedHand } from "./equipped-hand.ts";

const spec = (name: string): ToolSpec => ({ name, description: name, parameters: {}, idempotent: true });
const LOOK: Action = { id: "act_1", callId: "c", tool: "look", input: { at: "sky" } };

/** A tool of the brain whose work is that of the test. */
function brainTool(run: BrainTool["run"], more: Partial<BrainTool> = {}): BrainTool {
  return { spec: spec("look"), class: "read", reason: "it looks", check: () => undefined, run, ...more };
}

const DONE = { kind: "value", text: "done", data: null } as const;
const doneTool = (more: Partial<BrainTool> = {}): BrainTool => brainTool(async () => DONE, more);

/** A hand with the tool `shell` that tells each call of it. */
function plainHand(more: Partial<Hand> = {}): { readonly hand: Hand; readonly calls: string[] } {
  const calls: string[] = [];
  const hand: Hand = {
    id: "hand_1",
    workspace: "/w",
    tools: [spec("shell")],
    judge: async ({ tool }) => (calls.push(`judge ${tool}`), new Fault("POLICY_DENIED").report()),
    async *perform({ action }) {
      calls.push(`perform ${action.tool}`);
      yield { type: "finished", outcome: DONE };
    },
    acknowledge: async (action) => void calls.push(`acknowledge ${action}`),
    close: async () => void calls.push("close"),
    ...more,
  };
  return { hand, calls };
}

const orderOf = (action: Action): Order => ({ run: "run_1", action, epoch: 1, ttlMs: 1000 });
const ownerOf = async (): Promise<string> => "ana";

async function eventsOf(hand: Hand, action = LOOK, signal = new AbortController().signal): Promise<HandEvent[]> {
  return Array.fromAsync(hand.perform(orderOf(action), signal));
}

test("tools of the brain are added to those of the hand, and a hand with such a tool keeps its own", async () => {
  const { hand, calls } = plainHand();
  const equipped = equippedHand(hand, [doneTool(), doneTool({ spec: spec("shell") })], ownerOf);
  assert.deepEqual(
    equipped.tools.map(({ name }) => name),
    ["shell", "look"],
  );
  await equipped.judge({ ...LOOK, id: "act_2", tool: "shell" });
  await eventsOf(equipped, { ...LOOK, id: "act_2", tool: "shell" });
  await equipped.acknowledge("act_2");
  await equipped.close();
  assert.deepEqual(calls, ["judge shell", "perform shell", "acknowledge act_2", "close"]);
});

test("what a hand cannot do, the equipped hand does not claim to do; what it can is passed on", async () => {
  const bare = equippedHand(plainHand().hand, [doneTool()], ownerOf);
  for (const name of ["watch", "allowAlways", "surroundings", "receiptKey"]) assert.ok(!(name in bare), name);
  let woken = 0;
  const { hand } = plainHand({
    watch: (wake) => (wake(), () => void (woken += 10)),
    allowAlways: async (action, approved) => `${action.id} ${approved}`,
    surroundings: async () => ({ system: "linux" }),
    receiptKey: "key",
  });
  const whole = equippedHand(hand, [doneTool()], ownerOf);
  whole.watch!(() => void (woken += 1))();
  assert.equal(woken, 11);
  assert.equal(await whole.allowAlways!(LOOK, "hash"), "act_1 hash");
  assert.deepEqual([await whole.surroundings!(), whole.receiptKey], [{ system: "linux" }, "key"]);
});

test("a plan of a tool of the brain is allowed by the tool's own rule and bound to the hash of the plan", async () => {
  const tool = doneTool({ runs: ({ id }) => [`run_of_${id}`] });
  const { hand, calls } = plainHand();
  const judged = (await equippedHand(hand, [tool], ownerOf).judge(LOOK)) as Judgement;
  const plan = { kind: "order", tool: "look", input: { at: "sky" }, runs: ["run_of_act_1"] };
  assert.deepEqual(judged, {
    plan,
    verdict: { decision: "allow", rule: "look", class: "read", reason: "it looks" },
    policy: "brain",
    hash: createHash("sha256").update(canonicalJson(plan)).digest("hex"),
  });
  const plain = (await equippedHand(hand, [doneTool()], ownerOf).judge(LOOK)) as Judgement;
  assert.ok(!("runs" in plain.plan));
  assert.deepEqual(calls, [], "the hand is not asked");
});

test("an input that the tool refuses is refused when it is judged and again when it is ordered", async () => {
  const check = (): never => {
    throw new Fault("BAD_ARGUMENTS", "look: at is a place.");
  };
  const tool = brainTool(() => assert.fail("it may not run"), { check });
  const equipped = equippedHand(plainHand().hand, [tool], ownerOf);
  const fault = { code: "BAD_ARGUMENTS", message: "look: at is a place." };
  assert.deepEqual(await equipped.judge(LOOK), fault);
  assert.deepEqual(await eventsOf(equipped), [{ type: "failed", fault, settled: true }]);
});

test("whatever a tool of the brain throws is one settled failure at the end of its output", async () => {
  const ends = async (run: BrainTool["run"], owner = ownerOf): Promise<HandEvent[]> =>
    eventsOf(equippedHand(plainHand().hand, [brainTool(run)], owner));
  const [shown, failed, ...more] = await ends(async (_, { show }) => {
    show("began");
    throw new TypeError("x is not a function");
  });
  assert.deepEqual(shown, { type: "output", stream: "stdout", chunk: "began" });
  assert.deepEqual([failed?.type, failed?.type === "failed" && failed.fault.code, more], ["failed", "TOOL_FAILED", []]);
  const [known] = await ends(async () => Promise.reject(new Fault("HAND_UNAVAILABLE", "later")));
  assert.equal(known?.type === "failed" && known.fault.code, "HAND_UNAVAILABLE");
  const [unread] = await ends(
    async () => DONE,
    async () => Promise.reject(new Fault("STORE_UNREADABLE", "no store")),
  );
  assert.equal(unread?.type === "failed" && unread.fault.code, "STORE_UNREADABLE");
});

test("a tool knows its run, its owner and its action, hears of the abort, and says what helpers used", async () => {
  const stop = new AbortController();
  let seen: unknown;
  const tool = brainTool(async (_, { run, owner, action, signal, spend }) => {
    seen = { run, owner, action };
    stop.abort();
    assert.ok(signal.aborted);
    spend({ tokens: 5, costUsd: 1 });
    return DONE;
  });
  const events = await eventsOf(equippedHand(plainHand().hand, [tool], ownerOf), LOOK, stop.signal);
  assert.deepEqual(seen, { run: "run_1", owner: "ana", action: "act_1" });
  assert.deepEqual(events, [{ type: "finished", outcome: DONE, used: { tokens: 5, costUsd: 1 } }]);
});

test("what a tool shows while a reader takes its time with an earlier chunk comes without waiting for more", async () => {
  const [release, started] = [Promise.withResolvers<void>(), Promise.withResolvers<(text: string) => void>()];
  const tool = brainTool(async (_, { show }) => {
    started.resolve(show);
    await release.promise;
    return DONE;
  });
  const stream = equippedHand(plainHand().hand, [tool], ownerOf).perform(orderOf(LOOK), new AbortController().signal);
  const events = stream[Symbol.asyncIterator]();
  const first = events.next();
  const show = await started.promise;
  show("one");
  assert.deepEqual((await first).value, { type: "output", stream: "stdout", chunk: "one" });
  // The reader has not asked for more yet.
  show("two");
  show("three");
  const timer = setTimeout(() => release.resolve(), 2000);
  for (const chunk of ["two", "three"])
    assert.deepEqual((await events.next()).value, { type: "output", stream: "stdout", chunk });
  let isOver = false;
  const last = events.next().finally(() => (isOver = true));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isOver, false, "the tool still works: the chunks did not come with its end");
  clearTimeout(timer);
  release.resolve();
  assert.equal(((await last).value as HandEvent).type, "finished");
});
