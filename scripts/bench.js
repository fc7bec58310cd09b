// npm run bench [-- <figure>]: sets up, installs the peers once, measures, and writes docs/reference/benchmarks.md.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { NODE, NODE_FLAGS, ROOT, run, setUp } from "./setup.js";

setUp();
for (const folder of ["bench", "tests"])
  if (spawnSync(process.execPath, [`${ROOT}scripts/install.js`, folder], { stdio: "inherit" }).status !== 0)
    process.stderr.write(`bench: what ${folder}/package.json names cannot be installed; what needs it is left out\n`);
run(NODE, [`${ROOT}scripts/bundler/main.js`]);
const asked = process.argv.slice(2);
for (const { figures, path, name, without } of [
  {
    figures: ["durable-loop", "durable-postgres", "brains"],
    path: "/usr/lib/postgresql",
    name: "postgresql",
    without: "DBOS and the figures on PostgreSQL are left out",
  },
  {
    figures: ["brains"],
    path: "/usr/bin/redis-server",
    name: "redis-server",
    without: "the figure brains is left out",
  },
  {
    figures: ["remote-command"],
    path: "/usr/sbin/sshd",
    name: "openssh-server",
    without: "the rows of ssh are left out",
  },
])
  if ((asked.length === 0 || figures.some((figure) => asked.includes(figure))) && !existsSync(path))
    installSystem(name, without);
mkdirSync(`${ROOT}docs/reference`, { recursive: true });
run(NODE, [...NODE_FLAGS, `${ROOT}bench/main.ts`, ...asked]);

/**
 * Installs a package of the system where the machine allows it; without it, the tables say what was left out.
 * @param {string} name
 * @param {string} without what is missing then, in words
 */
function installSystem(name, without) {
  if (process.getuid?.() !== 0 || spawnSync("which", ["apt-get"]).status !== 0) {
    process.stderr.write(`bench: without ${name}, ${without}; please install it\n`);
    return;
  }
  process.stderr.write(`bench: installing ${name}\n`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const words of [
    ["update", "-qq"],
    ["install", "-y", "-qq", "--no-install-recommends", name],
  ])
    if (spawnSync("apt-get", words, { stdio: "inherit", env }).status !== 0) {
      process.stderr.write(`bench: ${name} cannot be installed; ${without}\n`);
      return;
    }
}
