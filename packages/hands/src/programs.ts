import { createHash } from "node:crypto";
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { basename, delimiter, join, resolve } from "node:path";
import { Fault, HAND } from "@vidro/core";

/** Programs whose operands may name what they execute; versions behind the name do not matter. */
const INTERPRETERS = new Set(
  (
    "sh bash dash zsh ksh fish busybox python pypy perl ruby node deno bun php lua tclsh Rscript awk gawk mawk sed make " +
    "java env sudo doas su nohup nice timeout xargs setsid stdbuf time source psql sqlite3 ansible-playbook"
  ).split(" "),
);

/** Pattern of a word without NUL, which would end the word for the system but not for whoever judged it. */
export const NO_NUL = "^[^\\0]*$";

/** Folders that only the system's package manager writes to. */
const SYSTEM = ["/usr/", "/bin/", "/sbin/", "/lib"];

/**
 * The file that a word would run: looked up in PATH, or a path seen from the folder; symlinks resolved. Synchronous,
 * because a dozen look-ups cost less than one turn through the thread pool.
 */
export function programFor(word: string, cwd: string, path: string): string {
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
      // The next place may have it.
    }
  }
  const where = word.includes("/") ? "there" : "in PATH";
  throw new Fault("BAD_ARGUMENTS", `There is no program ${word} ${where} that this hand can run.`);
}

/**
 * Fingerprints of the files whose content decides what happens: the program itself unless it is the system's, and
 * every operand that is a script or that an interpreter is given. Who approves a script approves its text.
 */
export async function scriptDigests(
  program: string,
  args: readonly string[],
  cwd: string,
): Promise<{ readonly [path: string]: string }> {
  const digests: { [path: string]: string } = {};
  if (!SYSTEM.some((folder) => program.startsWith(folder))) await add(digests, program, true);
  const interprets = INTERPRETERS.has(basename(program).replace(/[\d.]+$/u, ""));
  for (const arg of args.filter((word) => word !== "" && word.length <= HAND.pathChars)) {
    // `--file=x` and `x` may both name a file.
    const operand = arg.startsWith("-") ? arg.slice(arg.indexOf("=") + 1) : arg;
    if (!operand.startsWith("-")) await add(digests, resolve(cwd, operand), interprets);
  }
  return digests;
}

async function add(digests: { [path: string]: string }, path: string, always: boolean): Promise<void> {
  let file: FileHandle | undefined;
  try {
    // To open a device may already be an effect, and to open a fifo waits for its other end.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return;
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const facts = await file.stat({ bigint: true });
    if (!facts.isFile() || !(always || (await isScript(file)))) return;
    // A large program is known by its place on the disk and the time of its last change, which nobody can set back.
    const identity = `${facts.dev}:${facts.ino}:${facts.size}:${facts.ctimeNs}`;
    const content = facts.size > HAND.fileBytes ? identity : await file.readFile();
    digests[path] = createHash("sha256").update(content).digest("hex");
  } catch {
    // What cannot be opened is no script that could run.
  } finally {
    await file?.close();
  }
}

async function isScript(file: FileHandle): Promise<boolean> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
  return bytesRead === 2 && buffer.toString("latin1") === "#!";
}
