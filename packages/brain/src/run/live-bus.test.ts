import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { FOLLOW_LIMITS } from "@vidro/core";
import type { Bus, LiveItem } from "@vidro/core";
import { memoryBus } from "../bus/memory-bus.ts";
import { liveBus } from "./live-bus.ts";

const delta = (after: number, from: number, text: string): LiveItem => ({
  after,
  event: { type: "model.delta", text, from },
});
const thought = (after: number, from: number, text: string): LiveItem => ({
  after,
  event: { type: "model.thinking", text, from },
});
const output = (after: number, chunk: string): LiveItem => ({
  after,
  event: { type: "action.output", action: "act_1", stream: "stdout", chunk },
});

/** What a follower that comes now hears at once. */
function heardAtOnce(bus: ReturnType<typeof liveBus>, run = "r"): readonly LiveItem[] {
  const heard: LiveItem[] = [];
  bus.watch(run, (live) => heard.push(live))();
  return heard;
}

/** Waits until messages of one turn have gone from brain to brain. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

test("every follower of a run hears each event once, in order, and none of another run", () => {
  const bus = liveBus();
  const [one, two, other]: LiveItem[][] = [[], [], []];
  bus.watch("r", (live) => one!.push(live));
  bus.watch("r", (live) => two!.push(live));
  bus.watch("s", (live) => other!.push(live));
  const said = [delta(1, 0, "a"), output(1, "x"), delta(1, 1, "b")];
  for (const live of said) bus.publish("r", live);
  assert.deepEqual([one, two, other], [said, said, []]);
});

test("an event without text is told to no follower", () => {
  const bus = liveBus();
  const heard: LiveItem[] = [];
  bus.watch("r", (live) => heard.push(live));
  for (const live of [delta(1, 0, ""), thought(1, 0, ""), output(1, "")]) bus.publish("r", live);
  assert.deepEqual(heard, []);
});

test("a follower that left hears nothing, also when it leaves twice or while it is told", () => {
  const bus = liveBus();
  const heard: string[] = [];
  const stop = bus.watch("r", () => heard.push("one"));
  const leaving = bus.watch("r", () => {
    heard.push("leaving");
    leaving();
  });
  bus.publish("r", output(1, "x"));
  stop();
  stop();
  bus.publish("r", output(1, "y"));
  assert.deepEqual(heard, ["one", "leaving"]);
});

test("who comes while a model speaks hears what it said since the last entry, its pieces joined", () => {
  const bus = liveBus();
  bus.publish("r", delta(3, 0, "old"));
  bus.publish("r", thought(4, 0, "hm"));
  bus.publish("r", thought(4, 2, "m"));
  bus.publish("r", delta(4, 0, "Good "));
  bus.publish("r", output(4, "not a word"));
  bus.publish("r", delta(4, 5, "day 💧"));
  assert.deepEqual(heardAtOnce(bus), [thought(4, 0, "hmm"), delta(4, 0, "Good day 💧")]);
  assert.deepEqual(heardAtOnce(bus, "s"), []);
});

test("the pieces that a late follower hears are those of any cut of the same words", () => {
  const words = "the quick brown fox jumps over the lazy dog";
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: words.length - 1 }), { maxLength: 10 }), (cuts) => {
      const bus = liveBus();
      const places = [0, ...cuts.toSorted((a, b) => a - b), words.length];
      for (const [index, from] of places.slice(0, -1).entries())
        bus.publish("r", delta(1, from, words.slice(from, places[index + 1])));
      assert.deepEqual(heardAtOnce(bus), [delta(1, 0, words)]);
    }),
  );
});

test("pieces that do not join are kept apart, up to their bound, and then from the last on", () => {
  const bus = liveBus();
  for (let piece = 0; piece < FOLLOW_LIMITS.recentPieces; piece += 1) bus.publish("r", delta(1, piece * 10, "x"));
  assert.equal(heardAtOnce(bus).length, FOLLOW_LIMITS.recentPieces);
  bus.publish("r", delta(1, 7, "y"));
  assert.deepEqual(heardAtOnce(bus), [delta(1, 7, "y")]);
});

test("the words of many runs are kept within one bound, and the oldest go first", () => {
  const bus = liveBus();
  const chars = FOLLOW_LIMITS.recentChars / 4;
  for (const run of ["a", "b", "c", "d"]) bus.publish(run, delta(1, 0, "w".repeat(chars)));
  assert.equal(heardAtOnce(bus, "a").length, 1);
  bus.publish("e", delta(1, 0, "w"));
  assert.deepEqual(
    ["a", "b", "c", "d", "e"].map((run) => heardAtOnce(bus, run).length),
    [0, 1, 1, 1, 1],
  );
});

test("a follower at another brain hears what is said from its coming on, in order", async () => {
  const address = `memory-${Math.random()}`;
  const [here, there] = [liveBus(memoryBus(address)), liveBus(memoryBus(address))];
  const heard: LiveItem[] = [];
  const stop = there.watch("r", (live) => heard.push(live));
  const said = [delta(1, 0, "a"), thought(1, 0, "b"), output(1, "c"), delta(1, 1, "d")];
  for (const live of said) here.publish("r", live);
  here.publish("s", delta(1, 0, "of another run"));
  await turn();
  assert.deepEqual(heard, said);
  stop();
  here.publish("r", output(1, "late"));
  await turn();
  assert.equal(heard.length, said.length);
});

test("events of one turn go to other brains in one message for each run", async () => {
  const sent: [topic: string, count: number][] = [];
  const inner = memoryBus(`memory-${Math.random()}`);
  const bus: Bus = { ...inner, publish: (topic, text) => void sent.push([topic, JSON.parse(text).length]) };
  const live = liveBus(bus);
  for (let at = 0; at < 100; at += 1) live.publish(at % 2 === 0 ? "r" : "s", output(1, "x"));
  await turn();
  live.publish("r", output(1, "y"));
  await turn();
  assert.deepEqual(sent, [
    ["live:{r}", 50],
    ["live:{s}", 50],
    ["live:{r}", 1],
  ]);
});

test("messages of another brain that are rubbish are left out, and whole ones among them are told", async () => {
  const address = `memory-${Math.random()}`;
  const [sender, live] = [memoryBus(address), liveBus(memoryBus(address))];
  const heard: LiveItem[] = [];
  live.watch("r", (item) => heard.push(item));
  const good = delta(1, 0, "good");
  const rubbish: readonly string[] = [
    "",
    "{",
    "null",
    "{}",
    '"text"',
    JSON.stringify([null, 7, [], {}, { after: 1 }, { after: "1", event: good.event }]),
    JSON.stringify([
      { after: 1, event: { type: "model.delta", text: 7 } },
      { after: 1, event: { type: "run.finished" } },
    ]),
    JSON.stringify([{ after: 1, event: { type: "action.output", chunk: "x", stream: "stdin" } }, good]),
  ];
  for (const text of rubbish) sender.publish("live:{r}", text);
  await turn();
  assert.deepEqual(heard, [good]);
});

test("a brain whose last follower has left is subscribed no more, and is again with the next", async () => {
  let subscribed = 0;
  const inner = memoryBus(`memory-${Math.random()}`);
  const bus: Bus = {
    ...inner,
    subscribe(topic, hear) {
      const stop = inner.subscribe(topic, hear);
      subscribed += 1;
      return () => {
        subscribed -= 1;
        stop();
      };
    },
  };
  const live = liveBus(bus);
  const [one, two] = [live.watch("r", () => undefined), live.watch("r", () => undefined)];
  assert.equal(subscribed, 1);
  one();
  one();
  assert.equal(subscribed, 1);
  two();
  assert.equal(subscribed, 0);
  two();
  const again = live.watch("r", () => undefined);
  two();
  assert.equal(subscribed, 1);
  again();
  assert.equal(subscribed, 0);
});
