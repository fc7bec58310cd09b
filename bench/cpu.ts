import type { Load } from "./contest/contestant.ts";
import { atMost } from "./contest/report.ts";
import type { Figure, Report } from "./contest/report.ts";
import { contest } from "./contest/rounds.ts";
import type { Entrant, Result } from "./contest/rounds.ts";
import { figure, ratioOf, spreadOf, times } from "./contest/spread.ts";

const OURS: Entrant = { name: "Vidro, memory store", module: "contestants/ours.ts", open: "inMemory" };
const PI: Entrant = { name: "pi agent loop", module: "peers/pi.js", open: "inMemory" };
const AI: Entrant = { name: "ai `generateText`", module: "peers/ai.js", open: "inMemory" };

const LOADS: readonly Load[] = [
  { runs: 1, steps: 20, times: 100 },
  { runs: 1, steps: 200, times: 10 },
  { runs: 1, steps: 800, times: 3 },
];
const ROUNDS = 5;

/** What the loop itself costs. */
export const cpu: Figure = {
  name: "cpu",
  title: "CPU per step, without a disk",
  method:
    "CPU time of the whole process (all threads: also garbage collection and compilation) for each step, everything in memory. Ours redacts, judges and folds five events at each step; the others keep a list of messages.",
  async measure() {
    const results = await contest([OURS, PI, AI], ROUNDS, () => ({ loads: LOADS }));
    return reportOf(results);
  },
};

function reportOf(results: readonly Result[]): Report {
  const cpuUs = (entrant: Entrant, load: number): number[] =>
    results.find((result) => result.entrant === entrant)?.rounds.map(({ loads }) => loads[load]?.cpuUs ?? NaN) ?? [];
  const cell = (entrant: Entrant, load: number): string => {
    const us = `${figure(spreadOf(cpuUs(entrant, load)).median)} µs`;
    return entrant === OURS ? us : `${us} · ${times(ratioOf(cpuUs(entrant, load), cpuUs(OURS, load)))} ours`;
  };
  return {
    tables: [
      [
        ["", ...LOADS.map(({ steps }) => `${steps} steps`)],
        ...results.map(({ entrant }) => [entrant.name, ...LOADS.map((_, load) => cell(entrant, load))]),
      ],
    ],
    goals: LOADS.flatMap(({ steps }, load) => [
      atMost(`${steps} steps: ours in µs`, 60, spreadOf(cpuUs(OURS, load))),
      atMost(`${steps} steps: ours ÷ pi`, 1, ratioOf(cpuUs(OURS, load), cpuUs(PI, load))),
    ]),
  };
}
