// npm run bench [-- <figure>]: sets up, installs the peers once, measures, and writes docs/reference/benchmarks.md.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, statSync, utimesSync } from "node:fs";
import { NODE, NODE_FLAGS, ROOT, run, setUp } from "./setup.js";

setUp();
installPeers(`${ROOT}bench/`);
if (!existsSync("/usr/lib/postgresql")) installPostgres();
mkdirSync(`${ROOT}docs/reference`, { recursive: true });
run(NODE, [...NODE_FLAGS, `${ROOT}bench/main.ts`, ...process.argv.slice(2)]);

/**
 * Installs what ours is compared with, when it is missing or older than its lockfile. No script of theirs is run.
 * @param {string} folder
 */
function installPeers(folder) {
  const done = `${folder}node_modules/.package-lock.json`;
  if (existsSync(done) && statSync(done).mtimeMs >= statSync(`${folder}package-lock.json`).mtimeMs) return;
  process.stderr.write("bench: installing the peers (once, about half a minute)\n");
  run("npm", ["ci", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
  const now = new Date();
  utimesSync(done, now, now);
}

/** Installs PostgreSQL where the machine allows it; without it, the table says that DBOS was left out. */
function installPostgres() {
  if (process.getuid?.() !== 0 || spawnSync("which", ["apt-get"]).status !== 0) {
    process.stderr.write("bench: without PostgreSQL, DBOS is left out; please install postgresql\n");
    return;
  }
  process.stderr.write("bench: installing postgresql\n");
  run("apt-get", ["update", "-qq"]);
  run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "postgresql"], {
    DEBIAN_FRONTEND: "noninteractive",
  });
}
