import { outputLines, readOutput } from "./read-output.ts";

/** A file and its size. */
interface SizedFile {
  readonly path: string;
  readonly bytes: number;
}

/** Files, and whether the listing they come from had its middle cut out. */
export interface SizedFiles {
  readonly files: readonly SizedFile[];
  readonly isCut: boolean;
}

/** Reads `find … -printf "%s\t%p\n"`, largest first; a folder that may not be read leaves the rest readable. */
export function readSizes(text: string): SizedFiles | undefined {
  const { stdout, stderr, exitCode } = readOutput(text);
  const files = outputLines(stdout).flatMap((line) => {
    const [, bytes, path] = /^(\d+)\t(.+)$/.exec(line) ?? [];
    return path === undefined ? [] : [{ path, bytes: Number(bytes) }];
  });
  const isUnreadable = files.length === 0 && (exitCode !== 0 || stderr !== "" || stdout !== "");
  if (isUnreadable) return undefined;
  return { files: files.sort((a, b) => b.bytes - a.bytes), isCut: /^\[?…|left out|omitted/m.test(stdout) };
}

/** Reads a listing of one thing on each line; remarks in brackets are no things. */
export function readListing(text: string): readonly string[] {
  return outputLines(readOutput(text).stdout).filter((line) => !/^\[.*\]$/.test(line.trim()));
}

/** Where a repository stands. */
interface GitState {
  readonly branch: string;
  /** What git says of the remote branch: `ahead 1, behind 2`. */
  readonly tracking?: string;
  readonly changes: readonly string[];
}

/** Reads `git status --short --branch`. */
export function readGitState(text: string): GitState | undefined {
  const [head = "", ...changes] = outputLines(readOutput(text).stdout);
  const [, branch, tracking] =
    /^## (?:No commits yet on |Initial commit on )?(.+?)(?:\.\.\.\S+)?(?: \[(.+)\])?$/.exec(head) ?? [];
  if (branch === undefined) return undefined;
  return tracking === undefined ? { branch, changes } : { branch, tracking, changes };
}

/** What git has nothing of: no repository here, or no commits in it yet. */
export function gitLacks(text: string): "repository" | "commits" | undefined {
  if (/not a git repository/i.test(text)) return "repository";
  return /does not have any commits yet|ambiguous argument 'HEAD'|bad revision 'HEAD'/i.test(text)
    ? "commits"
    : undefined;
}

/** How a project's tests are run, by the file that gives its kind away; the first that is there decides. */
const TEST_COMMANDS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^package\.json$/, ["npm", "test"]],
  [/^Cargo\.toml$/, ["cargo", "test"]],
  [/^(pyproject\.toml|pytest\.ini|tox\.ini|setup\.cfg|conftest\.py)$/, ["pytest"]],
  [/^go\.mod$/, ["go", "test", "./..."]],
];

/** The names in a listing of `read_folder`; undefined when it is none. */
export function readFolderNames(text: string): readonly string[] | undefined {
  const names = outputLines(text).flatMap(
    (line) => /^[-dl?][rwx-]{9}\s+\d+ [\d-]{10} [\d:]{5} (.+)$/.exec(line)?.[1] ?? [],
  );
  return names.length === 0 && !/^\[.*empty.*\]$/.test(text.trim()) ? undefined : names;
}

/** The command that runs the tests of a folder, `makefile` when only that file can tell. */
export function testCommandIn(names: readonly string[]): readonly string[] | "makefile" | undefined {
  const found = TEST_COMMANDS.find(([pattern]) => names.some((name) => pattern.test(name)));
  return found?.[1] ?? (names.some((name) => /^(GNUm|M|m)akefile$/.test(name)) ? "makefile" : undefined);
}

/** Whether a makefile has a target `test`. */
export function hasTestTarget(makefile: string): boolean {
  return /^test\s*:(?!=)/m.test(makefile);
}
