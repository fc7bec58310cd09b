import { randomUUIDv7 } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { redactor } from "@vidro/core/redact";
import type { Entry, Hand, Journal, Model } from "@vidro/core";
import { localHand, openPolicy } from "@vidro/hands";
import type { LocalHandOptions } from "@vidro/hands";
import { taskLanguage } from "../../packages/brain/src/brain.ts";
import { thisHolder } from "../../packages/brain/src/stores/lease-holder.ts";
import { liveBus } from "../../packages/brain/src/run/live-bus.ts";
import { Runs } from "../../packages/brain/src/run/runs.ts";
import { LeaseSweeper } from "../../packages/brain/src/run/lease-sweeper.ts";
import type { SweepResult } from "../../packages/brain/src/run/lease-sweeper.ts";

/** A folder that is gone when the test is. */
export function temporaryFolder(t: { after(done: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), "vidro-test-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs over a journal, a model and a hand, by a clock that may be ahead. */
export function openRuns(deps: {
  journal: Journal;
  model: Model;
  hand: Hand | (() => Promise<Hand>);
  aheadMs?: number;
}): Runs {
  const { hand } = deps;
  return new Runs({
    journal: deps.journal,
    model: async () => deps.model,
    hand: typeof hand === "function" ? hand : async () => hand,
    live: liveBus(),
    redactor: redactor([]),
    now: () => Date.now() + (deps.aheadMs ?? 0),
    chance: () => 0,
    language: taskLanguage,
    holder: thisHolder(),
    newId: (prefix) => `${prefix}_${randomUUIDv7()}`,
    newActionId: () => `act_${randomUUIDv7()}`,
    report: () => undefined,
  });
}

/** The hand of this machine under the shipped policy, with its state in a folder. */
export function openHand(folder: string, workspace: string, more: Partial<LocalHandOptions> = {}): Promise<Hand> {
  const home = join(folder, "home");
  mkdirSync(home, { recursive: true });
  const policy = openPolicy({ file: join(home, "policy.json"), workspace, state: home });
  return localHand({ id: "local", workspace, state: join(home, "hand"), reserved: home, policy, ...more });
}

/**
 * Follows a run to its end and answers its questions: the n-th one with the n-th answer, an unknown outcome with
 * `continue`. Resolves to the whole journal.
 */
export async function finishRun(runs: Runs, run: string, answers: readonly string[]): Promise<Entry[]> {
  const entries: Entry[] = [];
  let asked = 0;
  for await (const followed of runs.follow(run)) {
    if (!("entry" in followed)) continue;
    const { entry } = followed;
    entries.push(entry);
    if (entry.event.type !== "question.asked") continue;
    const { id, about } = entry.event;
    const text = about.kind === "unknown" ? "continue" : (answers[asked] ?? "no");
    if (about.kind !== "unknown") asked += 1;
    await answerOnce(runs, run, { text, by: "test", question: id });
  }
  return entries;
}

/** Answers a question unless it has its answer already, as it has when a resumed run is read from its beginning. */
async function answerOnce(
  runs: Runs,
  run: string,
  answer: { text: string; by: string; question: string },
): Promise<void> {
  const head = await runs.find(run);
  if (head.status !== "asking") return;
  await runs.answer(run, answer).catch((fault: { code?: string }) => {
    if (fault.code !== "CONFLICT") throw fault;
  });
}

/** Takes up the runs without a driver, as a daemon does every few seconds. */
export function sweep(runs: Runs): Promise<SweepResult> {
  return new LeaseSweeper({ runs, log: () => undefined, now: Date.now }).sweep();
}
