import type { AtDepth, Depth } from "./contest/depth.ts";
import { atLeast, atMost } from "./contest/report.ts";
import type { Figure, Report, Table } from "./contest/report.ts";
import { contest } from "./contest/rounds.ts";
import type { Entrant, Result } from "./contest/rounds.ts";
import { figure, ratioOf, spreadOf, times } from "./contest/spread.ts";
import { FLOOR, LANGGRAPH_DELTA, LANGGRAPH_WHOLE, VIDRO } from "./contestants/durable.ts";

const EVENTS_PER_STEP = 5;

/** 10, 200, 800 and 10,000 events deep. */
const DEPTHS: readonly Depth[] = [
  { at: 3, window: 2, runs: 60 },
  { at: 40, window: 20, runs: 6 },
  { at: 160, window: 60, runs: 2 },
  { at: 2000, window: 100, runs: 1 },
];
const NAMES = ["10", "200", "800", "10,000"];
const ROUNDS = 5;
const ENTRANTS = [FLOOR, VIDRO, LANGGRAPH_DELTA, LANGGRAPH_WHOLE];

/** Whether a step costs the same however long the run is. */
export const growth: Figure = {
  name: "growth",
  title: "Growth",
  method: `What a step costs when the run is already so long, from one call of the model to the next, and what the run left on the disk, for each step. A step of ours is ${EVENTS_PER_STEP} events; the others are measured at the same number of steps. Whether it is flat is judged by the CPU time of the process (all threads), since wall time is mostly the disk's, which others use, too; the floor has no state that could grow and shows how much that is. The default channel of LangGraph is not taken 10,000 events deep: each step writes 1.8 MB there, which makes some GB and minutes.`,
  async measure() {
    const results = await contest(ENTRANTS, ROUNDS, (entrant) => ({
      depths: entrant === LANGGRAPH_WHOLE ? DEPTHS.slice(0, -1) : DEPTHS,
    }));
    return reportOf(results);
  },
};

function reportOf(results: readonly Result[]): Report {
  const at = (entrant: Entrant, depth: number, what: keyof AtDepth): number[] => {
    const rounds = results.find((result) => result.entrant === entrant)?.rounds ?? [];
    return rounds.flatMap(({ depths }) => depths[depth]?.[what] ?? []);
  };
  const us = (entrant: Entrant, depth: number): number[] => at(entrant, depth, "stepUs");
  const table = (title: string, cell: (entrant: Entrant, depth: number) => string): Table => [
    [title, ...NAMES.map((name) => `${name} events`)],
    ...results
      .filter(({ failed }) => failed === undefined)
      .map(({ entrant }) => [entrant.name, ...DEPTHS.map((_, depth) => cell(entrant, depth))]),
  ];
  const cpuUs = (entrant: Entrant, depth: number): number[] => at(entrant, depth, "cpuUs");
  const time = (entrant: Entrant, depth: number): string => figure(spreadOf(us(entrant, depth)).median);
  const cpu = (entrant: Entrant, depth: number): string => {
    const median = figure(spreadOf(cpuUs(entrant, depth)).median);
    return `${median} · ${times(ratioOf(cpuUs(entrant, depth), cpuUs(entrant, 1)))}`;
  };
  const bytes = (entrant: Entrant, depth: number): string => figure(spreadOf(at(entrant, depth, "stepBytes")).median);
  const depths = [...DEPTHS.keys()];
  return {
    tables: [
      table("µs per step", time),
      table("CPU µs per step · × its own at 200 events", cpu),
      table("bytes on disk per step", bytes),
    ],
    goals: [
      ...depths
        .filter((depth) => depth !== 1)
        .map((depth) =>
          atMost(`CPU of ours at ${NAMES[depth]} events ÷ at 200`, 1.15, ratioOf(cpuUs(VIDRO, depth), cpuUs(VIDRO, 1))),
        ),
      atMost(
        "bytes per step at 10,000 events ÷ at 800",
        1.15,
        ratioOf(at(VIDRO, 3, "stepBytes"), at(VIDRO, 2, "stepBytes")),
      ),
      ...depths.map((depth) =>
        atLeast(
          `${NAMES[depth]} events: ${LANGGRAPH_DELTA.name} ÷ ours`,
          1,
          ratioOf(us(LANGGRAPH_DELTA, depth), us(VIDRO, depth)),
        ),
      ),
    ],
  };
}
