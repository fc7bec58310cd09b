import { randomUUIDv7 } from "node:crypto";
import { join } from "node:path";
import { redactor } from "@vidro/core/redact";
import type { Hand, Journal, Model } from "@vidro/core";
import { thisHolder } from "../../packages/brain/src/stores/lease-holder.ts";
import { liveBus } from "../../packages/brain/src/run/live-bus.ts";
import { Runs } from "../../packages/brain/src/run/runs.ts";
import { memoryStore } from "../../packages/brain/src/stores/memory.ts";
import { sqliteStore } from "../../packages/brain/src/stores/sqlite.ts";
import type { Contestant } from "../contest/contestant.ts";
import { ANSWER, callAt, inputAt, OUTPUT, TASK, TOOL, wordsAt } from "../contest/script.ts";

/** Ours on a store that survives power loss. */
export async function durable(folder: string): Promise<Contestant> {
  return overJournal((await sqliteStore(join(folder, "journal.db"))).journal);
}

/** Ours without a disk. */
export async function inMemory(): Promise<Contestant> {
  return overJournal(memoryStore().journal);
}

/** Ours over a journal. */
export function overJournal(journal: Journal): Contestant {
  let next: Model | undefined;
  const runs = runsOver(journal, () => next!);
  return {
    async run(steps, called = () => undefined) {
      const script = scriptedModel(steps, called);
      next = script.model;
      const { run } = await runs.start({ task: TASK, workspace: "/", budget: ENDLESS });
      // The run has no follower, as the runs of the others have none: only its last entry is waited for.
      await script.over;
      const last = FIRST_EVENTS + EVENTS_PER_STEP * steps + LAST_EVENTS;
      for await (const followed of runs.follow(run.id, last - 1)) {
        if ("entry" in followed && followed.entry.event.type === "run.finished") return;
      }
      throw new Error("The run did not come to its end.");
    },
    async close() {
      await runs.close();
      await journal.close();
    },
  };
}

/** A run begins with `run.started`; a step is called, replied, judged, started, finished; the end is called, replied, finished. */
const FIRST_EVENTS = 1;
const EVENTS_PER_STEP = 5;
const LAST_EVENTS = 3;

/** Runs over a journal, a model and a hand. */
export function runsOver(journal: Journal, model: () => Model, hand: Hand = INSTANT_HAND): Runs {
  return new Runs({
    journal,
    model: async () => model(),
    hand: async () => hand,
    live: liveBus(),
    redactor: redactor(["a secret that is known by its value"]),
    now: Date.now,
    chance: () => 0,
    holder: thisHolder(),
    newId: (prefix) => `${prefix}_${randomUUIDv7()}`,
    newActionId: () => `act_${randomUUIDv7()}`,
    report: (_trace, thrown) => process.stderr.write(`${String(thrown)}\n`),
  });
}

const ENDLESS = { steps: 1e9, actions: 1e9, tokens: 1e12, wallMs: 1e12 };
const USAGE = { inputTokens: 100, outputTokens: 20 };

function scriptedModel(steps: number, called: (step: number) => void): { model: Model; over: Promise<void> } {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  let step = 0;
  const model: Model = {
    name: "scripted",
    async *call() {
      step += 1;
      called(step);
      const isLast = step > steps;
      if (isLast) resolve();
      const text = isLast ? ANSWER : wordsAt(step);
      yield { type: "delta", text };
      const calls = isLast ? [] : [{ id: callAt(step), tool: TOOL.name, input: inputAt(step) }];
      yield { type: "replied", reply: { model: "scripted", text, calls, usage: USAGE } };
    },
  };
  return { model, over };
}

/** A hand that allows everything and does nothing, at once. */
export const INSTANT_HAND: Hand = {
  id: "instant",
  workspace: "/",
  tools: [{ ...TOOL, idempotent: true }],
  async judge(action) {
    const path = `/${JSON.stringify(action.input["path"])}`;
    return {
      plan: { kind: "file", operation: "read", path, inWorkspace: true },
      hash: "0".repeat(64),
      policy: "0".repeat(64),
      verdict: { decision: "allow", rule: "read-files", class: "read", reason: "Files of the workspace may be read." },
    };
  },
  async *perform() {
    yield { type: "finished", outcome: { kind: "value", text: OUTPUT } };
  },
  acknowledge: async () => undefined,
  close: async () => undefined,
};
