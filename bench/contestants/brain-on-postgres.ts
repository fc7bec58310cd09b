import { randomUUIDv7 } from "node:crypto";
import type { Model } from "@vidro/core";
import { LeaseSweeper } from "../../packages/brain/src/run/lease-sweeper.ts";
import { postgresStore } from "../../packages/brain/src/stores/postgres.ts";
import { inputAt, TOOL, wordsAt } from "../contest/script.ts";
import { INSTANT_HAND, overJournal, runsOver } from "./ours.ts";

/*
 * One brain of several, as a process of its own: `steps <store> <ms>` drives runs for so long and says how many steps
 * that were; `open <store> <count>` makes runs that wait for a hand and says when it has; `sweep <store>` takes up runs
 * whose brain is dead until it is killed.
 */

const [word, store = "", amount = "0"] = process.argv.slice(2);
const AT_ONCE = 32;
const STEPS = 20;
const { journal } = await postgresStore(store);

if (word === "steps") {
  const brain = overJournal(journal);
  await Promise.all(Array.from({ length: AT_ONCE }, () => brain.run(STEPS)));
  process.stdout.write("ready\n");
  await new Promise((resolve) => process.stdin.once("data", resolve));
  const endsAt = performance.now() + Number(amount);
  let steps = 0;
  const drive = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      await brain.run(STEPS);
      if (performance.now() < endsAt) steps += STEPS;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, drive));
  process.stdout.write(`${steps}\n`, () => process.exit(0));
} else {
  const waiting: Model = {
    name: "scripted",
    async *call() {
      const text = wordsAt(1);
      const calls = [{ id: randomUUIDv7(), tool: TOOL.name, input: inputAt(1) }];
      yield { type: "replied", reply: { model: "scripted", text, calls, usage: { inputTokens: 1, outputTokens: 1 } } };
    },
  };
  // A hand that never ends what it began: the runs stay open.
  const runs = runsOver(journal, () => waiting, {
    ...INSTANT_HAND,
    async *perform() {
      yield await new Promise<never>(() => undefined);
    },
  });
  if (word === "open") {
    for (let made = 0; made < Number(amount); made += 100)
      await Promise.all(Array.from({ length: 100 }, () => runs.start({ task: "wait", workspace: "/" })));
    process.stdout.write("ready\n");
  } else {
    process.stdout.write("ready\n");
    const sweeper = new LeaseSweeper({ runs, log: () => undefined, now: Date.now });
    for (;;) if ((await sweeper.sweep()).resumed === 0) await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
