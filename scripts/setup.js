// Makes a fresh clone ready: installs what the lockfile names, once, and says so. Plain JavaScript, since it runs
// on whatever Node the machine has.
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the repository. */
export const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Where npm puts the pinned Node. */
export const NODE = `${ROOT}node_modules/.bin/node`;

/** Flags with which the pinned Node runs this repository's TypeScript from source. */
export const NODE_FLAGS = ["--conditions=vidro-source", "--disable-warning=ExperimentalWarning"];

/** A package that only development needs: where it is, all of them are. */
const DEVELOPMENT = `${ROOT}node_modules/typescript`;

/** Installs all dependencies when they are missing or older than the lockfile; ends the process when that fails. */
export function setUp() {
  const isThere = () => existsSync(NODE) && existsSync(DEVELOPMENT);
  install(ROOT, "installing dependencies and the pinned Node (once, about 15 seconds)", { isThere });
}

/** The same for what the commands run on, without what only checks, tests and builds need: a quarter of it all. */
export function setUpToRun() {
  const isThere = () => existsSync(NODE);
  const words = "installing what Vidro runs on, with the pinned Node (once, about 15 seconds)";
  install(ROOT, words, { isThere, omit: ["--omit=dev"] });
}

/**
 * Installs the programs of others that a folder's package.json names, when they are missing or older than its lockfile.
 * No script of theirs is run.
 * @param {string} folder from the root of the repository
 */
export function installPeers(folder) {
  install(`${ROOT}${folder}/`, `installing the programs that ${folder} uses (once, about half a minute)`);
}

/**
 * Installs what the lockfile of a folder names, unless that was done since the lockfile changed. Of several set-ups at
 * once one installs and the others wait for it, also for an `npm` that outlived the set-up that started it.
 * @param {string} path
 * @param {string} words said before it begins
 * @param {{ isThere?: () => boolean, omit?: string[] }} [what] whether what has to be there besides is there, and what npm leaves out
 */
function install(path, words, { isThere = () => true, omit = ["--include=dev"] } = {}) {
  const lockfile = `${path}package-lock.json`;
  const done = `${path}node_modules/.package-lock.json`;
  const isNew = () => existsSync(done) && statSync(done).mtimeMs >= statSync(lockfile).mtimeMs;
  const isDone = () => isNew() && isThere();
  if (isDone()) return;
  const lock = takeLock(`${path}.cache/setup`, "another set-up of this folder");
  try {
    if (isDone()) return;
    process.stderr.write(`vidro: ${words}\n`);
    // The pid in the lock is npm's own: the lock is held for as long as npm writes, whatever becomes of this process.
    const script = 'echo $$ > "$0/pid"; exec npm "$@"';
    // What is there stays while the rest is added: a daemon may be running from it.
    const way = isNew() && existsSync(NODE) ? ["install", "--no-save"] : ["ci"];
    const flags = ["--prefix", path, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    run("/bin/sh", ["-c", script, lock, ...way, ...flags, ...omit]);
    removeHeaders(`${path}node_modules`);
    const now = new Date();
    utimesSync(done, now, now);
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

/**
 * Removes the C headers from the packages of the pinned Node: 67 MB that only a compiler of native addons reads.
 * @param {string} modules
 */
function removeHeaders(modules) {
  for (const name of readdirSync(modules).filter((entry) => entry.startsWith("node-")))
    if (existsSync(`${modules}/${name}/bin/node`))
      rmSync(`${modules}/${name}/include`, { recursive: true, force: true });
}

/** How long a lock may be without the pid of its holder. */
const NAMELESS_MS = 5000;
const LOOK_MS = 200;

/**
 * Takes a lock for this process, and waits while another one has it.
 * @param {string} path
 * @param {string} holder what is waited for, in words
 * @returns {() => void} gives the lock back
 */
export function lockFor(path, holder) {
  const taken = takeLock(path, holder);
  writeFileSync(`${taken}/pid`, `${process.pid}\n`);
  const free = () => rmSync(taken, { recursive: true, force: true });
  // `run` ends the process when its command fails.
  process.on("exit", free);
  return () => {
    process.off("exit", free);
    free();
  };
}

/**
 * When the newest file below a path was changed; 0 when there is none.
 * @param {string} path
 * @returns {number}
 */
export function newestIn(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newestIn(`${path}/${name}`)));
}

/**
 * Takes a lock, which is a folder with the pid of its holder; waits while the holder lives.
 * @param {string} lock
 * @param {string} holder what is waited for, in words
 */
function takeLock(lock, holder) {
  mkdirSync(dirname(lock), { recursive: true });
  for (let isSaid = false; ;) {
    try {
      mkdirSync(lock);
      return lock;
    } catch (thrown) {
      if (!(thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST")) throw thrown;
    }
    const pid = pidIn(lock);
    if (isHeld(lock, pid)) {
      if (!isSaid) process.stderr.write(`vidro: waiting for ${holder}\n`);
      isSaid = true;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS);
    } else removeLock(lock, pid);
  }
}

/**
 * Whether the holder of a lock is alive, or may be about to write its pid.
 * @param {string} lock
 * @param {number | undefined} pid
 */
function isHeld(lock, pid) {
  if (pid === undefined) {
    const made = statSync(lock, { throwIfNoEntry: false })?.mtimeMs;
    return made !== undefined && Date.now() - made < NAMELESS_MS;
  }
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/**
 * The pid that a lock names; undefined while it names none.
 * @param {string} lock
 */
function pidIn(lock) {
  try {
    return Number(readFileSync(`${lock}/pid`, "utf8")) || undefined;
  } catch {
    return undefined;
  }
}

/**
 * Removes a lock whose holder is dead, unless another process has taken it since: then it is put back.
 * @param {string} lock
 * @param {number | undefined} pid the one that it named
 */
function removeLock(lock, pid) {
  const aside = `${lock}.${process.pid}`;
  try {
    renameSync(lock, aside);
    if (pidIn(aside) === pid) rmSync(aside, { recursive: true, force: true });
    else renameSync(aside, lock);
  } catch {
    // Another waiting process was quicker.
  }
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
