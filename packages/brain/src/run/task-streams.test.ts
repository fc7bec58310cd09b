import assert from "node:assert/strict";
import { test } from "node:test";
import { BUS_LIMITS } from "@vidro/core";
import type { Bus, JsonObject, LiveItem } from "@vidro/core";
import { memoryBus } from "../bus/memory-bus.ts";
import { entry, rejects, startedEvent } from "../stores/journal.fixture.ts";
import { thisHolder } from "../stores/lease-holder.ts";
import { memoryStore } from "../stores/memory.ts";
import { liveBus } from "./live-bus.ts";
import { TaskStreams } from "./task-streams.ts";

const RUN = { id: "run_1", owner: "ana", thread: "t" };
const output = (after: number, chunk: string): LiveItem => ({
  after,
  event: { type: "action.output", action: "act_1", stream: "stdout", chunk },
});

/** A journal whose entries are streamed, and what is in the streams. */
function stage() {
  const items: { stream: string; place: readonly number[]; said: JsonObject }[] = [];
  const bus: Bus = {
    ...memoryBus(`memory-${Math.random()}`),
    append: (stream, { place, text }) => void items.push({ stream, place, said: JSON.parse(text) }),
  };
  const streams = new TaskStreams(bus);
  const { journal: inner } = memoryStore();
  const journal = streams.journal(inner);
  const live = streams.live(liveBus());
  const begin = async () => {
    const { lease } = await journal.create(RUN, [entry(1, startedEvent("x"))], thisHolder());
    return lease ?? assert.fail();
  };
  return { items, inner, journal, live, begin };
}

const places = (items: readonly { place: readonly number[] }[]): readonly string[] =>
  items.map(({ place }) => place.join("-"));

test("each entry is at its seq, and live events are behind the entry that they came after", async () => {
  const { items, journal, live, begin } = stage();
  const lease = await begin();
  live.publish("run_1", output(1, "a"));
  live.publish("run_1", output(1, "b"));
  await journal.append(lease, [entry(2), entry(3)]);
  live.publish("run_1", output(3, "c"));
  assert.deepEqual(places(items), ["1-0", "1-1", "1-2", "2-0", "3-0", "3-1"]);
  assert.ok(items.every(({ stream }) => stream === "task:{run_1}:events"));
  assert.deepEqual(items[1]?.said, { after: 1, live: output(1, "a").event });
  assert.deepEqual(items[3]?.said, entry(2) as unknown as JsonObject);
});

test("places only grow: a live event of an older entry, of one to come, or of an unknown run is left out", async () => {
  const { items, journal, live, begin } = stage();
  const lease = await begin();
  await journal.append(lease, [entry(2)]);
  for (const after of [1, 3]) live.publish("run_1", output(after, "x"));
  live.publish("run_2", output(2, "x"));
  assert.deepEqual(places(items), ["1-0", "2-0"]);
});

test("nothing is streamed of what the store refused", async () => {
  const { items, journal, inner, begin } = stage();
  const lease = await begin();
  await rejects(journal.append(lease, [entry(5)]), "CONFLICT");
  await inner.append(lease, [entry(2)]);
  await rejects(journal.append(lease, [entry(2, { type: "note.observed", note: "other" })]), "CONFLICT");
  assert.deepEqual(places(items), ["1-0"]);
});

test("a run that its key found again is not streamed a second time", async () => {
  const { items, journal } = stage();
  for (const id of ["run_1", "run_2"])
    await journal.create({ ...RUN, id, key: "k" }, [entry(1, startedEvent("x"))], thisHolder());
  assert.deepEqual(
    items.map(({ stream }) => stream),
    ["task:{run_1}:events"],
  );
});

test("an entry larger than an item may be is streamed by its type, and one of that size is whole", async () => {
  const { items, journal, begin } = stage();
  const lease = await begin();
  const bare = JSON.stringify(entry(2, { type: "note.observed", note: "" })).length;
  const note = "n".repeat(BUS_LIMITS.itemChars - bare);
  await journal.append(lease, [entry(2, { type: "note.observed", note })]);
  await journal.append(lease, [entry(3, { type: "note.observed", note: `${note}n` })]);
  assert.equal(JSON.stringify(items[1]?.said).length, BUS_LIMITS.itemChars);
  assert.deepEqual(items[2]?.said, { seq: 3, at: 1003, event: { type: "note.observed" } });
});

test("after its end a run has no live events, and followers here hear every one", async () => {
  const { items, journal, live, begin } = stage();
  const heard: LiveItem[] = [];
  live.watch("run_1", (item) => heard.push(item));
  const lease = await begin();
  await journal.append(lease, [entry(2, { type: "run.finished", result: "ok" })]);
  live.publish("run_1", output(2, "late"));
  assert.deepEqual(places(items), ["1-0", "2-0"]);
  assert.equal(heard.length, 1);
});
