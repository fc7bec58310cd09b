import assert from "node:assert/strict";
import { test } from "node:test";
import { FOLLOW_LIMITS, liveText } from "@vidro/core";
import type { Entry, Event, Model } from "@vidro/core";
import { openRuns } from "../../../../tests/support/local-runs.ts";
import type { FollowItem } from "./follow.ts";
import { liveBus } from "./live-bus.ts";
import { thisHolder } from "../stores/lease-holder.ts";
import { Shown } from "../north/run-viewer.fixture.ts";
import { memoryStore } from "../stores/memory.ts";

const TIMEOUT = { timeout: 30_000 };

async function seqs(followed: AsyncIterable<FollowItem>): Promise<number[]> {
  const found: number[] = [];
  for await (const one of followed) if ("entry" in one) found.push(one.entry.seq);
  return found;
}

test("G6 to follow from the terminal entry or from beyond it is to be at the end", TIMEOUT, async (t) => {
  const shown = await new Shown().open(t);
  const beyond = seqs(shown.runs.follow(shown.run, 9));
  await shown.notes(1);
  await shown.finish();
  assert.deepEqual(await beyond, [], "a cursor beyond a run that was open ends with the run");
  for (const after of [3, 4, 1000]) assert.deepEqual(await seqs(shown.runs.follow(shown.run, after)), []);
  assert.deepEqual(await seqs(shown.runs.follow(shown.run, 2)), [3]);
  assert.equal(shown.watching, 0);
});

test("G6 a run that another brain took over is followed to the end that comes from there", TIMEOUT, async () => {
  const go = Promise.withResolvers<void>();
  const model: Model = {
    name: "waiting",
    async *call() {
      await go.promise;
      yield { type: "replied", reply: { model: "waiting", text: "too late", calls: [], usage: NOTHING_USED } };
    },
  };
  const { journal } = memoryStore();
  const hand = { id: "none", workspace: "/", tools: [] };
  const runs = openRuns({ journal, model, hand: hand as never });
  const { run } = await runs.start({ task: "wait", workspace: "/" });
  const following = seqs(runs.follow(run.id));
  while (((await journal.head(run.id))?.seq ?? 0) < 2) await new Promise(setImmediate);
  // The same process may always take its lease anew: to the first drive that is as good as another brain.
  const lease = await journal.lease(run.id, thisHolder());
  go.resolve();
  await assert.rejects(runs.abort(run.id, "enough"), { code: "LEASE_LOST" });
  const seq = ((await journal.head(run.id))?.seq ?? 0) + 1;
  const end: Event = { type: "run.finished", result: "done elsewhere" };
  await journal.append(lease, [{ seq, at: 1, event: end } satisfies Entry]);
  assert.deepEqual(
    await following,
    Array.from({ length: seq }, (_, index) => index + 1),
  );
});

const NOTHING_USED = { inputTokens: 0, outputTokens: 0 };

test("a follower that comes while a model speaks has its words from the first on", async () => {
  const live = liveBus();
  const say = (after: number, text: string, from: number): void =>
    live.publish("run_1", { after, event: { type: "model.delta", text, from } });
  say(2, "Hel", 0);
  say(2, "lo", 3);
  const heard: string[] = [];
  live.watch("run_1", ({ event }) => void heard.push(liveText(event)));
  say(2, " you", 5);
  assert.deepEqual(heard, ["Hello", " you"]);
  say(7, "again", 0);
  const next: string[] = [];
  live.watch("run_1", ({ event }) => void next.push(liveText(event)));
  assert.deepEqual(next, ["again"], "a later reply is not mixed with the former one");
  say(7, "x".repeat(FOLLOW_LIMITS.recentChars), 5);
  const late: string[] = [];
  live.watch("run_1", ({ event }) => void late.push(liveText(event)));
  assert.deepEqual(late, [], "what is kept is bounded");
});
