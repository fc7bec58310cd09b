// The commands as tests start them: bundled from the present sources, with which they start in two thirds of the time.
import { createHash } from "node:crypto";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { basename } from "node:path";
import { installPeers, lockFor, NODE, ROOT } from "./setup.js";

const CACHE = `${ROOT}node_modules/.cache/commands/`;
const OTHERS = ["scripts/test-bundle.js", "scripts/bundler/bundle.js", "package-lock.json"];
const SUPPORT = "tests/support";
/** Programs of tests, and modules that change the commands when they are loaded before them: in the same bundle they share theirs. */
const PROGRAMS = [
  "executor-process",
  "follower-process",
  "hand-process",
  "patient-streams",
  "short-heartbeats",
  "short-leases",
  "short-redials",
  "short-timeouts",
  "tcp-brain-process",
];
/** An older bundle of other sources is removed: no test runs that long. */
const OLD_MS = 3_600_000;

/**
 * The bundle of the present sources, laid out as the archive is; it is made when there is none. Of several processes
 * that need it at once one makes it and the others wait.
 * @returns {{ readonly vidro: string, readonly hand: string, readonly launcher: string, program(name: string): string }} programs for Node, and the launcher of `vidro`
 */
export function bundledCommands() {
  const folder = `${CACHE}${digestOfSources()}/`;
  if (!existsSync(folder)) {
    const unlock = lockFor(`${ROOT}.cache/commands`, "the bundle of the commands");
    try {
      if (!existsSync(folder)) make(folder);
    } finally {
      unlock();
    }
  }
  return {
    vidro: `${folder}lib/vidro/vidro.js`,
    hand: `${folder}lib/vidro/vidro-hand.js`,
    launcher: `${folder}bin/vidro`,
    program: (name) => `${folder}lib/vidro/${name}.js`,
  };
}

/**
 * Makes the bundle aside and moves it into place, so that a bundle that is there is whole.
 * @param {string} folder
 */
function make(folder) {
  installPeers("scripts/bundler");
  mkdirSync(CACHE, { recursive: true });
  for (const name of readdirSync(CACHE))
    if (Date.now() - statSync(CACHE + name).mtimeMs > OLD_MS) rmSync(CACHE + name, { recursive: true, force: true });
  const aside = mkdtempSync(`${CACHE}making-`);
  const { status, stderr } = spawnSync(
    NODE,
    [`${ROOT}scripts/bundler/bundle.js`, `${aside}/lib/vidro`, ...PROGRAMS.map((name) => `${SUPPORT}/${name}.ts`)],
    { encoding: "utf8" },
  );
  if (status !== 0) throw new Error(`The commands cannot be bundled:\n${stderr}`);
  cpSync(`${ROOT}packages/brain/agents`, `${aside}/agents`, { recursive: true });
  // The console as the present sources give it, once a test has built it.
  mkdirSync(`${aside}/share/vidro`, { recursive: true });
  symlinkSync(`${ROOT}packages/console/dist`, `${aside}/share/vidro/console`);
  for (const part of ["bin", "node/bin"]) mkdirSync(`${aside}/${part}`, { recursive: true });
  symlinkSync(NODE, `${aside}/node/bin/node`);
  for (const launcher of ["cli/bin/vidro", "hands/bin/vidro-hand"])
    copyFileSync(`${ROOT}packages/${launcher}`, `${aside}/bin/${basename(launcher)}`);
  // Tests start the commands as other users, too.
  chmodSync(aside, 0o755);
  renameSync(aside, folder);
}

/** A digest of the paths, sizes and times of everything that a bundle is made from. */
function digestOfSources() {
  const hash = createHash("sha256");
  const support = readdirSync(`${ROOT}${SUPPORT}`).map((name) => `${SUPPORT}/${name}`);
  for (const path of [...OTHERS, ...support, ...readdirSync(`${ROOT}packages`).flatMap(sourcesOf)]) {
    const { mtimeMs, size } = statSync(`${ROOT}${path}`);
    hash.update(`${path} ${mtimeMs} ${size}\n`);
  }
  return hash.digest("hex").slice(0, 16);
}

/**
 * Files of a package, by their path from the root.
 * @param {string} name
 * @returns {string[]}
 */
function sourcesOf(name) {
  return ["src", "bin", "agents"]
    .map((part) => `packages/${name}/${part}`)
    .filter((folder) => existsSync(`${ROOT}${folder}`))
    .flatMap((folder) =>
      readdirSync(`${ROOT}${folder}`, { recursive: true }).map((path) => `${folder}/${String(path)}`),
    )
    .concat(`packages/${name}/package.json`)
    .filter((path) => !/\.(?:test|fixture)\.ts$/.test(path))
    .sort();
}
