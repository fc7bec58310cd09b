import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Entry } from "@vidro/core";
import { thisHolder } from "../packages/brain/src/stores/lease-holder.ts";
import { memoryStore } from "../packages/brain/src/stores/memory.ts";
import { sqliteStore } from "../packages/brain/src/stores/sqlite.ts";
import { atMost } from "./contest/report.ts";
import type { Figure } from "./contest/report.ts";
import { figure, ratioOf, spreadOf } from "./contest/spread.ts";
import { overJournal } from "./contestants/ours.ts";

const SIZES = [250, 500, 1000];
const EVENTS = 200;
const ROUNDS = 5;

/** What the process that boots says, in milliseconds since it was spawned. */
interface Boot {
  readonly ready: number;
  readonly first: number;
  readonly last: number;
}

/** How soon a brain is at work again. */
export const recovery: Figure = {
  name: "recovery",
  title: "Recovery",
  method: `A process starts on a store with open runs of ${EVENTS} events each, all of which were cut off while a hand was at work, and takes up all of them. From the spawn of the process to the moment that the hand has the order of the first run, and of the last one. Loading the code is in it.`,
  async measure() {
    const folder = mkdtempSync(join(tmpdir(), "vidro-bench-"));
    try {
      for (const size of SIZES) await makeStore(join(folder, `${size}.db`), size);
      const boots = new Map<number, Boot[]>(SIZES.map((size) => [size, []]));
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const size of SIZES) boots.get(size)?.push(await boot(join(folder, `${size}.db`), folder, size));
      }
      return reportOf(boots);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

function reportOf(boots: ReadonlyMap<number, readonly Boot[]>): Awaited<ReturnType<Figure["measure"]>> {
  const of = (size: number, what: keyof Boot): number[] => boots.get(size)?.map((each) => each[what]) ?? [];
  const ms = (size: number, what: keyof Boot): string => `${figure(spreadOf(of(size, what)).median)} ms`;
  /** What each run beyond the first took. */
  const perRun = (size: number): number[] =>
    boots.get(size)?.map(({ first, last }) => (last - first) / (size - 1)) ?? [];
  const [least = 0, , most = 0] = SIZES;
  return {
    tables: [
      [
        ["open runs", "code loaded", "first run resumed", "last run resumed", "for each run"],
        ...SIZES.map((size) => [
          figure(size),
          ms(size, "ready"),
          ms(size, "first"),
          ms(size, "last"),
          `${figure(spreadOf(perRun(size)).median)} ms`,
        ]),
      ],
    ],
    goals: [
      atMost(`${most} runs: first run resumed, in ms`, 200, spreadOf(of(most, "first"))),
      atMost(`time for each run with ${most} ÷ with ${least}`, 1.15, ratioOf(perRun(most), perRun(least))),
    ],
  };
}

/** Makes a store of runs that were cut off while their hand was at work. */
async function makeStore(path: string, size: number): Promise<void> {
  const entries = await cutOff();
  const { journal } = await sqliteStore(path);
  for (let run = 0; run < size; run += 1) {
    const { lease } = await journal.create(
      { id: `run_${run}`, owner: "me", thread: `thread_${run}` },
      entries,
      thisHolder(),
    );
    if (lease !== undefined) await journal.release(lease);
  }
  await journal.close();
}

/** The beginning of a run of ours, up to an order that was given. */
async function cutOff(): Promise<readonly Entry[]> {
  const { journal } = memoryStore();
  await overJournal(journal).run(EVENTS);
  const [head] = await journal.list({ limit: 1 });
  const entries = await journal.read(head?.id ?? "", 0, EVENTS);
  if (entries.at(-1)?.event.type !== "action.started") throw new Error("The run is not cut off where it should be.");
  return entries;
}

/** Boots on a copy of the store, since booting changes it. */
async function boot(store: string, folder: string, size: number): Promise<Boot> {
  const copy = join(folder, "copy.db");
  for (const end of ["", "-wal", "-shm"]) rmSync(copy + end, { force: true });
  copyFileSync(store, copy);
  const script = fileURLToPath(new URL("contestants/boot.ts", import.meta.url));
  const now = performance.timeOrigin + performance.now();
  const args = [
    "--conditions=vidro-source",
    "--disable-warning=ExperimentalWarning",
    script,
    copy,
    String(size),
    String(now),
  ];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  await once(child, "close");
  return JSON.parse(said) as Boot;
}
