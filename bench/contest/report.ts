import type { Spread } from "./spread.ts";
import type { Need } from "./needs.ts";
import { figure } from "./spread.ts";

/** One figure: how it is measured and what came out; `npm run bench -- <name>` runs it alone. */
export interface Figure {
  readonly name: string;
  readonly title: string;
  /** How it is measured and what is compared with what, in Markdown. */
  readonly method: string;
  /** Programs without which it cannot be measured. */
  readonly needs?: readonly Need[];
  measure(): Promise<Report>;
}

/** What came out: tables, the goals, and what is to be said besides. */
export interface Report {
  readonly tables: readonly Table[];
  readonly goals: readonly Goal[];
  readonly notes?: readonly string[];
}

/** Rows of cells, the first of them being the heads. */
export type Table = readonly (readonly string[])[];

/** A goal, and whether it was met. */
export interface Goal {
  readonly goal: string;
  readonly reached: string;
  readonly met: boolean;
}

/** A goal for the median of ratios to be at most so much. */
export function atMost(what: string, most: number, found: Spread): Goal {
  return { goal: `${what} ≤ ${most}`, reached: spelled(found), met: found.median <= most };
}

/** A goal for the median of ratios to be at least so much. */
export function atLeast(what: string, least: number, found: Spread): Goal {
  return { goal: `${what} ≥ ${least}`, reached: spelled(found), met: found.median >= least };
}

function spelled({ median, least, most }: Spread): string {
  return `${figure(median)} (${figure(least)}–${figure(most)})`;
}

/** A figure's section of the page of results. */
export function sectionOf(measured: Figure, report: Report): string {
  const goals: Table = [
    ["goal", "reached: median (least–most)", ""],
    ...report.goals.map(({ goal, reached, met }) => [goal, reached, met ? "met" : "missed"]),
  ];
  const notes = (report.notes ?? []).map((note) => `- ${note}\n`).join("");
  const parts = [
    `## ${measured.title}`,
    measured.method,
    ...report.tables.map(markdown),
    report.goals.length === 0 ? "" : markdown(goals),
    notes.trim(),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

function markdown(table: Table): string {
  const [heads = [], ...rows] = table;
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [
    line(heads),
    `|${heads.map((_, column) => (column === 0 ? "---" : "--:")).join("|")}|`,
    ...rows.map(line),
  ].join("\n");
}
