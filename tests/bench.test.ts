import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { missingOf, peerNeed } from "../bench/contest/needs.ts";
import type { Figure } from "../bench/contest/report.ts";
import { measureFigures } from "../bench/contest/session.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Figures by name that each take so many seconds of a clock of their own, and what a session says of them. */
async function sessionOf(
  figures: readonly (Partial<Figure> & { readonly name: string; readonly seconds: number })[],
  took: { readonly [name: string]: number } = {},
): Promise<{ readonly isSound: boolean; readonly taken: readonly string[]; readonly said: string }> {
  let clock = 0;
  const [taken, said]: [string[], string[]] = [[], []];
  const all = figures.map(({ seconds, ...figure }): Figure => {
    const measure = async () => {
      clock += seconds * 1000;
      return { tables: [], goals: [] };
    };
    return { title: figure.name, method: "", measure, ...figure };
  });
  const isSound = await measureFigures(all, {
    boundMs: 600_000,
    now: () => clock,
    tookMs: ({ name }) => took[name],
    take: ({ name }) => void taken.push(name),
    say: (line) => void said.push(line),
  });
  return { isSound, taken, said: said.join("\n") };
}

test("a figure whose program the machine does not have is left out by name, and the others are measured", async () => {
  const needs = [{ name: "a server", isHere: () => false }, peerNeed("no-such-package")];
  const { isSound, taken, said } = await sessionOf([
    { name: "first", seconds: 1, needs },
    { name: "second", seconds: 1 },
  ]);
  assert.deepEqual(taken, ["second"]);
  assert.ok(said.includes("first is left out: this machine has no a server and no no-such-package (npm)"), said);
  assert.equal(isSound, true);
});

test("a figure that fails is told, and the others are measured", async () => {
  const measure = () => Promise.reject(new Error("it broke"));
  const { isSound, taken, said } = await sessionOf([
    { name: "first", seconds: 1, measure },
    { name: "second", seconds: 1 },
  ]);
  assert.deepEqual(taken, ["second"]);
  assert.match(said, /first has failed: Error: it broke/);
  assert.equal(isSound, false);
});

test("figures that do not fit into the time are left out by name, the longest first", async () => {
  const figures = [
    { name: "long", seconds: 500 },
    { name: "short", seconds: 100 },
    { name: "middle", seconds: 200 },
  ];
  const { taken, said } = await sessionOf(figures, { long: 500_000, short: 100_000, middle: 200_000 });
  assert.deepEqual(taken, ["short", "middle"]);
  assert.match(said, /long is left out: there is no time left for it; npm run bench -- long/);
});

test("a package that is installed is not missing", () => {
  assert.deepEqual(missingOf([peerNeed("axe-core", "tests")]), []);
});

test("the bench without Redis leaves the figure of several brains out, and ends well", () => {
  const page = new URL("../docs/reference/benchmarks.md", import.meta.url);
  const before = readFileSync(page, "utf8");
  const words = ["--conditions=vidro-source", "--disable-warning=ExperimentalWarning", "bench/main.ts", "brains"];
  const ended = spawnSync(process.execPath, words, { cwd: ROOT, env: { PATH: "/nowhere" }, encoding: "utf8" });
  assert.equal(ended.status, 0, ended.stderr);
  assert.match(ended.stderr, /brains is left out: this machine has no .*redis-server/);
  assert.equal(readFileSync(page, "utf8"), before);
});
