import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { contextIn, executionOf } from "../packages/hands/src/scratch.fixture.ts";
import type { HandContext } from "../packages/hands/src/tools/tool.ts";
import { searchTextTool } from "../packages/hands/src/tools/search-text.ts";
import { RIPGREP } from "./contest/needs.ts";
import { atMost } from "./contest/report.ts";
import type { Figure, Report } from "./contest/report.ts";
import { figure, ratioOf, spreadOf } from "./contest/spread.ts";

const FOLDERS = 1000;
const FILES = 100;
const ROUNDS = 3;
const EVERY = 1000;
const LINE = "export const value = compute(1, 2, 3); // some words here\n";
const NOWHERE = "/nonexistent";

/** What it takes to find a text in a large tree. */
export const search: Figure = {
  name: "search",
  title: "Search",
  method:
    "A text that 100 of 100,000 files hold, in 1,000 folders with 70 MB together: `search_text` with and without ripgrep on the host, beside ripgrep itself, in turns.",
  needs: [RIPGREP],
  async measure() {
    const folder = mkdtempSync(join(tmpdir(), "vidro-bench-search-"));
    try {
      const tree = makeTree(folder);
      const own = contextIn(join(folder, "hand"));
      const context = { ...own, workspace: tree };
      const without = { ...context, env: { PATH: NOWHERE } };
      const took = { rg: [] as number[], with: [] as number[], without: [] as number[] };
      for (let round = 0; round < ROUNDS; round += 1) {
        took.rg.push(await timed(async () => ripgrep(tree)));
        took.with.push(await timed(() => searched(context)));
        took.without.push(await timed(() => searched(without)));
      }
      return reportOf(took);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

function makeTree(folder: string): string {
  const tree = join(folder, "tree");
  for (let one = 0; one < FOLDERS; one += 1) {
    const inner = join(tree, `d${one % 20}`, `e${one}`);
    mkdirSync(inner, { recursive: true });
    for (let file = 0; file < FILES; file += 1) {
      const isHolding = (one * FILES + file) % EVERY === 0;
      writeFileSync(join(inner, `file${file}.ts`), LINE.repeat(12) + (isHolding ? "needle here\n" : ""));
    }
  }
  return tree;
}

/** Whether the host has ripgrep, which finds the text. */
function ripgrep(tree: string): void {
  const { status, error } = spawnSync("rg", ["--no-config", "-n", "needle", tree], { stdio: "ignore" });
  if (error !== undefined || status !== 0) throw new Error("This figure needs ripgrep: install rg.");
}

async function searched(context: HandContext): Promise<void> {
  const input = { pattern: "needle" };
  const plan = await searchTextTool.plan(input, context);
  const outcome = await searchTextTool.run(input, executionOf(context, plan));
  const found = outcome.kind === "value" ? outcome.text.split("\n").length : 0;
  if (found !== (FOLDERS * FILES) / EVERY) throw new Error(`${found} lines were found.`);
}

async function timed(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

function reportOf(took: { readonly rg: number[]; readonly with: number[]; readonly without: number[] }): Report {
  const row = (name: string, ms: readonly number[]): string[] => [name, `${figure(spreadOf(ms).median)} ms`];
  return {
    tables: [
      [
        ["", "median"],
        row("ripgrep", took.rg),
        row("search_text with ripgrep", took.with),
        row("search_text without", took.without),
      ],
    ],
    goals: [
      atMost("with ripgrep, to ripgrep", 1.5, ratioOf(took.with, took.rg)),
      atMost("without it, to ripgrep", 6, ratioOf(took.without, took.rg)),
    ],
  };
}
