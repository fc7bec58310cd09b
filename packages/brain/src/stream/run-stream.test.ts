import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { Fault, STREAM_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { Wakeup } from "../run/wakeup.ts";
import { feedFor } from "./feed.ts";
import { JOURNAL_ENCODERS } from "../north/journal/entries.ts";
import { linesIn, Shown } from "../north/run-viewer.fixture.ts";
import type { RunEncoder } from "./run-encoder.ts";

const PLAIN = JOURNAL_ENCODERS.ndjson.live;
const bytesOf = async (url: string): Promise<Uint8Array> => new Uint8Array(await (await fetch(url)).arrayBuffer());
const seqs = (lines: readonly JsonObject[]): unknown[] => lines.flatMap(({ seq }) => seq ?? []);
const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, index) => from + index);

test("G5 G6 a follower gets every entry once and in order, and the stream ends with the last one", async (t) => {
  const shown = await new Shown().open(t);
  await shown.notes(3);
  const whole = shown.lines();
  await shown.notes(2000);
  await shown.finish();
  assert.deepEqual(seqs(await whole), range(1, 2005));
});

test("G5 followers that come at any time with any cursor get what they do not have, each entry once", async (t) => {
  const moment = fc.record({ notes: fc.integer({ min: 0, max: 900 }), back: fc.integer({ min: 0, max: 1500 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(moment, { minLength: 1, maxLength: 8 }), async (moments) => {
      const shown = await new Shown().open(t);
      const following: { after: number; lines: Promise<JsonObject[]> }[] = [];
      for (const { notes, back } of moments) {
        if (notes > 0) await shown.notes(notes);
        const after = Math.max(0, shown.seq - back);
        following.push({ after, lines: shown.lines(after) });
        await new Promise((resolve) => setImmediate(resolve));
      }
      await shown.finish();
      for (const { after, lines } of following) assert.deepEqual(seqs(await lines), range(after + 1, shown.seq));
      assert.equal(shown.watching, 0);
    }),
    { numRuns: 15 },
  );
});

test("an entry is encoded once, however many follow", async (t) => {
  const shown = await new Shown().open(t);
  let encoded = 0;
  const counting: RunEncoder = { ...PLAIN, entry: (entry, run) => (encoded++, PLAIN.entry(entry, run)) };
  shown.more = { encoder: counting };
  const all = Array.from({ length: 50 }, () => shown.lines());
  while (shown.responses.length < 50) await new Promise((resolve) => setImmediate(resolve));
  await shown.notes(300);
  await shown.finish();
  for (const lines of await Promise.all(all)) assert.deepEqual(seqs(lines), range(1, 302));
  // Those who connect one after the other may each read the first entry anew.
  assert.ok(encoded < 302 + 50, `${encoded} times for 302 entries`);
});

test("F13 a follower that does not read is fed no more, costs the others nothing, and can come back", async (t) => {
  const shown = await new Shown().open(t);
  shown.more = { drainMs: 150 };
  const slow = shown.connect();
  while (shown.responses.length < 1) await new Promise((resolve) => setImmediate(resolve));
  shown.more = {};
  const [response] = shown.responses;
  const whole = shown.lines();
  let unsent = 0;
  for (let turn = 0; turn < 300; turn += 1) {
    await shown.notes(10, 4000);
    await new Promise((resolve) => setImmediate(resolve));
    unsent = Math.max(unsent, response?.writableLength ?? 0);
  }
  await shown.finish();
  assert.deepEqual(seqs(await whole), range(1, shown.seq));
  assert.ok(
    unsent > STREAM_LIMITS.unsentBytes && unsent < 2 * STREAM_LIMITS.unsentBytes,
    `${unsent} bytes were unsent`,
  );
  await shown.ends[0];
  assert.equal(response?.destroyed, true);
  const chunks: Buffer[] = [];
  slow.on("data", (chunk: Buffer) => chunks.push(chunk)).resume();
  await once(slow, "close");
  const got =
    Buffer.concat(chunks)
      .toString()
      .match(/"seq":(\d+)/g)
      ?.map((found) => Number(found.slice(6))) ?? [];
  assert.deepEqual(got, range(1, got.length));
  assert.ok(got.length < shown.seq);
  assert.deepEqual(seqs(await shown.lines(got.length)), range(got.length + 1, shown.seq));
});

test("a follower that pauses and reads on gets all of it", async (t) => {
  const shown = await new Shown().open(t);
  const slow = shown.connect();
  const chunks: Buffer[] = [];
  for (let turn = 0; turn < 200; turn += 1) {
    await shown.notes(10, 4000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await shown.finish();
  slow.on("data", (chunk: Buffer) => chunks.push(chunk)).resume();
  await once(slow, "close");
  const got = Buffer.concat(chunks)
    .toString()
    .match(/"seq":(\d+)/g)?.length;
  assert.equal(got, shown.seq);
});

test("F13 slow followers that are at different places of a long run share what is read and encoded for them", async (t) => {
  const reads: number[] = [];
  const shown = await new Shown((journal) => ({
    read: (run, after, limit) => (reads.push(after), journal.read(run, after, limit)),
  })).open(t);
  for (let turn = 0; turn < 30; turn += 1) await shown.notes(100, 4000);
  await shown.finish();
  let encoded = 0;
  shown.more = { encoder: { ...PLAIN, entry: (entry, run) => (encoded++, PLAIN.entry(entry, run)) } };
  const slow = Array.from({ length: 30 }, (_, index) => shown.connect(index * 37));
  while (
    shown.responses.filter(({ writableLength }) => writableLength > STREAM_LIMITS.unsentBytes).length < slow.length
  )
    await new Promise((resolve) => setImmediate(resolve));
  // One after the other reads on to the end, so that each wants what the others wanted at other times.
  for (const [index, socket] of slow.entries()) {
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1"))).resume();
    await once(socket, "close");
    const got = text.match(/"seq":(\d+)/g)?.map((found) => Number(found.slice(6)));
    assert.deepEqual(got, range(index * 37 + 1, shown.seq));
  }
  assert.equal(encoded, shown.seq);
  assert.equal(reads.length, Math.ceil(shown.seq / STREAM_LIMITS.windowEntries));
});

test("windows beyond the bound of what is kept are read anew, and every follower still gets all of it", async (t) => {
  const shown = await new Shown().open(t);
  const chars = STREAM_LIMITS.keptBytes / 100;
  for (let turn = 0; turn < 3; turn += 1) await shown.notes(STREAM_LIMITS.windowEntries, chars);
  await shown.finish();
  let encoded = 0;
  shown.more = { encoder: { ...PLAIN, entry: (entry, run) => (encoded++, PLAIN.entry(entry, run)) } };
  for (const after of [0, 70])
    assert.deepEqual(seqs(linesIn(await bytesOf(shown.url(after)))), range(after + 1, shown.seq));
  assert.ok(encoded > shown.seq, "not all of it was kept");
});

test("a large entry reaches a crowd in many turns of the event loop, so that others have their time between", async (t) => {
  const shown = await new Shown().open(t);
  const written = (): number => shown.responses.reduce((sum, { socket }) => sum + (socket?.bytesWritten ?? 0), 0);
  const crowd = Array.from({ length: 50 }, () => shown.lines());
  while (shown.responses.filter((response) => response.headersSent).length < crowd.length)
    await new Promise((resolve) => setImmediate(resolve));
  const chars = STREAM_LIMITS.turnBytes / 2;
  let most = 0;
  const over = new AbortController();
  const turning = (async () => {
    for (let before = written(); !over.signal.aborted; before = written()) {
      await new Promise((resolve) => setImmediate(resolve));
      most = Math.max(most, written() - before);
    }
  })();
  await shown.notes(1, chars);
  await shown.finish();
  for (const lines of await Promise.all(crowd)) assert.deepEqual(seqs(lines), [1, 2, 3]);
  over.abort();
  await turning;
  // Two turns may pass between two looks, and the last entry of a turn goes beyond its bound.
  assert.ok(most <= 2 * (STREAM_LIMITS.turnBytes + 2 * chars), `${most} bytes in one turn`);
});

test("in silence the stream shows that it lives", async (t) => {
  const shown = await new Shown().open(t);
  shown.more = { encoder: { ...PLAIN, heartbeat: (run) => `{"alive":"${run}"}\n`, heartbeatMs: 10 } };
  const response = await fetch(shown.url());
  let text = "";
  for await (const chunk of response.body!) {
    text += Buffer.from(chunk).toString();
    if (text.split("alive").length === 4) break;
  }
  assert.match(text, /^\{"type":"status",.*"seq":1.*\}\n(\{"alive":"run_shown"\}\n)+/);
});

test("invariant 6: live events come between their entries and are not kept", async (t) => {
  const shown = await new Shown().open(t);
  const whole = shown.lines();
  while (shown.watching < 1) await new Promise((resolve) => setImmediate(resolve));
  shown.live.publish(shown.run, { after: 1, event: { type: "model.delta", text: "so", from: 0 } });
  await shown.notes(1);
  await shown.finish();
  const kinds = (await whole).map((line) => line["seq"] ?? line["live"]);
  assert.deepEqual(kinds, [1, { type: "model.delta", text: "so", from: 0 }, 2, 3]);
  assert.deepEqual(seqs(await shown.lines()), [1, 2, 3]);
});

test("G5 a cursor beyond the journal is told to start over, and a gap in what is kept is told, too", async (t) => {
  const shown = await new Shown().open(t);
  await shown.finish();
  const [first, ...rest] = await shown.lines(9);
  assert.equal(first?.["resync"], 1);
  assert.deepEqual(seqs(rest), [1, 2]);
  const forgetful = await new Shown((journal) => ({
    read: (run, after, limit) => journal.read(run, Math.max(after, 3), limit),
  })).open(t);
  await forgetful.notes(4);
  await forgetful.finish();
  const lines = await forgetful.lines(1);
  assert.equal(lines[0]?.["resync"], 4);
  assert.deepEqual(seqs(lines), [4, 5, 6]);
});

test("a follower whose cursor is at the terminal entry gets a 204, so that a browser does not reconnect", async (t) => {
  const shown = await new Shown().open(t);
  await shown.finish();
  const response = await fetch(shown.url(2));
  assert.equal(response.status, 204);
  assert.equal(await response.text(), "");
});

test("a journal that cannot be read is told as the end", async (t) => {
  const shown = await new Shown(() => ({
    read: async () => {
      throw new Fault("JOURNAL_CORRUPT", "Entry 1 is broken.");
    },
  })).open(t);
  const [line, ...more] = await shown.lines();
  assert.deepEqual(line?.["fault"], { code: "JOURNAL_CORRUPT", message: "Entry 1 is broken." });
  assert.deepEqual([line["type"], more], ["error", []]);
  assert.equal(shown.watching, 0);
});

test("an error thrown while a run is streamed reaches the caller of streamRun, and no listener is left behind", async (t) => {
  const shown = await new Shown().open(t);
  shown.more = {
    encoder: {
      ...PLAIN,
      entry: () => {
        throw new TypeError("a slip");
      },
    },
  };
  const socket = shown.connect();
  while (shown.ends.length < 1) await new Promise((resolve) => setImmediate(resolve));
  assert.ok((await shown.ends[0]) instanceof TypeError);
  assert.equal(shown.watching, 0);
  socket.destroy();
});

test(
  "a feed goes on for a follower that comes when only live words wait to be taken",
  { timeout: 30_000 },
  async (t) => {
    const shown = await new Shown().open(t);
    const [first, second] = [new Wakeup(), new Wakeup()];
    const feed = feedFor({ runs: shown.runs, run: shown.run, encoder: PLAIN }, 1);
    feed.join(first);
    while (shown.watching < 1) await new Promise((resolve) => setImmediate(resolve));
    shown.live.publish(shown.run, {
      after: 1,
      event: { type: "model.delta", text: "w".repeat(STREAM_LIMITS.batchChars), from: 0 },
    });
    await first.wait();
    feed.join(second);
    feed.leave(first);
    let place = feed.placeOf(1);
    assert.equal(feed.take(place)?.bytes.length, 0, "what was live before is not told again");
    await shown.finish();
    for (let last; last === undefined;) {
      await second.wait();
      const taken = feed.take(place);
      last = taken?.last;
      place = taken?.place ?? place;
    }
    feed.leave(second);
  },
);

test("F24 connections that vanish leave no listener, timer or descriptor behind", async (t) => {
  const shown = await new Shown().open(t);
  await shown.notes(5);
  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const descriptors = (): number => readdirSync("/proc/self/fd").length;
  const vanish = async (): Promise<void> => {
    const socket = shown.connect(1);
    socket.resume();
    await once(socket, "data");
    socket.destroy();
  };
  await vanish();
  await Promise.all(shown.ends);
  const before = { timers: timers(), descriptors: descriptors() };
  for (let round = 0; round < 20; round += 1) await Promise.all(Array.from({ length: 50 }, vanish));
  await Promise.all(shown.ends);
  assert.equal(shown.watching, 0);
  assert.ok(shown.responses.every((response) => response.listenerCount("drain") === 0));
  await Promise.all(
    shown.responses.flatMap(({ socket }) => (socket === null || socket.destroyed ? [] : [once(socket, "close")])),
  );
  assert.ok(timers() <= before.timers, `${timers()} timers`);
  assert.ok(descriptors() <= before.descriptors + 2, `${descriptors()} descriptors, ${before.descriptors} before`);
});
