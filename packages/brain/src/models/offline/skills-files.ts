import { OFFLINE_LIMITS } from "@vidro/core";
import { bytes, rows } from "./phrases.ts";
import { GIT_ARGS, gitLacks, readGitDiff, readGitLog, readGitState, readListing, readSizes } from "./read-files.ts";
import type { GitState, SizedFiles } from "./read-files.ts";
import { outputLines, quote, readOutput } from "./read-output.ts";
import { learn, shortLine, runProgram, tell, use } from "./skill.ts";
import type { Desk, Learnt, Skill } from "./skill.ts";
import type { WantOf } from "./want.ts";

/** Sizes above which files are looked for, one after the other, until there are enough of them. */
const SIZE_STEPS = ["+100M", "+1M", "+0"];

/** Which files are the largest. */
export function* largest(want: WantOf<"largest">, desk: Desk): Skill {
  const { say } = desk;
  // A path that begins with a dash would be an option of find.
  const path = want.path.startsWith("-") ? `./${want.path}` : want.path;
  let found: SizedFiles = { files: [], isCut: false };
  for (const size of SIZE_STEPS) {
    const call = runProgram(desk, "find", path, "-xdev", "-type", "f", "-size", size, "-printf", "%s\\t%p\\n");
    const learnt = yield* learn(desk, [{ call, read: readSizes }]);
    if ("trouble" in learnt) return learnt.trouble;
    found = learnt.facts;
    if (found.files.length >= OFFLINE_LIMITS.rows) break;
  }
  if (found.files.length === 0) return say.noFiles(shownPath(want.path));
  const top = found.files.slice(0, OFFLINE_LIMITS.rows).map((file) => `${bytes(file.bytes, say)}: ${file.path}`);
  const head = say.largest(top.length, shownPath(want.path));
  return [head, rows(top, say, OFFLINE_LIMITS.rows), ...(found.isCut ? [say.cut] : [])].join("\n");
}

/** A path on one line; the folder itself as `./`, since a lone dot reads like the end of a sentence. */
function shownPath(path: string): string {
  return path === "." ? "./" : shortLine(path);
}

/** Which files have a name that fits. */
export function find(want: WantOf<"find">, desk: Desk): Skill {
  const { say } = desk;
  const { pattern, path } = want;
  const ways = [
    { call: use(desk, "find_files", path === undefined ? { pattern } : { pattern, path }), read: readListing },
    { call: runProgram(desk, "find", path ?? ".", "-name", pattern), read: readListing },
  ];
  return tell(desk, ways, (files) => {
    if (files.length === 0) return say.notFound(shortLine(pattern));
    return `${say.found(files.length, shortLine(pattern))}\n${rows(files, say, OFFLINE_LIMITS.quotedLines)}`;
  });
}

/** Which lines hold a text. */
export function search(want: WantOf<"search">, desk: Desk): Skill {
  const { say } = desk;
  const { text, path } = want;
  const input = path === undefined ? { pattern: text } : { pattern: text, path };
  const ways = [
    { call: use(desk, "search_text", input), read: readListing },
    { call: runProgram(desk, "grep", "-rnIF", "--", text, path ?? "."), read: readListing },
  ];
  return tell(desk, ways, (lines) => {
    if (lines.length === 0) return say.noMatches(shortLine(text));
    const shown = lines.map((line) => shortLine(line));
    return `${say.matches(lines.length, shortLine(text))}\n${rows(shown, say, OFFLINE_LIMITS.quotedLines)}`;
  });
}

/** What a file says; people leave out the ending of a README, and a folder may have the name of a file. */
export function* read(want: WantOf<"read">, desk: Desk): Skill {
  const first = yield* fileContent(want.path, desk);
  if ("facts" in first) return first.facts;
  if (first.isPersonsNo) return first.trouble;
  const isBare = !want.path.includes(".") && desk.tools.has("find_files");
  const call = use(desk, "find_files", { pattern: `${want.path}.*` });
  const named = isBare ? yield* learn(desk, [{ call, read: (text) => readListing(text)[0] }]) : undefined;
  const path = named !== undefined && "facts" in named ? named.facts : undefined;
  const second = yield* path === undefined ? folderContent(want.path, desk) : fileContent(path, desk);
  return "facts" in second ? second.facts : first.trouble;
}

