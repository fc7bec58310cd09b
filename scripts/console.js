// npm run console: builds the web console, unless the build is of the present sources.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { docSources, writeDocPages } from "./docs/pages.js";
import { installPeers, lockFor, NODE, ROOT, setUpToRun } from "./setup.js";

const FOLDER = `${ROOT}packages/console/`;
const DIST = `${FOLDER}dist`;
/** What a build is made from. */
const INPUTS = [
  "console/src",
  "console/index.html",
  "console/vite.config.js",
  "console/package-lock.json",
  "client/src",
  "core/src",
];

/** Builds the console when its build is missing or of other sources; of several at once one builds. Throws when it cannot. */
export function buildConsole() {
  const digest = digestOfInputs();
  if (isBuilt(digest)) return;
  const unlock = lockFor(`${ROOT}.cache/console`, "the build of the console");
  try {
    if (isBuilt(digest)) return;
    installPeers("packages/console");
    process.stderr.write("vidro: building the console (once, about 5 seconds)\n");
    const aside = `${ROOT}.cache/console-${process.pid}`;
    const vite = `${FOLDER}node_modules/vite/bin/vite.js`;
    const args = ["build", "--logLevel", "warn", "--outDir", aside, "--emptyOutDir"];
    const { status, stdout, stderr } = spawnSync(NODE, [vite, ...args], { cwd: FOLDER, encoding: "utf8" });
    if (status !== 0) throw new Error(`The console cannot be built:\n${stdout}${stderr}`);
    writeDocPages(aside);
    writeFileSync(`${aside}/.digest`, digest);
    rmSync(DIST, { recursive: true, force: true });
    renameSync(aside, DIST);
  } finally {
    unlock();
  }
}

/** @param {string} digest */
function isBuilt(digest) {
  return existsSync(`${DIST}/.digest`) && readFileSync(`${DIST}/.digest`, "utf8") === digest;
}

/** A digest of all that a build is made from. */
function digestOfInputs() {
  const hash = createHash("sha256");
  for (const input of INPUTS) {
    const path = `${ROOT}packages/${input}`;
    const files = input.endsWith("/src")
      ? readdirSync(path, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile() && !/\.(?:test|fixture)\.ts$/.test(entry.name))
          .map((entry) => `${entry.parentPath}/${entry.name}`)
          .sort()
      : [path];
    for (const file of files) hash.update(`${file.slice(ROOT.length)}\n`).update(readFileSync(file));
  }
  const docs = ["markdown-html.js", "pages.js", "style.css"].map((name) => `scripts/docs/${name}`);
  for (const file of [...docs, ...docSources()]) hash.update(`${file}\n`).update(readFileSync(`${ROOT}${file}`));
  return hash.digest("hex");
}

if (import.meta.main ?? process.argv[1] === import.meta.filename) {
  setUpToRun();
  buildConsole();
}
