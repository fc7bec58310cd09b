import type { Hand, Model } from "@vidro/core";
import { sqliteStore } from "../../packages/brain/src/stores/sqlite.ts";
import { LeaseSweeper } from "../../packages/brain/src/run/lease-sweeper.ts";
import { ANSWER } from "../contest/script.ts";
import { INSTANT_HAND, runsOver } from "./ours.ts";

// A brain that boots: says when the first and the last of the open runs was at work again.
const [store = "", size = "", spawnedAt = ""] = process.argv.slice(2);
const sinceSpawn = (): number => performance.timeOrigin + performance.now() - Number(spawnedAt);

const ready = sinceSpawn();
const resumedAt: number[] = [];
const { promise: allResumed, resolve } = Promise.withResolvers<void>();

const hand: Hand = {
  ...INSTANT_HAND,
  perform(order, signal) {
    resumedAt.push(sinceSpawn());
    if (resumedAt.length === Number(size)) resolve();
    return INSTANT_HAND.perform(order, signal);
  },
};
const model: Model = {
  name: "scripted",
  async *call() {
    const usage = { inputTokens: 1, outputTokens: 1 };
    yield { type: "replied", reply: { model: "scripted", text: ANSWER, calls: [], usage } };
  },
};

const { journal } = await sqliteStore(store);
const runs = runsOver(journal, () => model, hand);
const { refused } = await new LeaseSweeper({ runs, log: () => undefined, now: Date.now }).sweep();
if (refused.length > 0) throw new Error(`${refused.length} runs were not taken up.`);
await allResumed;
await runs.close();
await journal.close();
process.stdout.write(JSON.stringify({ ready, first: resumedAt[0], last: resumedAt.at(-1) }));