/** What is in a folder, or what it says when it is a file: a path does not tell which it is. */
export function* listFolderSkill(want: WantOf<"list">, desk: Desk): Skill {
  const first = yield* folderContent(want.path, desk);
  if ("facts" in first) return first.facts;
  const second = first.isPersonsNo ? first : yield* fileContent(want.path, desk);
  return "facts" in second ? second.facts : first.trouble;
}

function fileContent(path: string, desk: Desk): Skill<Learnt<string>> {
  const words = (text: string): string => {
    const count = text === "" ? 0 : text.trimEnd().split("\n").length;
    const head = desk.say.content(shownPath(path), count);
    return count === 0 ? head : `${head}\n${quote(text)}`;
  };
  const way = { call: use(desk, "read_file", { file_path: path }), read: words };
  const plain = { call: runProgram(desk, "cat", "--", path), read: (text: string) => mapped(whole(text), words) };
  return learn(desk, [desk.tools.has("read_file") ? way : plain]);
}

function folderContent(path: string, desk: Desk): Skill<Learnt<string>> {
  const words = (text: string): string => {
    const entries = readListing(text);
    if (entries.length === 0) return desk.say.emptyFolder(shownPath(path));
    return `${desk.say.folderContent(shownPath(path), entries.length)}\n${quote(entries.join("\n"))}`;
  };
  const way = { call: use(desk, "read_folder", { dir_path: path }), read: words };
  const plain = { call: runProgram(desk, "ls", "-A", "--", path), read: (text: string) => mapped(whole(text), words) };
  return learn(desk, [desk.tools.has("read_folder") ? way : plain]);
}

/** The text, unless a program says that it could not give it. */
function whole(text: string): string | undefined {
  return readOutput(text).exitCode === 0 ? text : undefined;
}

/** Where the repository stands, what changed in it, or what was last committed. */
export function* git(want: WantOf<"git">, desk: Desk): Skill {
  const { say } = desk;
  const call = runProgram(desk, "git", ...GIT_ARGS[want.about]);
  if (want.about === "log") {
    const words = (commits: readonly string[]) =>
      `${say.commits(commits.length)}\n${rows(commits, say, OFFLINE_LIMITS.rows)}`;
    return yield* tell(desk, [{ call, read: orLack(desk, (text) => mapped(readGitLog(text), words)) }], String);
  }
  const learnt = yield* learn<GitState | string>(desk, [{ call, read: orLack(desk, readGitState) }]);
  if ("trouble" in learnt) return learnt.trouble;
  const state = learnt.facts;
  if (typeof state === "string") return state;
  const branch = say.branch(state.branch, state.tracking ?? "");
  if (want.about === "branch") return branch;
  if (state.changes.length === 0) return `${branch} ${say.clean}`;
  const changes = `${branch} ${say.changes(state.changes.length)}\n${quote(state.changes.join("\n"))}`;
  if (want.about === "status") return changes;
  const stat = runProgram(desk, "git", "diff", "--stat");
  return yield* tell(desk, [{ call: stat, read: readGitDiff }], (text) => {
    const sum = outputLines(text).at(-1)?.trim();
    return sum === undefined ? changes : `${changes}\n${sum}.`;
  });
}

/** A reader that also understands git when it says that there is nothing to read. */
function orLack<Facts>(
  { say }: Desk,
  reader: (text: string) => Facts | undefined,
): (text: string) => Facts | string | undefined {
  const words = { repository: say.noRepository, commits: say.noCommits };
  return (text) => mapped(gitLacks(text), (lack) => words[lack]) ?? reader(text);
}

function mapped<From, To>(value: From | undefined, to: (value: From) => To): To | undefined {
  return value === undefined ? undefined : to(value);
}
