import type { ChildProcess } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { ChaosStand } from "../chaos/harness.ts";
import { COUNT_OBJECTS_FLAGS } from "../support/live-objects.ts";
import type { LiveObjects } from "../support/live-objects.ts";
import { Load } from "./load.ts";
import { censusOf, resourcesOf } from "./resources.ts";
import type { Resources } from "./resources.ts";

/* A brain under a mixed load for a long time: what it holds before, during and after, and whether it gives all of it back. */

/** How long, and from which seed. */
export interface SoakOptions {
  readonly minutes: number;
  readonly seed: number;
}

/** What a soak came to. */
export interface SoakReport {
  /** What it held more of in the end than in the beginning; empty when nothing leaked. */
  readonly leaks: readonly string[];
  readonly counts: Load["counts"];
  /** Memory that grew for each thousand runs. */
  readonly mibPerThousandRuns: number;
}

/** All that is looked at in one moment. */
type Look = Resources & Partial<Omit<LiveObjects, "sockets">>;

const WARM_MS = 5000;
const LOOKS = 10;
const SETTLE_MS = 90_000;
const COLUMNS = [
  "rssMib",
  "heapMib",
  "descriptors",
  "sockets",
  "threads",
  "children",
  "lagMs",
  "storeMib",
  "timers",
  "responses",
  "signals",
  "emitters",
] as const satisfies readonly (keyof Look)[];
/** What has to come back to what it was, and how much more of it is no leak. */
const RETURNING = {
  descriptors: 4,
  sockets: 4,
  threads: 0,
  children: 0,
  timers: 10,
  responses: 5,
} as const satisfies Partial<Record<keyof Look, number>>;

/** Soaks a brain and tells a table as it goes. */
export async function soak({ minutes, seed }: SoakOptions, say: (line: string) => void): Promise<SoakReport> {
  await using stand = await ChaosStand.set(COUNT_OBJECTS_FLAGS);
  const { child } = await stand.members.brain.up();
  const load = new Load(stand, seed);
  say(row("", COLUMNS));
  await load.go(WARM_MS);
  const base = await settled(stand, child);
  say(row("before", cells(base)));
  const warm = load.counts.runs;
  const slice = (minutes * 60_000) / LOOKS;
  const going = load.go(minutes * 60_000);
  for (let looked = 1; looked <= LOOKS; looked += 1) {
    await pause(slice);
    say(row(`${Math.round((looked * slice) / 1000)} s`, cells(await lookAt(stand, child))));
  }
  await going;
  const after = await settled(stand, child, base);
  say(row("after", cells(after)));
  const runs = load.counts.runs - warm;
  return {
    leaks: leaksOf(base, after),
    counts: load.counts,
    mibPerThousandRuns: runs === 0 ? 0 : Math.round(((after.rssMib - base.rssMib) / runs) * 100_000) / 100,
  };
}

async function lookAt(stand: ChaosStand, { pid = 0 }: ChildProcess): Promise<Look> {
  const metrics = await (await stand.ask("/metrics", { headers: { connection: "close" } })).text();
  return resourcesOf(pid, stand.stage.home, metrics);
}

/** What the daemon holds without load, once that is steady and, if possible, back at what it was. */
async function settled(stand: ChaosStand, child: ChildProcess, base?: Look): Promise<Look> {
  const endsAt = performance.now() + SETTLE_MS;
  for (let before = -1; ;) {
    await pause(QUIET_MS);
    const { sockets: _, ...census } = await censusOf(child);
    // Counting takes its time, which is no lag of the brain's own.
    await lookAt(stand, child);
    const look = { ...census, ...(await lookAt(stand, child)) };
    const isBack = base === undefined || leaksOf(base, look).length === 0;
    if ((isBack && look.descriptors === before) || performance.now() > endsAt) return look;
    before = look.descriptors;
  }
}

const QUIET_MS = 3000;

function leaksOf(base: Look, after: Look): readonly string[] {
  return Object.entries(RETURNING).flatMap(([what, slack]) => {
    const [before = 0, now = 0] = [base[what as keyof Look], after[what as keyof Look]];
    return now > before + slack ? [`${what}: ${before} before, ${now} after`] : [];
  });
}

function cells(look: Look): readonly (string | number)[] {
  return COLUMNS.map((column) => look[column] ?? "-");
}

function row(name: string, values: readonly (string | number)[]): string {
  return [name.padEnd(8), ...values.map((value) => `${value}`.padStart(11))].join(" ");
}
