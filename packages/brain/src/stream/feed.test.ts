import assert from "node:assert/strict";
import { test } from "node:test";
import { STREAM_LIMITS } from "@vidro/core";
import { JOURNAL_ENCODERS } from "../north/journal/entries.ts";
import { linesIn, Shown } from "../north/run-viewer.fixture.ts";
import { Wakeup } from "../run/wakeup.ts";
import { feedFor, findFeed } from "./feed.ts";
import type { Feed } from "./feed.ts";

const encoder = JOURNAL_ENCODERS.ndjson.live;
const TIMEOUT = { timeout: 30_000 };

/** Takes from a feed until an entry is there; gives the `seq` of every entry taken. */
async function takeUntil(feed: Feed, follower: Wakeup, last: number): Promise<unknown[]> {
  const seqs: unknown[] = [];
  for (let place = feed.placeOf(0), seq = 0; seq < last;) {
    const taken = feed.take(place);
    assert.ok(taken !== undefined, "the follower fell out of the buffer");
    seqs.push(...linesIn(taken.bytes).flatMap((line) => line["seq"] ?? []));
    if (taken.place === place && taken.seq < last) await follower.wait();
    ({ place, seq } = taken);
  }
  return seqs;
}

test("followers with the same encoder share a feed, and it ends with the last of them", TIMEOUT, async (t) => {
  const shown = await new Shown().open(t);
  const source = { runs: shown.runs, run: shown.run, encoder };
  const [one, two] = [new Wakeup(), new Wakeup()];
  const feed = feedFor(source, 0);
  feed.join(one);
  assert.equal(feedFor(source, 0), feed);
  assert.equal(findFeed({ ...source, encoder: JOURNAL_ENCODERS.sse.live }, 0), undefined, "another encoder");
  feed.join(two);
  feed.leave(one);
  assert.equal(findFeed(source, 0), feed);
  feed.leave(two);
  assert.equal(findFeed(source, 0), undefined);
  while (shown.watching > 0) await new Promise(setImmediate);
});

test("all that is new is taken at once, as the same bytes for followers at the same position", TIMEOUT, async (t) => {
  const shown = await new Shown().open(t);
  const feed = feedFor({ runs: shown.runs, run: shown.run, encoder }, 0);
  const follower = new Wakeup();
  feed.join(follower);
  await shown.notes(4);
  assert.deepEqual(await takeUntil(feed, follower, 5), [1, 2, 3, 4, 5]);
  assert.equal(feed.take(feed.placeOf(2))?.bytes, feed.take(feed.placeOf(2))?.bytes);
  const { place, bytes, last } = feed.take(feed.placeOf(5))!;
  assert.deepEqual([bytes.length, last, feed.take(place)?.place], [0, undefined, place]);
  feed.leave(follower);
});

test("a follower that fell behind the buffer gets nothing from it, and is not covered", TIMEOUT, async (t) => {
  const shown = await new Shown().open(t);
  const feed = feedFor({ runs: shown.runs, run: shown.run, encoder }, 0);
  const follower = new Wakeup();
  feed.join(follower);
  const most = 2 * (STREAM_LIMITS.windowPieces + STREAM_LIMITS.batchPieces);
  const reading = takeUntil(feed, follower, most + 1);
  await shown.notes(most);
  assert.equal((await reading).length, most + 1, "one that reads along misses nothing");
  assert.equal(feed.take(0), undefined);
  assert.deepEqual([feed.covers(0), feed.covers(most + 1)], [false, true]);
  feed.leave(follower);
});

test("a live event is woken for at once, and repeated to no later follower", TIMEOUT, async (t) => {
  const shown = await new Shown().open(t);
  const feed = feedFor({ runs: shown.runs, run: shown.run, encoder }, 0);
  const follower = new Wakeup();
  feed.join(follower);
  await takeUntil(feed, follower, 1);
  const { place } = feed.take(feed.placeOf(1))!;
  shown.live.publish(shown.run, { after: 1, event: { type: "model.delta", text: "hello", from: 0 } });
  await follower.wait();
  while (feed.take(place)?.bytes.length === 0) await new Promise(setImmediate);
  assert.match(feed.take(place)!.bytes.toString("utf8"), /hello/);
  assert.equal(feed.take(feed.placeOf(1))?.bytes.length, 0, "the position of a follower that comes now is behind it");
  feed.leave(follower);
});

test("the end of a run and the fault of its store both end a feed", TIMEOUT, async (t) => {
  const shown = await new Shown().open(t);
  const feed = feedFor({ runs: shown.runs, run: shown.run, encoder }, 0);
  const follower = new Wakeup();
  feed.join(follower);
  await shown.finish();
  await takeUntil(feed, follower, 2);
  while (feed.ending === undefined) await new Promise(setImmediate);
  assert.deepEqual(feed.ending, { last: { type: "run.finished", result: "over" } });
  assert.equal(feed.covers(1), true, "a finished feed still serves followers");
  feed.leave(follower);
  const failing = await new Shown(() => ({ read: async () => Promise.reject(new Error("disk")) })).open(t);
  const broken = feedFor({ runs: failing.runs, run: failing.run, encoder }, 0);
  broken.join(follower);
  while (broken.ending === undefined) await follower.wait();
  assert.match(String("thrown" in broken.ending && broken.ending.thrown), /disk/);
  assert.equal(broken.covers(0), false);
  broken.leave(follower);
});
