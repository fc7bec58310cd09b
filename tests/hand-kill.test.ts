import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { isRecall } from "@vidro/core/run";
import type { Entry, Model } from "@vidro/core";
import { openStore } from "../packages/brain/src/stores/stores.ts";
import { startChildHand } from "./support/child-hand.ts";
import type { ChildHand } from "./support/child-hand.ts";
import { processesIn } from "./support/processes.ts";
import { finishRun, openRuns, temporaryFolder } from "./support/local-runs.ts";

/* The hand as a process of its own, killed with SIGKILL while it works, at points that differ each time. */

const KILLS = 200;
const EFFECTS = 25;
const LANES = 2;

/** A model that wants one effect after the other, each with its number. */
const marks: Model = {
  name: "marks",
  async *call(request) {
    const nth = request.turns.filter((turn) => turn.role === "assistant").length + 1;
    const call = {
      id: `c${nth}`,
      tool: "shell",
      input: { command: `sleep 0.02; echo ${nth} >> effects.txt; sleep 0.02` },
    };
    const usage = { inputTokens: 1, outputTokens: 1 };
    const reply = nth > EFFECTS ? { text: "done", calls: [] } : { text: "", calls: [call] };
    yield { type: "replied", reply: { model: "marks", usage, ...reply } };
  },
};

/** Kills the hand a moment after it gets an order; every fourth order is spared, so that the run has outcomes too. */
function hunt(
  hand: ChildHand,
  startsAt: number,
): { readonly kills: () => number; readonly perform: ChildHand["perform"] } {
  let orders = startsAt;
  let kills = 0;
  return {
    kills: () => kills,
    async *perform(order, signal) {
      // Asking what became of an action is no order: only those are counted and shot at.
      if (isRecall(order)) return yield* hand.perform(order, signal);
      orders += 1;
      const spared = orders % 4 === 0;
      const shot = spared ? undefined : setTimeout(() => void hand.kill().then(() => (kills += 1)), (orders * 13) % 50);
      try {
        yield* hand.perform(order, signal);
      } finally {
        clearTimeout(shot);
      }
    },
  };
}

async function survive(t: TestContext, round: number): Promise<number> {
  const folder = temporaryFolder(t);
  const workspace = join(folder, "workspace");
  mkdirSync(workspace);
  const { journal } = await openStore("sqlite", join(folder, "journal.db"));
  const child = startChildHand({ workspace, state: join(folder, "hand"), decision: "allow" });
  await child.pid();
  const { kills, perform } = hunt(child, round * 7);
  const hand = {
    id: child.id,
    workspace,
    tools: child.tools,
    judge: child.judge.bind(child),
    perform,
    acknowledge: child.acknowledge.bind(child),
    close: child.close.bind(child),
  };
  const runs = openRuns({ journal, model: marks, hand });
  const { run } = await runs.start({ task: "leave marks", workspace });
  const entries = await finishRun(runs, run.id, []);
  await hand.close();
  await journal.close();
  assertMarks(entries, readFileSync(join(workspace, "effects.txt"), "utf8").trim().split("\n"));
  assert.deepEqual(processesIn(workspace), [], "no process is left behind");
  return kills();
}

function assertMarks(entries: readonly Entry[], effects: readonly string[]): void {
  assert.equal(entries.at(-1)?.event.type, "run.finished");
  assert.equal(new Set(effects).size, effects.length, `an effect was doubled: ${effects.join(" ")}`);
  const outcomes = entries.filter(({ event }) => event.type === "action.finished" || event.type === "action.unknown");
  assert.equal(outcomes.length, EFFECTS, "every action has one outcome");
  const finished = outcomes.filter(({ event }) => event.type === "action.finished").length;
  assert.ok(effects.length >= finished, "what is known to be finished has had its effect");
}

test(`F5 F6 G2 G3 G4 ${KILLS} SIGKILLs of the hand double no effect, and each action has one outcome`, async (t) => {
  let kills = 0;
  let round = 0;
  const lane = async (): Promise<void> => {
    while (kills < KILLS) {
      // Added when they are known: the other lanes count meanwhile.
      const more = await survive(t, round++);
      kills += more;
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  t.diagnostic(`${kills} kills in ${round} runs`);
});
