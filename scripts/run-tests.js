// Runs test files in the given order, three at a time, and tells how long the longest took. `node --test` would sort
// them by name. Runs on the pinned Node.
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { NODE_FLAGS, ROOT } from "./setup.js";
import { HANGS_MS } from "./test-files.js";

/** One file more than the two cores that tests are made for: many tests wait for a time that has to pass. */
const AT_ONCE = 3;
const LONGEST = 15;

/** @type {Map<string, number>} Milliseconds by file. */
const took = new Map();
/** Tests of the conformance suite. */
const conformance = { files: 0, passed: 0 };
const stream = run({
  files: process.argv.slice(2).map((path) => ROOT + path),
  cwd: ROOT,
  concurrency: AT_ONCE,
  timeout: HANGS_MS,
  // A failed test may leave a server or a connection open, which must not hold up the files that are still to run.
  execArgv: [...NODE_FLAGS, "--test-force-exit"],
});
stream.on("test:fail", ({ todo, skip }) => {
  if (todo === undefined && skip === undefined) process.exitCode = 1;
});
stream.on("test:summary", ({ file, duration_ms: ms, counts }) => {
  if (file === undefined) return;
  const path = file.slice(ROOT.length);
  took.set(path, ms);
  if (!path.startsWith("tests/conformance/")) return;
  conformance.files += 1;
  conformance.passed += counts.passed;
});
stream.on("end", () => {
  const longest = [...took].sort(([, a], [, b]) => b - a).slice(0, LONGEST);
  const { VIDRO_TEST_POSTGRES: servers } = process.env;
  const where = servers === undefined ? "SQLite, without a bus" : "PostgreSQL and Redis";
  process.stdout.write(
    `test: conformance on ${where}: ${conformance.passed} tests of ${conformance.files} files passed\n`,
  );
  process.stdout.write(`test: the files that took longest, in seconds\n`);
  for (const [file, ms] of longest) process.stdout.write(`${(ms / 1000).toFixed(1).padStart(7)} ${file}\n`);
});
stream.compose(spec()).pipe(process.stdout);
