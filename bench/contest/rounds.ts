import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Measured, Order } from "./host.ts";

/** A program that takes part in a contest. */
export interface Entrant {
  readonly name: string;
  readonly module: string;
  readonly open: string;
  /** Loads with more steps than this are left out: it would take too long. */
  readonly mostSteps?: number;
  /** What of a run is still there after what, in a few words. */
  readonly survives?: string;
}

/** What an entrant did in each round, or why it is not in the table. */
export interface Result {
  readonly entrant: Entrant;
  readonly rounds: Measured[];
  failed?: string;
}

/** An entrant that takes longer for one round is left out. */
const ROUND_MS = 180_000;

/** Measures all entrants in alternating rounds, each time in a new process on this Node. */
export async function contest(
  entrants: readonly Entrant[],
  rounds: number,
  orderFor: (entrant: Entrant, round: number) => Pick<Order, "loads" | "depths">,
): Promise<readonly Result[]> {
  const results: Result[] = entrants.map((entrant) => ({ entrant, rounds: [] }));
  for (let round = 0; round < rounds; round += 1) {
    for (const result of results) {
      if (result.failed !== undefined) continue;
      const { name, module, open } = result.entrant;
      process.stderr.write(`  round ${round + 1} of ${rounds}: ${name}\n`);
      try {
        const order = { module, open, ...orderFor(result.entrant, round) };
        // A server that did not come up once is given a second chance.
        result.rounds.push(await inProcess(order).catch(() => inProcess(order)));
      } catch (thrown) {
        result.failed = thrown instanceof Error ? thrown.message : String(thrown);
        process.stderr.write(`  left out: ${name}: ${result.failed}\n`);
      }
    }
  }
  return results;
}

async function inProcess(order: Order): Promise<Measured> {
  // Peers have conditions of their own named like ours, which lead to sources that they do not ship.
  const conditions = order.module.startsWith("peers/") ? [] : ["--conditions=vidro-source"];
  const host = fileURLToPath(new URL("host.ts", import.meta.url));
  const args = [...conditions, "--disable-warning=ExperimentalWarning", host, JSON.stringify(order)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], timeout: ROUND_MS });
  let out = "";
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(-1000)));
  const [code] = await new Promise<[number | null]>((resolve) => child.once("close", (exit) => resolve([exit])));
  if (code === 0) return JSON.parse(out) as Measured;
  if (code === null) throw new Error(`it took more than ${ROUND_MS / 1000} s`);
  throw new Error(said.split("\n").find((line) => line.includes("Error")) ?? `it ended with ${code}`);
}
