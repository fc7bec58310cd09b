// Bundles the commands of this clone, so that they start as fast as those of the archive; the launchers in packages/*/bin
// use the bundle while no source has changed since. A bundle that is fresh is left alone.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename } from "node:path";
import { installPeers, lockFor, NODE, ROOT, run } from "../setup.js";

const CACHE = `${ROOT}.cache/`;
/** A link to the folder of the newest bundle. */
const NEWEST = `${CACHE}vidro`;
/** Bundles that are kept: a daemon loads parts of the one that it was started from when it needs them. */
const KEPT = 4;

if (!isFresh()) {
  installPeers("scripts/bundler");
  const unlock = lockFor(`${CACHE}bundling`, "the bundle of the commands");
  try {
    if (!isFresh()) makeBundle();
  } finally {
    unlock();
  }
}

/** Whether the launchers would take the bundle: by the same rule. */
function isFresh() {
  return spawnSync("/bin/sh", ["-c", 'clone=$0; . "$0/scripts/bundler/is-fresh.sh"', ROOT]).status === 0;
}

/** Makes a bundle beside the others and points to it, so that what is pointed to is whole. */
function makeBundle() {
  const folder = mkdtempSync(`${CACHE}vidro-`);
  // Its time is from before the sources are read: one that changes meanwhile is newer.
  writeFileSync(`${folder}/made`, "");
  run(NODE, [`${ROOT}scripts/bundler/bundle.js`, `${folder}/lib/vidro`]);
  cpSync(`${ROOT}packages/brain/agents`, `${folder}/agents`, { recursive: true });
  for (const part of ["bin", "share/vidro"]) mkdirSync(`${folder}/${part}`, { recursive: true });
  symlinkSync(`${ROOT}packages/console/dist`, `${folder}/share/vidro/console`);
  for (const launcher of ["packages/cli/bin/vidro", "packages/hands/bin/vidro-hand"])
    symlinkSync(ROOT + launcher, `${folder}/bin/${basename(launcher)}`);
  rmSync(`${NEWEST}.next`, { force: true });
  // The clone may be used by others than its owner.
  chmodSync(folder, 0o755);
  symlinkSync(basename(folder), `${NEWEST}.next`);
  renameSync(`${NEWEST}.next`, NEWEST);
  removeOld();
}

/** Removes all but the newest bundles, also those that were never finished. */
function removeOld() {
  const madeAt = (/** @type {string} */ name) => statSync(`${CACHE}${name}`).mtimeMs;
  const bundles = readdirSync(CACHE)
    .filter((name) => name.startsWith("vidro-"))
    .sort((a, b) => madeAt(b) - madeAt(a));
  for (const name of bundles.slice(KEPT)) rmSync(`${CACHE}${name}`, { recursive: true, force: true });
}
