import { createHash } from "node:crypto";
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { basename, delimiter, join, resolve } from "node:path";
import { Fault, HAND_LIMITS } from "@vidro/core";
import { isWithin } from "../files/is-within.ts";
import { findImpliedRuns, runsGivenFiles } from "./implied-files.ts";

/** Separators between the words of a shell line. */
const BETWEEN = /[\s;&|<>()`"'$={},]+/u;

/** Pattern of a word without NUL: the system would cut the word there, but policy would judge all of it. */
export const NO_NUL = "^[^\\0]*$";

/** Folders that only the system's package manager writes to. */
const SYSTEM = ["/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64", "/usr/libexec", "/bin", "/sbin", "/lib", "/lib64"];

/** Folders whose files the kernel writes whenever they are read: no script is there, and no digest of one holds. */
const KERNEL = ["/proc", "/sys"];

/**
 * The file that a word would run, found in PATH or as a path relative to the folder, with symlinks resolved.
 * Synchronous, because a dozen look-ups cost less than one round trip through the thread pool.
 */
export function findProgram(word: string, cwd: string, path: string): string {
  const places = word.includes("/")
    ? [resolve(cwd, word)]
    : path
        .split(delimiter)
        .filter(Boolean)
        .map((dir) => join(dir, word));
  for (const place of places) {
    try {
      if (statSync(place, { throwIfNoEntry: false })?.isFile() !== true) continue;
      accessSync(place, constants.X_OK);
      return realpathSync.native(place);
    } catch {
      // Not executable here; the next folder is tried.
    }
  }
  const where = word.includes("/") ? "there" : "in PATH";
  throw new Fault("BAD_ARGUMENTS", `There is no program ${word} ${where} that this hand can run.`);
}

/** Whether a program has a set-user-id or set-group-id bit. */
export function isSetIdProgram(program: string): boolean {
  return ((statSync(program, { throwIfNoEntry: false })?.mode ?? 0) & SET_ID) !== 0;
}

const SET_ID = 0o6000;

/** Fingerprints by path. */
type Digests = { [path: string]: string };

/** Fingerprints of the files that a command would run. */
interface Fingerprints {
  readonly digests: Readonly<Digests>;
  /** Programs and scripts that may load, include or run more than these files. */
  readonly unseen?: readonly string[];
}

/**
 * Fingerprints of the files whose content decides what a command does: the program unless it belongs to the system,
 * every operand that is a script or is given to an interpreter, and files that programs such as make find themselves.
 * They make an approval cover the text of a script.
 */
export async function fingerprintCommand(program: string, argv: readonly string[], cwd: string): Promise<Fingerprints> {
  const digests: Digests = {};
  const [asked = program, ...args] = argv;
  await addFile(digests, program, "any");
  const interprets = [program, asked].some((name) => runsGivenFiles(basename(name)));
  for (const word of new Set(args.flatMap((arg) => wordsOf(arg, interprets)))) {
    await addFile(digests, resolve(cwd, word), interprets ? "any" : "script");
  }
  if (!interprets) return fingerprintsOf(digests, [], false);
  const runners = await addImpliedRuns(digests, argv.flatMap(splitLine), { cwd, followed: new Set() });
  return fingerprintsOf(digests, [basename(asked), ...runners], runners.length > 0);
}

/**
 * Fingerprints of the files that the words of a shell line name and that the line may run. The line is not parsed: a
 * name that the shell composes, or that is relative to another folder after `cd`, is not found.
 */
export async function fingerprintLine(line: string, cwd: string): Promise<Fingerprints> {
  const digests: Digests = {};
  const { runners, readers } = await addLine(digests, line, { cwd, followed: new Set() });
  return fingerprintsOf(digests, [...readers, ...runners], runners.length > 0);
}

/** Where a line would run, and the scripts that were followed already: they may run each other in circles. */
interface LinePlace {
  readonly cwd: string;
  readonly followed: Set<string>;
}

async function addLine(
  digests: Digests,
  line: string,
  place: LinePlace,
): Promise<{ readonly runners: readonly string[]; readonly readers: readonly string[] }> {
  const words = [...new Set(wordsOf(line, true))];
  const readers = words.map((word) => basename(word)).filter(runsGivenFiles);
  const kind = readers.length > 0 ? "any" : "runnable";
  for (const word of words) await addFile(digests, resolve(place.cwd, word), kind);
  return { runners: await addImpliedRuns(digests, splitLine(line), place), readers };
}

/** Adds files that the words run without naming them; returns the programs that search for files themselves. */
async function addImpliedRuns(
  digests: Digests,
  words: readonly string[],
  { cwd, followed }: LinePlace,
): Promise<readonly string[]> {
  const { files, lines, runners } = findImpliedRuns(words, cwd);
  for (const file of files) await addFile(digests, file, "any");
  const deeper: string[] = [];
  for (const { line, cwd: folder } of lines) {
    const script = `${folder}\0${line}`;
    // A longer line cannot be given to a shell. Beyond the bound, `unseen` names the program that runs scripts.
    if (followed.has(script) || line.length > HAND_LIMITS.argChars || followed.size >= HAND_LIMITS.scripts) continue;
    followed.add(script);
    const found = await addLine(digests, line, { cwd: folder, followed });
    deeper.push(...found.runners);
  }
  return [...runners, ...deeper];
}

/** The words of a line, including options. */
const splitLine = (text: string): readonly string[] => text.split(BETWEEN).filter((word) => word !== "");

function fingerprintsOf(digests: Digests, names: readonly string[], isSure: boolean): Fingerprints {
  if (!isSure && Object.keys(digests).length === 0) return { digests };
  const scripts = names.length > 0 ? names : Object.keys(digests).map((path) => basename(path));
  return { digests, unseen: [...new Set(scripts)] };
}

/** Parts of an argument that may name a file: all of it, the value after `--file=`, and in a line each word. */
function wordsOf(arg: string, isLine: boolean): readonly string[] {
  const whole = arg.startsWith("-") ? arg.slice(arg.indexOf("=") + 1) : arg;
  return [whole, ...(isLine ? arg.split(BETWEEN) : [])].filter(
    (word) => word !== "" && !word.startsWith("-") && word.length <= HAND_LIMITS.pathChars,
  );
}

/** Which files are fingerprinted: all, those with an executable bit, or only those that begin with `#!`. */
type FileKind = "any" | "runnable" | "script";

async function addFile(digests: Digests, path: string, kind: FileKind): Promise<void> {
  if (SYSTEM.some((folder) => path.startsWith(`${folder}/`))) return;
  let file: FileHandle | undefined;
  try {
    // Opening a device can have effects, and opening a fifo waits for its other end.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return;
    // The real path, since a link in /proc may lead to a script.
    const real = realpathSync.native(path);
    if (KERNEL.some((folder) => isWithin(folder, real))) return;
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const facts = await file.stat({ bigint: true });
    const isRunnable = (facts.mode & 0o111n) !== 0n;
    const counts = kind === "any" || (kind === "runnable" && isRunnable) || (await isScript(file));
    if (!facts.isFile() || !counts) return;
    // A large program is identified by inode, size and ctime, which cannot be set back.
    const identity = `${facts.dev}:${facts.ino}:${facts.size}:${facts.ctimeNs}`;
    const content = facts.size > HAND_LIMITS.fileBytes ? identity : await file.readFile();
    digests[path] = createHash("sha256").update(content).digest("hex");
  } catch {
    // A file that cannot be opened cannot run as a script.
  } finally {
    await file?.close();
  }
}

async function isScript(file: FileHandle): Promise<boolean> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
  return bytesRead === 2 && buffer.toString("latin1") === "#!";
}
