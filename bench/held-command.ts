import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Hand, JsonObject } from "@vidro/core";
import { localHand, openPolicy } from "@vidro/hands";
import type { HandPolicy } from "@vidro/hands";
import { atMost } from "./contest/report.ts";
import type { Figure, Table } from "./contest/report.ts";
import { figure, medianMs, spreadOf } from "./contest/spread.ts";

const ROUNDS = 7;
const COMMANDS_PER_ROUND = 10;
const GOAL_MS = 8;

/** Between two commands of an agent its model is asked, which takes longer than this. */
const PAUSE_MS = 100;

/** What is run: a program that reads a file, and one that tells a fact of the host. */
const COMMANDS = [
  { name: "`cat a.txt`, which sees the workspace and the system", input: { command: "cat", args: ["a.txt"] } },
  { name: "`uname`, which sees the host", input: { command: "uname", args: [] } },
] as const;

/** What holding a command, and hiding Vidro's own state from one, adds to a bare process. */
export const heldCommand: Figure = {
  name: "held-command",
  title: "Command that is held without a question",
  method: `A hand in this process, with the shipped policy, its ledger and its spool, runs a command ${COMMANDS_PER_ROUND} times in each of ${ROUNDS} rounds, in three ways: as a bare process of the user (access \`all\`), held by the sandbox as policy says of commands that need no approval, and covered, as approved commands are: the whole host without Vidro's own state. ${PAUSE_MS} ms lie between two commands, as a model takes longer to ask for the next one; the sandbox of a held command is set up in that time, and less is added than nothing where starting its process was what took longest. In a row, without a pause, a held command waits for its sandbox. The user is ${process.getuid?.() === 0 ? "root" : "not root"}.`,
  async measure() {
    const folder = mkdtempSync(join(homedir(), ".vidro-bench-"));
    const [held, free] = [await handIn(join(folder, "held"), true), await handIn(join(folder, "free"), false)];
    try {
      const rows = [];
      for (const { name, input } of COMMANDS) {
        const ways: Ways = { bare: [], held: [], row: [], covered: [] };
        for (let round = 0; round < ROUNDS; round += 1) {
          ways.bare.push(await pausedMedianMs(() => run(free, { ...input, access: "all" })));
          ways.held.push(await pausedMedianMs(() => run(held, input)));
          ways.row.push(await medianMs(COMMANDS_PER_ROUND, () => run(held, input)));
          ways.covered.push(await pausedMedianMs(() => run(free, input)));
        }
        const addedTo = (way: readonly number[]) => spreadOf(way.map((ms, round) => ms - (ways.bare[round] ?? NaN)));
        const bare = spreadOf(ways.bare);
        rows.push({ name, bare, held: addedTo(ways.held), row: addedTo(ways.row), covered: addedTo(ways.covered) });
      }
      const table: Table = [
        ["ms", "bare process", "added when held", "added when held, in a row", "added when covered"],
        ...rows.map(({ name, ...of }) => [
          name,
          ...[of.bare, of.held, of.row, of.covered].map(({ median }) => figure(median)),
        ]),
      ];
      const goals = rows.map((row) => atMost(`${row.name}: ms added`, GOAL_MS, row.held));
      return { tables: [table], goals, notes: isRealTime() ? [REAL_TIME] : [] };
    } finally {
      for (const hand of [held, free]) await hand.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  },
};

const REAL_TIME = "Measured with real-time priority (`chrt -r 5`): other work on the machine was put behind.";

/** Whether this process and those that it starts come before ordinary ones; field 41 of its stat is the policy. */
function isRealTime(): boolean {
  const [, fields = ""] = readFileSync("/proc/self/stat", "utf8").split(") ");
  return fields.split(" ")[38] !== "0";
}

/** The median times of each round, by how the command ran. */
type Ways = Record<"bare" | "held" | "row" | "covered", number[]>;

/** The time in the middle of some commands with a pause before each. */
async function pausedMedianMs(work: () => Promise<unknown>): Promise<number> {
  const took: number[] = [];
  for (let time = 0; time < COMMANDS_PER_ROUND; time += 1) {
    await sleep(PAUSE_MS);
    took.push(await medianMs(1, work));
  }
  return spreadOf(took).median;
}

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
