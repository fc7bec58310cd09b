// npm run bench [-- <figure>]: sets up, installs the peers once, measures, and writes docs/reference/benchmarks.md.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { installPeers, NODE, NODE_FLAGS, ROOT, run, setUp } from "./setup.js";

setUp();
for (const folder of ["bench", "tests"]) installPeers(folder);
run(NODE, [`${ROOT}scripts/bundler/main.js`]);
if (!existsSync("/usr/lib/postgresql")) installPostgres();
mkdirSync(`${ROOT}docs/reference`, { recursive: true });
run(NODE, [...NODE_FLAGS, `${ROOT}bench/main.ts`, ...process.argv.slice(2)]);

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
