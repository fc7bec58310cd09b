// npm run package: makes the archive that installs Vidro on a machine without Node: the bundled commands, their agents
// and the pinned Node of this platform, with its checksum and the script that installs it. An archive that is newer than
// all that goes into it is left alone; of two that make it at once one does, and the other waits.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { buildConsole } from "./console.js";
import { installPeers, lockFor, newestIn, NODE, ROOT, run, setUpToRun } from "./setup.js";

/** Files that the command prints itself; install.sh links them to where shells and `man` look. */
const PRINTED = {
  "share/man/man1/vidro.1": ["man"],
  "share/bash-completion/completions/vidro": ["completion", "bash"],
  "share/zsh/site-functions/_vidro": ["completion", "zsh"],
  "share/fish/vendor_completions.d/vidro.fish": ["completion", "fish"],
};
const PART_BYTES = 4 * 1024 * 1024;
const SOURCES = [
  "scripts/package.js",
  "scripts/package",
  "scripts/bundler/bundle.js",
  "package-lock.json",
  "LICENSE",
  "packages/brain/agents",
  "docs",
  "scripts/docs",
];

setUpToRun();
const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8"));
const platform = `${process.platform}-${process.arch}`;
const name = `vidro-${version}-${platform}`;
const archive = `${name}.tar.gz`;
const out = `${ROOT}build/`;

const unlock = lockFor(`${ROOT}.cache/package`, "another npm run package");
try {
  if (!isNew()) await make();
} finally {
  unlock();
}
const made = readFileSync(`${out}${archive}`);
const mebibytes = (made.length / 1024 / 1024).toFixed(1);
process.stdout.write(`build/${archive}  ${mebibytes} MiB  sha256 ${sha256Of(made)}\nbuild/install.sh\n`);

/** Whether the archive is newer than all that goes into it. */
function isNew() {
  const madeAt = statSync(`${out}install.sh`, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (statSync(`${out}${archive}`, { throwIfNoEntry: false }) === undefined) return false;
  const packages = readdirSync(`${ROOT}packages`).flatMap((one) =>
    ["src", "bin", "package.json"].map((part) => `packages/${one}/${part}`),
  );
  return madeAt > Math.max(...[...SOURCES, ...packages].map((path) => newestIn(`${ROOT}${path}`)));
}

/** Makes the archive, its checksum and its script in a folder of its own, and moves them into place. */
async function make() {
  installPeers("scripts/bundler");
  mkdirSync(out, { recursive: true });
  // What a make that was killed has left.
  for (const left of readdirSync(`${ROOT}.cache`).filter((one) => one.startsWith("package-")))
    rmSync(`${ROOT}.cache/${left}`, { recursive: true, force: true });
  const work = mkdtempSync(`${ROOT}.cache/package-`);
  try {
    fill(`${work}/${name}/`);
    // The same sources give the same bytes: no owner, no time, one order.
    const same = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=2000-01-01T00:00:00Z"];
    const open = "--mode=u=rwX,go=rX";
    run("tar", ["-C", work, ...same, open, "-cf", `${work}/${name}.tar`, name]);
    const packed = await compress(readFileSync(`${work}/${name}.tar`));
    writeFileSync(`${work}/${archive}`, packed);
    const sha256 = sha256Of(packed);
    writeFileSync(`${work}/${archive}.sha256`, `${sha256}  ${archive}\n`);
    const values = { ARCHIVES: `${platform} ${archive} ${sha256}`, URL: "", PIN: "", BRAIN: "" };
    const script = Object.entries(values).reduce(
      (text, [placeholder, value]) => text.replaceAll(`@${placeholder}@`, value),
      readFileSync(`${ROOT}scripts/package/install.sh`, "utf8"),
    );
    writeFileSync(`${work}/install.sh`, script, { mode: 0o755 });
    for (const file of [archive, `${archive}.sha256`, "install.sh"]) renameSync(`${work}/${file}`, `${out}${file}`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Puts all that the archive holds into a folder.
 * @param {string} folder
 */
function fill(folder) {
  for (const part of ["bin", "lib", "node/bin", "share/vidro"]) mkdirSync(`${folder}${part}`, { recursive: true });
  run(NODE, [`${ROOT}scripts/bundler/bundle.js`, `${folder}lib/vidro`]);
  cpSync(`${ROOT}packages/brain/agents`, `${folder}agents`, { recursive: true });
  buildConsole();
  cpSync(`${ROOT}packages/console/dist`, `${folder}share/vidro/console`, { recursive: true });
  for (const [from, command] of [
    ["cli", "vidro"],
    ["cli", "codegen"],
    ["hands", "vidro-hand"],
  ]) {
    copyFileSync(`${ROOT}packages/${from}/bin/${command}`, `${folder}bin/${command}`);
    chmodSync(`${folder}bin/${command}`, 0o755);
  }
  copyFileSync(NODE, `${folder}node/bin/node`);
  copyFileSync(`${ROOT}LICENSE`, `${folder}LICENSE`);
  // What a brain gives to the hosts that it invites.
  copyFileSync(`${ROOT}scripts/package/install.sh`, `${folder}share/vidro/install.sh`);
  writeFileSync(`${folder}VERSION`, `${version}\n`);
  for (const [path, words] of Object.entries(PRINTED)) {
    const printed = execFileSync(NODE, [`${folder}lib/vidro/vidro.js`, ...words]);
    mkdirSync(dirname(`${folder}${path}`), { recursive: true });
    writeFileSync(`${folder}${path}`, printed);
  }
}

/**
 * Compresses bytes on all cores: the parts of a gzip file one behind the other are a gzip file.
 * @param {Buffer} bytes
 */
async function compress(bytes) {
  const parts = Array.from({ length: Math.ceil(bytes.length / PART_BYTES) }, (_, index) =>
    promisify(gzip)(bytes.subarray(index * PART_BYTES, (index + 1) * PART_BYTES), { level: 6 }),
  );
  return Buffer.concat(await Promise.all(parts));
}

/**
 * The SHA-256 of bytes, in hexadecimal.
 * @param {Buffer} bytes
 */
function sha256Of(bytes) {
  return createHash("sha256").update(bytes).digest("hex");
}
