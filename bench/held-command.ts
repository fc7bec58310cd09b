import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Hand, JsonObject } from "@vidro/core";
import { localHand, openPolicy } from "@vidro/hands";
import type { HandPolicy } from "@vidro/hands";
import { atMost } from "./contest/report.ts";
import type { Figure, Table } from "./contest/report.ts";
import { figure, medianMs, spreadOf } from "./contest/spread.ts";

const ROUNDS = 15;
const IN_A_ROW = 10;
const GOAL_MS = 8;

/** What is run: a program that reads a file, and one that tells a fact of the host. */
const COMMANDS = [
  { name: "`cat a.txt`, which sees the workspace and the system", input: { command: "cat", args: ["a.txt"] } },
  { name: "`uname`, which sees the host", input: { command: "uname", args: [] } },
] as const;

/** What the sandbox adds to a command that is allowed without a question. */
export const heldCommand: Figure = {
  name: "held-command",
  title: "Command that is held without a question",
  method: `A hand in this process, with the shipped policy, its ledger and its spool, runs a command ${IN_A_ROW} times in a row in each of ${ROUNDS} rounds: held by the sandbox as policy says, and by the side of it on a hand whose policy says the same and holds nothing. The difference is what the sandbox takes: making the view, starting bubblewrap, its namespaces and its end.`,
  async measure() {
    const folder = mkdtempSync(join(homedir(), ".vidro-bench-"));
    const [held, bare] = [await handIn(join(folder, "held"), true), await handIn(join(folder, "bare"), false)];
    try {
      const rows = [];
      for (const { name, input } of COMMANDS) {
        const [holding, without]: [number[], number[]] = [[], []];
        for (let round = 0; round < ROUNDS; round += 1) {
          without.push(await medianMs(IN_A_ROW, () => run(bare, input)));
          holding.push(await medianMs(IN_A_ROW, () => run(held, input)));
        }
        const added = spreadOf(holding.map((ms, round) => ms - (without[round] ?? NaN)));
        rows.push({ name, heldMs: spreadOf(holding).median, bareMs: spreadOf(without).median, added });
      }
      const table: Table = [
        ["ms", "nothing holds it", "held", "added"],
        ...rows.map((row) => [row.name, figure(row.bareMs), figure(row.heldMs), figure(row.added.median)]),
      ];
      return { tables: [table], goals: rows.map(({ name, added }) => atMost(`${name}: ms added`, GOAL_MS, added)) };
    } finally {
      for (const hand of [held, bare]) await hand.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  },
};

async function handIn(folder: string, isHeld: boolean): Promise<Hand> {
  const [workspace, state] = [join(folder, "work"), join(folder, "state")];
  for (const path of [workspace, state]) mkdirSync(path, { recursive: true });
  writeFileSync(join(workspace, "a.txt"), "a\n");
  const policy = openPolicy({ file: join(state, "policy.json"), workspace, state });
  return localHand({ id: "bench", workspace, state, policy: isHeld ? policy : unholding(policy) });
}

/** A policy that says the same, and of no command that it has to be held. */
function unholding(policy: HandPolicy): HandPolicy {
  return {
    version: policy.version,
    judge(plan) {
      const { confined: _, ...verdict } = policy.judge(plan.kind === "process" ? { ...plan, confined: "files" } : plan);
      return verdict;
    },
  };
}

let orders = 0;

async function run(hand: Hand, input: JsonObject): Promise<void> {
  orders += 1;
  const action = { id: `act_${orders}`, tool: "command", input, callId: "call" };
  const order = { action, run: "run", epoch: 1, ttlMs: 60_000 };
  const events = await Array.fromAsync(hand.perform(order, new AbortController().signal));
  const end = events.at(-1);
  if (end?.type !== "finished" || end.outcome.kind !== "process" || end.outcome.exitCode !== 0)
    throw new Error(`The command ended with ${JSON.stringify(end)}.`);
}
