import assert from "node:assert/strict";
import { test } from "node:test";
import type { ActionOutput, Hand, HandEvent, Order } from "@vidro/core";
import { redactor } from "@vidro/core/redact";
import { EffectWaits, endProcesses, performOrder } from "./perform-action.ts";

const SECRET = "hunter2-hunter2-hunter2";
const ORDER: Order = {
  action: { id: "act_1", callId: "c1", tool: "shell", input: { command: "x" } },
  epoch: 1,
  run: "run_1",
  ttlMs: 1000,
};
const FAILED: HandEvent = { type: "failed", fault: { code: "TOOL_FAILED", message: "no" }, settled: true };
const out = (chunk: string, stream: "stdout" | "stderr" = "stdout"): HandEvent => ({ type: "output", stream, chunk });

/** A hand that answers each order with these events, and what it was ordered. */
function handOf(answer: (order: Order) => readonly HandEvent[] | Error) {
  const orders: Order[] = [];
  const acknowledged: string[] = [];
  const hand = {
    id: "far",
    async *perform(order: Order) {
      orders.push(order);
      const events = answer(order);
      if (events instanceof Error) throw events;
      yield* events;
    },
    acknowledge: async (action: string) => void acknowledged.push(action),
  } as unknown as Hand;
  return { hand, orders, acknowledged };
}

async function published(events: readonly HandEvent[], isRepeated = false) {
  const told: ActionOutput[] = [];
  const end = await performOrder(handOf(() => events).hand, ORDER, {
    redactor: redactor([SECRET]),
    publish: (output) => told.push(output),
    isRepeated,
    signal: new AbortController().signal,
  });
  return { told, end };
}

/** All that was told of a stream, joined. */
const textOf = (told: readonly ActionOutput[], stream: string): string =>
  told
    .filter((one) => one.stream === stream)
    .map(({ chunk }) => chunk)
    .join("");

test("output is told by stream with its place, and the end of the order is what the hand said", async () => {
  const { told, end } = await published([out("one "), out("bad", "stderr"), out("two"), FAILED]);
  assert.deepEqual(end, FAILED);
  assert.equal(textOf(told, "stdout"), "one two");
  assert.equal(textOf(told, "stderr"), "bad");
  for (const stream of ["stdout", "stderr"]) {
    let place = 0;
    for (const { from, chunk, action } of told.filter((one) => one.stream === stream)) {
      assert.deepEqual([from, action], [place, "act_1"]);
      place += chunk.length;
    }
  }
});

test("a secret that is split over chunks at any place is told in no form", async () => {
  for (let cut = 1; cut < SECRET.length; cut += 1) {
    const { told } = await published([out(`a ${SECRET.slice(0, cut)}`), out(`${SECRET.slice(cut)} z`), FAILED]);
    const text = textOf(told, "stdout");
    assert.ok(text.startsWith("a ") && text.endsWith(" z") && !text.includes(SECRET), `cut at ${cut}: ${text}`);
  }
});

test("the streams do not mix: halves of a secret on two of them are two texts", async () => {
  const [one, other] = [SECRET.slice(0, 9), SECRET.slice(9)];
  const { told } = await published([out(one), out(other, "stderr"), FAILED]);
  assert.deepEqual([textOf(told, "stdout"), textOf(told, "stderr")], [one, other]);
});

test("output that may have been told before has no place", async () => {
  const { told } = await published([out("again"), FAILED], true);
  assert.ok(told.length > 0 && told.every((one) => !("from" in one)));
});

test("a hand that ends without a word is a bug of that hand, and is named", async () => {
  await assert.rejects(published([out("x")]), /The hand far ended its stream without a terminal event/);
});

test("every process of an ended run is ended, though one of the orders fails, and only ends are acknowledged", async () => {
  const order = (id: string): Order => ({ ...ORDER, action: { ...ORDER.action, id } });
  const finished = { type: "finished", outcome: { kind: "value", value: {} } } as unknown as HandEvent;
  const { hand, orders, acknowledged } = handOf(({ action: { id } }) => {
    if (id === "act_throws") return new Error("gone");
    return id === "act_fails" ? [FAILED] : [out("bye"), finished];
  });
  await endProcesses(hand, [order("act_throws"), order("act_fails"), order("act_ends")]);
  assert.ok(orders.length === 3 && orders.every(({ isEnding }) => isEnding === true));
  assert.deepEqual(acknowledged, ["act_ends"]);
  await endProcesses(hand, []);
});

test("a wait has the value or the error of its effect while the waits are not over", async () => {
  const waits = new EffectWaits();
  assert.equal(await waits.inTime(Promise.resolve(7), "late"), 7);
  await assert.rejects(waits.inTime(Promise.reject(new Error("no")), "late"), /no/);
});

test("ending the waits ends the one under way and those that come, and a late effect changes nothing", async () => {
  for (const settle of ["resolve", "reject"] as const) {
    const waits = new EffectWaits();
    const slow = Promise.withResolvers<string>();
    const under = waits.inTime(slow.promise, "given up");
    waits.end();
    assert.equal(await under, "given up");
    slow[settle]("late");
    await new Promise(setImmediate);
    assert.equal(await waits.inTime(Promise.withResolvers<string>().promise, "given up"), "given up");
    waits.end();
  }
});
