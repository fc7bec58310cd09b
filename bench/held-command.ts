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

/** What holding a command, and hiding Vidro's own state from one, adds to a bare process. */
export const heldCommand: Figure = {
  name: "held-command",
  title: "Command that is held without a question",
  method: `A hand in this process, with the shipped policy, its ledger and its spool, runs a command ${IN_A_ROW} times in a row in each of ${ROUNDS} rounds, in three ways: as a bare process of the user (access \`all\`), held by the sandbox as policy says of commands that need no approval, and covered, as approved commands are: the whole host without Vidro's own state. What is added is making the view, starting bubblewrap or the cover, its namespaces and their end. The user is ${process.getuid?.() === 0 ? "root" : "not root"}.`,
  async measure() {
    const folder = mkdtempSync(join(homedir(), ".vidro-bench-"));
    const [held, free] = [await handIn(join(folder, "held"), true), await handIn(join(folder, "free"), false)];
    try {
      const rows = [];
      for (const { name, input } of COMMANDS) {
        const ways = { bare: [] as number[], held: [] as number[], covered: [] as number[] };
        for (let round = 0; round < ROUNDS; round += 1) {
          ways.bare.push(await medianMs(IN_A_ROW, () => run(free, { ...input, access: "all" })));
          ways.held.push(await medianMs(IN_A_ROW, () => run(held, input)));
          ways.covered.push(await medianMs(IN_A_ROW, () => run(free, input)));
        }
        const addedTo = (way: readonly number[]) => spreadOf(way.map((ms, round) => ms - (ways.bare[round] ?? NaN)));
        rows.push({ name, bare: spreadOf(ways.bare), held: addedTo(ways.held), covered: addedTo(ways.covered) });
      }
      const table: Table = [
        ["ms", "bare process", "added when held", "added when covered"],
        ...rows.map(({ name, ...of }) => [name, ...[of.bare, of.held, of.covered].map(({ median }) => figure(median))]),
      ];
      return { tables: [table], goals: rows.map((row) => atMost(`${row.name}: ms added`, GOAL_MS, row.held)) };
    } finally {
      for (const hand of [held, free]) await hand.close();
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

/** A policy that takes as long to judge, and allows every command without holding it. */
function unholding(policy: HandPolicy): HandPolicy {
  return {
    version: policy.version,
    judge(plan) {
      const { confined: _, ...verdict } = policy.judge(plan);
      return { ...verdict, decision: "allow" };
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
