import type { Load } from "./contest/contestant.ts";
import { POSTGRES } from "./contest/needs.ts";
import { atLeast, atMost } from "./contest/report.ts";
import type { Figure, Goal, Report } from "./contest/report.ts";
import { contest } from "./contest/rounds.ts";
import type { Entrant, Result } from "./contest/rounds.ts";
import { figure, ratioOf, spreadOf, times } from "./contest/spread.ts";
import { DBOS, RESTATE } from "./contestants/durable.ts";

const POWER = "power loss";
const FLOOR: Entrant = {
  name: "floor: bare pg loop, same statements, commits and bytes",
  module: "contestants/postgres.ts",
  open: "bare",
  survives: POWER,
};
const VIDRO: Entrant = {
  name: "Vidro on PostgreSQL",
  module: "contestants/postgres.ts",
  open: "durable",
  survives: `${POWER}; intent and outcome of every effect, hash chain; no effect is done twice`,
};
const ENTRANTS = [FLOOR, VIDRO, DBOS, RESTATE];
const LOADS: readonly Load[] = [
  { runs: 1, steps: 10, times: 5 },
  { runs: 1, steps: 200, times: 1 },
  { runs: 64, steps: 10, times: 1 },
];
const ROUNDS = 3;

/** What a durable step costs on PostgreSQL. */
export const durablePostgres: Figure = {
  name: "durable-postgres",
  title: "Durable loop on PostgreSQL",
  method: `The same work as in the durable loop, with the journal in a PostgreSQL on this machine that syncs every commit. The floor is a bare pg loop that inserts the same rows in the same two statements a step and does nothing else. DBOS has a PostgreSQL of its own with the same settings, Restate its own log.`,
  needs: [POSTGRES],
  async measure() {
    return reportOf(await contest(ENTRANTS, ROUNDS, () => ({ loads: LOADS })));
  },
};

function reportOf(results: readonly Result[]): Report {
  const us = (entrant: Entrant, index: number): number[] =>
    results.find((result) => result.entrant === entrant)?.rounds.map(({ loads }) => loads[index]?.stepUs ?? NaN) ?? [];
  const cell = (entrant: Entrant, index: number): string => {
    const median = figure(spreadOf(us(entrant, index)).median);
    if (entrant === FLOOR || median === "–") return median;
    const [to, word] = entrant === VIDRO ? [FLOOR, "floor"] : [VIDRO, "ours"];
    return `${median} · ${times(ratioOf(us(entrant, index), us(to, index)))} ${word}`;
  };
  const took = results.filter(({ failed }) => failed === undefined).map(({ entrant }) => entrant);
  const goals = LOADS.flatMap((load, index): Goal[] => [
    atMost(`${named(load)}: ours ÷ floor`, 1.5, ratioOf(us(VIDRO, index), us(FLOOR, index))),
    ...took
      .filter((entrant) => entrant === DBOS || entrant === RESTATE)
      .map((peer) => atLeast(`${named(load)}: ${peer.name} ÷ ours`, 3, ratioOf(us(peer, index), us(VIDRO, index)))),
  ]);
  const left = results.flatMap(({ entrant, failed }) =>
    failed === undefined ? [] : [`Left out, since it did not run here: ${entrant.name} (${failed}).`],
  );
  const heads = ["µs per step", ...LOADS.map(named), "what survives"];
  const rows = took.map((entrant) => [
    entrant.name,
    ...LOADS.map((_, index) => cell(entrant, index)),
    entrant.survives ?? "",
  ]);
  return { tables: [[heads, ...rows]], goals, notes: left };
}

function named({ runs, steps }: Load): string {
  return runs === 1 ? `${steps} steps` : `${runs} runs at once, ${steps} steps`;
}
