import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as rest } from "node:timers/promises";
import { member } from "./contest/member.ts";
import { rssMbOf } from "./contest/process.ts";
import { atMost } from "./contest/report.ts";
import type { Figure } from "./contest/report.ts";
import { figure, spreadOf } from "./contest/spread.ts";
import type { BrainReady } from "./contestants/brain.ts";
import { inputAt, TOOL } from "./contest/script.ts";

const ROUNDS = 5;
const HANDS = 1000;
const POLL_MS = 20;
const ACTION = { tool: TOOL.name, input: inputAt(1) };

/** What a round came to. */
interface Took {
  /** From the first order to the last outcome. */
  readonly allMs: number;
  readonly rssMb: number;
  readonly emptyMb: number;
}

/** What a thousand hands cost their brain. */
export const fleet: Figure = {
  name: "fleet",
  title: "A thousand hands",
  method: `${HANDS.toLocaleString("en-US")} hands come to one brain over WebSockets with both certificates, and each is given one action at the same time. The links and the brain are real; the hands are all in one process, say of themselves what every hand says, and do nothing, so that this machine carries them.`,
  async measure() {
    const found: Took[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      process.stderr.write(`  round ${round + 1} of ${ROUNDS}\n`);
      found.push(await measured());
    }
    const all = spreadOf(found.map(({ allMs }) => allMs));
    const rss = spreadOf(found.map(({ rssMb }) => rssMb));
    const empty = spreadOf(found.map(({ emptyMb }) => emptyMb));
    return {
      tables: [
        [
          [`one action on each of ${HANDS.toLocaleString("en-US")} hands`, "median (least–most)"],
          ["ms until all are back", `${figure(all.median)} (${figure(all.least)}–${figure(all.most)})`],
          ["MB of the brain, right after", `${figure(rss.median)} (${figure(rss.least)}–${figure(rss.most)})`],
          ["MB of the brain without hands", figure(empty.median)],
          ["KB for each hand", figure(((rss.median - empty.median) * 1024) / HANDS)],
        ],
      ],
      goals: [
        { goal: "all outcomes are back", reached: `${HANDS} of ${HANDS} in each round`, met: true },
        atMost("MB of the brain", 300, rss),
      ],
    };
  },
};

/** One brain, its hands, and an action on each; rejects unless every outcome comes back. */
async function measured(): Promise<Took> {
  const home = mkdtempSync(join(tmpdir(), "vidro-bench-"));
  const identities = join(home, "identities.json");
  const first = await member<BrainReady>("contestants/brain.ts", { home, south: 0, http: 0 });
  await first.ask("enrol", HANDS, identities);
  const port = Number(new URL(first.ready.south).port);
  await first.end();
  // The process that made a thousand certificates is not the one to be measured.
  const brain = await member<BrainReady>("contestants/brain.ts", { home, south: port, http: 0 });
  const emptyMb = rssMbOf(brain.pid);
  const settings = { wire: "agent-ws", real: false, folder: home, from: 0, count: HANDS, identities };
  const hands = await member("contestants/hands.ts", settings);
  try {
    while ((await brain.ask<number>("connected")) < HANDS) await rest(POLL_MS);
    const allMs = await brain.ask<number>("all", ACTION, 1);
    return { allMs, emptyMb, rssMb: rssMbOf(brain.pid) };
  } finally {
    await hands.end();
    await brain.end();
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}
