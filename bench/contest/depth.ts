import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Open } from "./contestant.ts";

/** Where in a run to look: the `window` steps that end at step `at`, in so many runs. */
export interface Depth {
  readonly at: number;
  readonly window: number;
  readonly runs: number;
}

/** What a step costs that deep in a run, and what a run of that length left on the disk for each step. */
export interface AtDepth {
  readonly stepUs: number;
  /** Time of all the process's threads. */
  readonly cpuUs: number;
  readonly stepBytes: number;
}

/** Measures a contestant at a depth, in a folder of its own. */
export async function measureDepth(open: Open, { at, window, runs }: Depth): Promise<AtDepth> {
  const folder = mkdtempSync(join(tmpdir(), "vidro-bench-"));
  try {
    const contestant = await open(folder);
    let wallMs = 0;
    let cpuUs = 0;
    for (let run = 0; run < runs; run += 1) {
      // The model is called once more than there are steps; step n lies between its calls n and n + 1.
      await contestant.run(at, (step) => {
        if (step !== at + 1 - window && step !== at + 1) return;
        const sign = step === at + 1 ? 1 : -1;
        const { user, system } = process.cpuUsage();
        wallMs += sign * performance.now();
        cpuUs += sign * (user + system);
      });
    }
    await contestant.close();
    const steps = window * runs;
    return { stepUs: (wallMs * 1000) / steps, cpuUs: cpuUs / steps, stepBytes: bytesIn(folder) / (at * runs) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
