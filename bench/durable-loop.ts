import type { Load } from "./contest/contestant.ts";
import { atLeast, atMost } from "./contest/report.ts";
import type { Figure, Goal, Report, Table } from "./contest/report.ts";
import { contest } from "./contest/rounds.ts";
import type { Entrant, Result } from "./contest/rounds.ts";
import { figure, ratioOf, spreadOf, times } from "./contest/spread.ts";
import {
  DBOS,
  FLOOR,
  LANGGRAPH_DELTA,
  LANGGRAPH_SHIPPED,
  LANGGRAPH_WHOLE,
  PI,
  RESTATE,
  VIDRO,
} from "./contestants/durable.ts";

const ENTRANTS = [FLOOR, VIDRO, RESTATE, DBOS, LANGGRAPH_DELTA, LANGGRAPH_SHIPPED, LANGGRAPH_WHOLE, PI];
/** The peers that are as safe as ours, and so are what the goals are about. */
const PEERS = [RESTATE, DBOS, LANGGRAPH_DELTA];

const LOADS: readonly Load[] = [
  { runs: 1, steps: 10, times: 10 },
  { runs: 1, steps: 200, times: 1 },
  { runs: 1, steps: 800, times: 1 },
  { runs: 64, steps: 10, times: 1 },
  { runs: 64, steps: 50, times: 1 },
];
const ROUNDS = 5;

/** What a durable step costs. */
export const durableLoop: Figure = {
  name: "durable-loop",
  title: "Durable loop",
  method: `Wall time for each step of an agent run whose every step is on disk before the next one begins.
Ours writes five entries in **two commits** a step: the outcome of the last action with the intent to call the model; the reply, the verdict and the intent to act. The floor is a bare node:sqlite loop with the same rows in the same two commits and nothing else. Runs that are driven at once share commits in ours and in the floor.`,
  async measure() {
    const results = await contest(ENTRANTS, ROUNDS, (entrant) => ({
      loads: LOADS.filter((load) => isFor(entrant, load)),
    }));
    return reportOf(results);
  },
};

function isFor(entrant: Entrant, { runs, steps }: Load): boolean {
  return runs * steps <= (entrant.mostSteps ?? Infinity);
}

/** Wall time of each round, for an entrant and a load. */
type StepUs = (entrant: Entrant, load: Load) => number[];

function reportOf(results: readonly Result[]): Report {
  const stepUs: StepUs = (entrant, load) => {
    const at = LOADS.filter((other) => isFor(entrant, other)).indexOf(load);
    const rounds = results.find((result) => result.entrant === entrant)?.rounds ?? [];
    return at === -1 ? [] : rounds.map(({ loads }) => loads[at]?.stepUs ?? NaN);
  };
  const cell = (entrant: Entrant, load: Load): string => {
    const us = figure(spreadOf(stepUs(entrant, load)).median);
    if (entrant === FLOOR || us === "–") return us;
    const [to, word] = entrant === VIDRO ? [FLOOR, "floor"] : [VIDRO, "ours"];
    return `${us} · ${times(ratioOf(stepUs(entrant, load), stepUs(to, load)))} ${word}`;
  };
  const took = results.filter(({ failed }) => failed === undefined);
  const table: Table = [
    ["µs per step", ...LOADS.map(named), "what survives"],
    ...took.map(({ entrant }) => [entrant.name, ...LOADS.map((load) => cell(entrant, load)), entrant.survives ?? ""]),
  ];
  const left = results.flatMap(({ entrant, failed }) =>
    failed === undefined ? [] : [`Left out, since it did not run here: ${entrant.name} (${failed}).`],
  );
  return { tables: [table], goals: LOADS.flatMap((load) => goalsFor(load, stepUs)), notes: left };
}

function goalsFor(load: Load, stepUs: StepUs): Goal[] {
  const alone = load.runs === 1;
  const best = [...PEERS].sort((a, b) => spreadOf(stepUs(a, load)).median - spreadOf(stepUs(b, load)).median);
  const against = alone ? PEERS : best.slice(0, 1);
  return [
    atMost(`${named(load)}: ours ÷ floor`, alone ? 1.3 : 2, ratioOf(stepUs(VIDRO, load), stepUs(FLOOR, load))),
    ...against
      .filter((peer) => stepUs(peer, load).length > 0)
      .map((peer) =>
        atLeast(`${named(load)}: ${peer.name} ÷ ours`, alone ? 4 : 8, ratioOf(stepUs(peer, load), stepUs(VIDRO, load))),
      ),
  ];
}

function named({ runs, steps }: Load): string {
  return runs === 1 ? `${steps} steps` : `${runs} runs at once, ${steps} steps`;
}
