// npm test [-- [--servers] <files or node:test flags>]: sets up, checks, then runs every test; those of conformance once
// more with PostgreSQL and Redis, as --servers runs the named ones.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { NODE, NODE_FLAGS, ROOT, run, setUp } from "./setup.js";
import { bundledCommands } from "./test-bundle.js";
import { HANGS_MS, testsLongestFirst } from "./test-files.js";

// All at once: most of the time of an installation is waiting.
const installations = [
  "scripts",
  "scripts/bundler",
  "tests",
  "tests/clients",
  "packages/brain/vendors",
  "packages/console",
].map((folder) => once(spawn(process.execPath, [`${ROOT}scripts/install.js`, folder], { stdio: "inherit" }), "exit"));
setUp();
installTestPrograms([
  "bwrap:bubblewrap",
  "promtool:prometheus",
  "openssl:openssl",
  "python3:python3",
  "curl:curl",
  "script:bsdutils",
  "ip:iproute2",
  "strace:strace",
  "chromium:chromium",
  "zsh:zsh",
  "fish:fish",
  "mandoc:mandoc",
  "initdb:postgresql",
  "redis-server:redis-server",
  "nginx:nginx-light libnginx-mod-stream",
]);
for (const [code] of await Promise.all(installations)) if (code !== 0) process.exit(code ?? 1);
const isOnServers = process.argv[2] === "--servers";
const asked = process.argv.slice(isOnServers ? 3 : 2);
// Tests start hundreds of processes: from a bundle, and with code that is compiled once, each takes half of the time.
const env = { NODE_COMPILE_CACHE: `${ROOT}node_modules/.cache/compile` };
if (asked.length === 0) {
  run(NODE, [`${ROOT}scripts/check.js`]);
  const files = testsLongestFirst();
  process.stdout.write(`test: ${files.length} files\n`);
  bundledCommands();
  run(NODE, [`${ROOT}scripts/run-tests.js`, ...files], env);
  const twice = files.filter((path) => path.startsWith("tests/conformance/"));
  process.stdout.write(`test: ${twice.length} files once more, on PostgreSQL and Redis\n`);
  runOnServers([NODE, `${ROOT}scripts/run-tests.js`, ...twice]);
} else {
  const files = asked.some((word) => word.endsWith(".ts")) ? asked : [...asked, ...testsLongestFirst()];
  bundledCommands();
  const words = [...NODE_FLAGS, "--test", "--test-concurrency=2", `--test-timeout=${HANGS_MS}`, ...files];
  if (isOnServers) runOnServers([NODE, ...words]);
  else run(NODE, words, env);
}

/**
 * Runs a command beside a PostgreSQL and a Redis of its own.
 * @param {string[]} command
 */
function runOnServers(command) {
  run(NODE, [...NODE_FLAGS, `${ROOT}scripts/with-servers.js`, ...command], env);
}

/**
 * Installs programs that the tests talk to, where the machine allows it; else says in one line what is missing.
 * @param {string[]} programs as `command:package`
 */
function installTestPrograms(programs) {
  const missing = programs.filter((program) => !isInstalled(program.split(":")[0] ?? ""));
  if (missing.length === 0) return;
  const packages = missing.flatMap((program) => (program.split(":")[1] ?? "").split(" "));
  if (process.getuid?.() !== 0 || spawnSync("which", ["apt-get"]).status !== 0) {
    process.stderr.write(`test: please install: ${packages.join(" ")}\n`);
    process.exit(1);
  }
  process.stdout.write(`test: installing ${packages.join(" ")}\n`);
  run("apt-get", ["update", "-qq"]);
  run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...packages], {
    DEBIAN_FRONTEND: "noninteractive",
    // Servers that are installed are not started: tests start their own.
    RUNLEVEL: "1",
  });
}

/**
 * Whether a program is in the path, or where Debian keeps those of PostgreSQL.
 * @param {string} command
 */
function isInstalled(command) {
  if (spawnSync("which", [command]).status === 0) return true;
  const versions = "/usr/lib/postgresql";
  return (
    existsSync(versions) && readdirSync(versions).some((version) => existsSync(`${versions}/${version}/bin/${command}`))
  );
}
