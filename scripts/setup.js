// Makes a fresh clone ready: installs what the lockfile names, once, and says so. Plain JavaScript, since it runs
// on whatever Node the machine has.
import { spawnSync } from "node:child_process";
import { existsSync, statSync, utimesSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The root of the repository. */
export const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Where npm puts the pinned Node. */
export const NODE = `${ROOT}node_modules/.bin/node`;

/** Flags with which the pinned Node runs this repository's TypeScript from source. */
export const NODE_FLAGS = ["--conditions=vidro-source", "--disable-warning=ExperimentalWarning"];

/** Installs dependencies when they are missing or older than the lockfile; ends the process when that fails. */
export function setUp() {
  const lock = `${ROOT}package-lock.json`;
  const done = `${ROOT}node_modules/.package-lock.json`;
  if (existsSync(done) && existsSync(NODE) && statSync(done).mtimeMs >= statSync(lock).mtimeMs) return;
  process.stderr.write("vidro: installing dependencies and the pinned Node (once, about 15 seconds)\n");
  run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
  const now = new Date();
  utimesSync(done, now, now);
}

/**
 * Installs the programs of others that a folder's package.json names, when they are missing or older than its lockfile.
 * No script of theirs is run.
 * @param {string} folder from the root of the repository
 */
export function installPeers(folder) {
  const path = `${ROOT}${folder}/`;
  const done = `${path}node_modules/.package-lock.json`;
  if (existsSync(done) && statSync(done).mtimeMs >= statSync(`${path}package-lock.json`).mtimeMs) return;
  process.stderr.write(`vidro: installing the programs that ${folder} uses (once, about half a minute)\n`);
  run("npm", ["ci", "--prefix", path, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
  const now = new Date();
  utimesSync(done, now, now);
}

/**
 * Runs a command to its end with our own standard streams; a failure ends this process with the same code.
 * @param {string} command
 * @param {string[]} args
 * @param {{ [name: string]: string }} [env] added to the environment
 */
export function run(command, args, env = {}) {
  const { status, signal, error } = spawnSync(command, args, {
    cwd: ROOT,
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  if (error !== undefined) process.stderr.write(`vidro: ${command} cannot be run: ${error.message}\n`);
  if (status !== 0) process.exit(status ?? (signal === "SIGINT" ? 130 : 1));
}
