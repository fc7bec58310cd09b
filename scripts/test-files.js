import { readdirSync } from "node:fs";
import { ROOT } from "./setup.js";

/** A test that takes longer hangs: it fails by its name instead of holding up the others. */
export const HANGS_MS = 600_000;

/**
 * Every test of the repository, by its path from the root, in order.
 * @returns {string[]}
 */
export function testFiles() {
  return ["packages", "tests"]
    .flatMap((folder) =>
      readdirSync(`${ROOT}${folder}`, { recursive: true }).map((path) => `${folder}/${String(path)}`),
    )
    .filter((path) => path.endsWith(".test.ts") && !path.includes("node_modules"))
    .sort();
}

/** Files that take longest begin first, so that no core is idle in the end; those that wait stand between those that work. */
const LONG = [
  "tests/faults/links-kill.test.ts",
  "tests/faults/live-again.test.ts",
  "tests/kill.test.ts",
  "tests/faults/slow.test.ts",
  "tests/faults/brains-failover.test.ts",
  "tests/faults/brains-bus.test.ts",
  "tests/hand-kill.test.ts",
  "tests/soak/soak.test.ts",
  "tests/crash.test.ts",
  "tests/chaos/chaos.test.ts",
  "tests/packages/packages.test.ts",
  "tests/faults/links-silence.test.ts",
  "tests/faults/ledgers.test.ts",
  "tests/newcomer.test.ts",
  "tests/faults/vanish.test.ts",
  "tests/clients/clients.test.ts",
];

/**
 * The tests in the order in which they take the least time together.
 * @returns {string[]}
 */
export function testsLongestFirst() {
  const files = testFiles();
  const gone = LONG.find((path) => !files.includes(path));
  if (gone !== undefined) throw new Error(`scripts/test-files.js names ${gone}, which is no test.`);
  return [...LONG, ...files.filter((path) => !LONG.includes(path))];
}
