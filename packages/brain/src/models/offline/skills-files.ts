import { OFFLINE_LIMITS } from "@vidro/core";
import { readListing, readSizes } from "./read-files.ts";
import type { SizedFiles } from "./read-files.ts";
import { outputLines, quote, readOutput } from "./read-output.ts";
import { isMissingPath, learn, runProgram, shortLine, tell, troubleWith, use } from "./skill.ts";
import type { Desk, Skill } from "./skill.ts";
import { asPaths } from "./skills-machine.ts";
import { plainWords } from "./tokens.ts";
import type { Want } from "./want.ts";
import { bytes, duration, number, rows } from "./wording.ts";
import type { Say } from "./wording.ts";

/** Sizes above which files are looked for, one after the other, until there are enough of them. */
const SIZE_STEPS = ["+100M", "+1M", "+0"];

const NO_GIT = ["-name", ".git", "-prune", "-o"];

/** A path on one line; the folder itself as `./`, since a lone dot reads like the end of a sentence. */
export function shownPath(path: string): string {
  return path === "." ? "./" : shortLine(path);
}

function rowsOf(want: Want): number {
  return Math.min(want.count ?? OFFLINE_LIMITS.rows, OFFLINE_LIMITS.quotedLines);
}

/** Which files are the largest; those of `.git` do not count. */
export function* largest(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const path = shownPath(want.path ?? ".");
  const most = rowsOf(want);
  let found: SizedFiles = { files: [], isCut: false };
  for (const size of SIZE_STEPS) {
    const where = asPaths(want.path ?? ".");
    const call = runProgram(desk, "find", ...where, ...NO_GIT, "-type", "f", "-size", size, "-printf", "%s\\t%p\\n");
    const learnt = yield* learn(desk, [{ call, read: readSizes }]);
    if ("trouble" in learnt) return learnt.trouble;
    found = learnt.facts;
    if (found.files.length >= most) break;
  }
  if (found.files.length === 0) return say("noFiles", { path });
  const top = found.files.slice(0, most).map((file) => `${bytes(file.bytes, say)}: ${file.path}`);
  const head = top.length === 1 ? say("largestOne", { path }) : say("largest", { count: top.length, path });
  return [head, rows(top, say, most), ...(found.isCut ? [say("cut")] : [])].join("\n");
}

/** Which folders are the largest. */
export function largestFolders(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const path = want.path ?? ".";
  const call = runProgram(desk, "du", "-k", "-d", "1", "--exclude", ".git", ...asPaths(path));
  return tell(desk, [{ call, read: readKibibytes }], (all) => {
    const below = all.slice(0, -1).toSorted((one, other) => other.bytes - one.bytes);
    if (below.length === 0) return say("noFolders", { path: shownPath(path) });
    const top = below.slice(0, rowsOf(want)).map((folder) => `${bytes(folder.bytes, say)}: ${folder.path}`);
    return `${say("largestFolders", { count: top.length, path: shownPath(path) })}\n${rows(top, say, top.length)}`;
  });
}

/** How much a file or a folder takes. */
export function sizeOf(want: Want, desk: Desk): Skill {
  const path = want.path ?? ".";
  const { say } = desk;
  const call = runProgram(desk, "du", "-sk", "--apparent-size", ...asPaths(path));
  return tell(desk, [{ call, read: (text) => readKibibytes(text)?.at(-1) }], (found) =>
    say("size", { path: shownPath(path), size: bytes(found.bytes, say) }),
  );
}

/** Reads `du -k`; folders that may not be read leave the rest readable. */
function readKibibytes(text: string): readonly { path: string; bytes: number }[] | undefined {
  const found = outputLines(readOutput(text).stdout).flatMap((line) => {
    const [, kib, path = ""] = /^(\d+)\s+(.+)$/.exec(line) ?? [];
    return kib === undefined ? [] : [{ path, bytes: Number(kib) * 1024 }];
  });
  return found.length === 0 ? undefined : found;
}

/** What kind of file it is, its size, its age and its owner. */
export function* fileInfo(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const path = want.path ?? ".";
  const call = runProgram(desk, "stat", "-c", "%F|%s|%y|%U|%A", ...asPaths(path));
  if (call === undefined) return say("noTool");
  const result = yield call;
  const [kind = "", size = "", date = "", owner = "", mode = ""] = readOutput(result.text).stdout.trim().split("|");
  if (!result.failed && mode !== "") {
    const changed = date.slice(0, 16);
    return say("fileInfo", {
      path: shownPath(path),
      kind: kindWords(kind, desk),
      size: bytes(Number(size), say),
      date: changed,
      owner,
      mode,
    });
  }
  return !result.failed && isMissingPath(result.text)
    ? say("missing", { path: shownPath(path) })
    : troubleWith(call, result, say);
}

function kindWords(kind: string, { say }: Desk): string {
  if (kind.startsWith("regular")) return say("isFile");
  if (kind === "directory") return say("isFolder");
  return say(kind === "symbolic link" ? "isLink" : "isOther");
}

/** Which files or folders fit a name, a kind, an age or a size. */
export function find(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const isByName = want.minutes === undefined && want.mebibytes === undefined && want.empty !== true;
  const isFiles = want.folders !== true;
  const where = want.path === undefined ? {} : { path: want.path };
  const pattern = BARE_NAMES.get(plainWords(want.pattern ?? "")) ?? want.pattern ?? "*";
  const tool = use(desk, "find_files", { pattern, ...where });
  // What npm installed is no work of a person: it was changed when it was installed.
  const skipped = want.minutes === undefined ? NO_GIT : [...NO_GIT, "-name", "node_modules", "-prune", "-o"];
  const print = want.minutes === undefined ? ["-print"] : ["-printf", "%T@\\t%p\\n"];
  const program = runProgram(desk, "find", ...asPaths(want.path ?? "."), ...skipped, ...testsOf(want), ...print);
  const ways = [
    // A name in other letters is found by the program.
    ...(isByName && isFiles ? [{ call: tool, read: foundLines }] : []),
    { call: program, read: want.minutes === undefined ? readListing : readByTime },
  ];
  return tell(desk, ways, (files) => {
    const what = wantedWords(want, desk);
    if (files.length === 0) return say("notFound", { what });
    return `${say("found", { count: files.length, what })}\n${rows(files, say, OFFLINE_LIMITS.quotedLines)}`;
  });
}

/** Reads `find … -printf "%T@\t%p\n"`: what was changed last stands first. */
function readByTime(text: string): readonly string[] {
  return readListing(text)
    .map((line) => line.split("\t"))
    .toSorted(([one], [other]) => Number(other) - Number(one))
    .map(([, path = ""]) => path);
}

function testsOf({ pattern, minutes, older, mebibytes, folders, empty }: Want): readonly string[] {
  const tests = ["-type", folders === true ? "d" : "f"];
  if (pattern !== undefined) tests.push("-iname", pattern.replace(/\{([^,}]*)[^}]*\}/, "$1"));
  if (minutes !== undefined) tests.push("-mmin", `${older === true ? "+" : "-"}${minutes}`);
  if (mebibytes !== undefined) tests.push("-size", `+${Math.max(1, Math.round(mebibytes * 1024))}k`);
  if (empty === true) tests.push("-empty");
  return tests;
}

function wantedWords({ pattern, minutes, older, mebibytes, empty }: Want, { say }: Desk): string {
  const parts = [
    pattern === undefined ? "" : shortLine(pattern),
    minutes === undefined
      ? ""
      : say(older === true ? "changedBefore" : "changedWithin", { time: duration(minutes, say) }),
    mebibytes === undefined ? "" : say("largerThan", { size: bytes(mebibytes * 1024 * 1024, say) }),
    empty === true ? say("emptyOnes") : "",
  ];
  return parts.filter((part) => part !== "").join(", ");
}

/** Which lines hold a text; where none does, lines that hold it in other letters or in files that git ignores. */
export function* search(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const { text = "", path } = want;
  const input = { pattern: text, ...(path === undefined ? {} : { path, ignored: true }) };
  const found = yield* learn(desk, [{ call: use(desk, "search_text", input), read: foundLines }]);
  if ("facts" in found) return linesWords(found.facts, text, say);
  if (found.isPersonsNo) return found.trouble;
  const wide = use(desk, "search_text", { ...input, ignored: true, ignore_case: true });
  const plain = runProgram(desk, "grep", "-rnIF", "--", text, ...asPaths(path ?? "."));
  return yield* tell(desk, [{ call: wide ?? plain, read: readListing }], (lines) => linesWords(lines, text, say));
}

/** The lines of a search that found some. */
function foundLines(text: string): readonly string[] | undefined {
  const lines = readListing(text);
  return lines.length === 0 ? undefined : lines;
}

function linesWords(lines: readonly string[], text: string, say: Say): string {
  if (lines.length === 0) return say("noMatches", { text: shortLine(text) });
  const shown = lines.map((line) => shortLine(line));
  const head = say("matches", { count: lines.length, text: shortLine(text) });
  return `${head}\n${rows(shown, say, OFFLINE_LIMITS.quotedLines)}`;
}

/** How many lines a file has, or all files of a folder. */
export function* countLines(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const { path = ".", pattern } = want;
  const glob = pattern === undefined ? {} : { glob: pattern };
  const only = pattern === undefined ? [] : [`--include=${pattern}`];
  const isFile = path !== "." && !path.endsWith("/") && pattern === undefined;
  if (isFile) {
    const call = runProgram(desk, "wc", "-l", ...asPaths(path));
    const count = (text: string) => /^\s*(\d+)\s/.exec(readOutput(text).stdout)?.[1];
    const one = yield* learn(desk, [
      { call, read: (text) => (readOutput(text).exitCode === 0 ? count(text) : undefined) },
    ]);
    if ("facts" in one) return say("lines", { path: shownPath(path), count: Number(one.facts) });
    if (one.isPersonsNo) return one.trouble;
  }
  const skipped = [".git", "node_modules"].map((name) => `--exclude-dir=${name}`);
  const ways = [
    // A folder with secrets may be searched by the tool, which leaves them out; grep would be asked about.
    { call: use(desk, "search_text", { pattern: "^", regex: true, show: "counts", path, ...glob }), read: readCounts },
    { call: runProgram(desk, "grep", "-rIc", ...skipped, ...only, "", ...asPaths(path)), read: readCounts },
  ];
  return yield* tell(desk, ways, ({ files, lines, isCut }) => {
    const kind = pattern === undefined ? "" : `${shortLine(pattern)} · `;
    const words = say("linesIn", { path: `${kind}${shownPath(path)}`, count: lines, files });
    return isCut ? `${words} ${say("cut")}` : words;
  });
}

function readCounts(text: string): { files: number; lines: number; isCut: boolean } | undefined {
  const { stdout } = readOutput(text);
  const counts = outputLines(stdout).flatMap((line) => /:(\d+)$/.exec(line)?.[1] ?? []);
  if (counts.length === 0) return undefined;
  const lines = counts.reduce((sum, count) => sum + Number(count), 0);
  return { files: counts.length, lines, isCut: /^\[?…|left out|omitted|there is more/m.test(stdout) };
}

/** How many files or folders there are. */
export function countFiles(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const { pattern } = want;
  const path = shownPath(want.path ?? ".");
  const where = asPaths(want.path ?? ".");
  if (pattern !== undefined) {
    const ways = [
      { call: use(desk, "find_files", { pattern, path: want.path ?? "." }), read: readListing },
      {
        call: runProgram(desk, "find", ...where, ...NO_GIT, "-type", "f", "-name", pattern, "-print"),
        read: readListing,
      },
    ];
    return tell(desk, ways, (files) => say("filesOf", { count: files.length, path, pattern: shortLine(pattern) }));
  }
  const tests = want.folders === true ? ["-mindepth", "1", "-type", "d"] : ["-type", "f"];
  const order = want.folders === true ? [...tests.slice(0, 2), ...NO_GIT, ...tests.slice(2)] : [...NO_GIT, ...tests];
  const call = runProgram(desk, "find", ...where, ...order, "-printf", "x");
  return tell(desk, [{ call, read: readMarks }], (count) =>
    say(want.folders === true ? "folders" : "files", { count, path }),
  );
}

/** Counts the marks that `find -printf x` wrote. */
function readMarks(text: string): number | undefined {
  const { stdout, stderr, exitCode } = readOutput(text);
  if (/^x*$/.test(stdout) && (stdout !== "" || (exitCode === 0 && stderr === ""))) return stdout.length;
  return undefined;
}

/** Names that people give without an ending, as patterns of paths. */
const BARE_NAMES: ReadonlyMap<string, string> = new Map([
  ["readme", "{README,Readme,readme}*"],
  ["license", "{LICENSE,License,license,LICENCE,COPYING}*"],
  ["changelog", "{CHANGELOG,Changelog,changelog,CHANGES}*"],
]);

/** What a file says, whole or in part; a folder is listed instead. */
export function* read(want: Want, desk: Desk): Skill {
  const path = want.path ?? ".";
  const bare = BARE_NAMES.get(path);
  const call = use(desk, "find_files", { pattern: bare ?? `${path}.*` });
  const first = bare !== undefined && call !== undefined ? undefined : yield* fileContent(want, desk);
  if (first !== undefined && "facts" in first) return first.facts;
  if (first?.isPersonsNo === true) return first.trouble;
  const isNamed = bare !== undefined || !path.includes(".");
  const named = isNamed ? yield* learn(desk, [{ call, read: (text) => shortest(readListing(text)) }]) : undefined;
  const other = named !== undefined && "facts" in named ? named.facts : undefined;
  const second = yield* other === undefined ? folderContent(path, desk) : fileContent({ ...want, path: other }, desk);
  return "facts" in second ? second.facts : (first?.trouble ?? desk.say("missing", { path: shownPath(path) }));
}

/** The path with the fewest folders. */
function shortest(paths: readonly string[]): string | undefined {
  return paths.toSorted(
    (one, other) => one.split("/").length - other.split("/").length || one.length - other.length,
  )[0];
}

/** What is in a folder, or what it says when it is a file: a path does not tell which it is. */
export function* listFolder(want: Want, desk: Desk): Skill {
  const path = want.path ?? ".";
  const first = yield* folderContent(path, desk);
  if ("facts" in first) return first.facts;
  const second = first.isPersonsNo ? first : yield* fileContent({ kind: "read", path }, desk);
  return "facts" in second ? second.facts : first.trouble;
}

function fileContent(want: Want, desk: Desk) {
  const path = want.path ?? "";
  const words = (text: string): string =>
    partWords(want, text.replace(/\n?\[lines \d+ to \d+ of \d+; [^\]]*\]$/, ""), desk);
  const part =
    want.line === undefined ? (want.first === undefined ? {} : { limit: want.first }) : { offset: want.line, limit: 1 };
  const way = { call: use(desk, "read_file", { file_path: path, ...part }), read: words };
  const plain = {
    call: runProgram(desk, "cat", "--", path),
    read: (text: string) => (readOutput(text).exitCode === 0 ? partWords(want, cutOut(want, text), desk) : undefined),
  };
  return learn(desk, [desk.tools.has("read_file") ? way : plain]);
}

/** The lines that are wanted, of a whole file. */
function cutOut({ first, line }: Want, text: string): string {
  const lines = text.trimEnd().split("\n");
  if (line !== undefined) return lines[line - 1] ?? "";
  return first === undefined ? text : lines.slice(0, first).join("\n");
}

function partWords({ path = "", line, last }: Want, text: string, { say }: Desk): string {
  const lines = text === "" ? [] : text.trimEnd().split("\n");
  const shown = shownPath(path);
  if (line !== undefined) return `${say("oneLine", { line: number(line, say), path: shown })}\n${quote(text)}`;
  if (last !== undefined) {
    const end = lines.slice(-last);
    return `${say("lastLines", { count: end.length, path: shown })}\n${quote(end.join("\n"), "tail")}`;
  }
  const head = say("content", { path: shown, count: lines.length });
  return lines.length === 0 ? head : `${head}\n${quote(text)}`;
}

function folderContent(path: string, desk: Desk) {
  const { say } = desk;
  const words = (text: string): string => {
    const entries = readListing(text);
    if (entries.length === 0) return say("emptyFolder", { path: shownPath(path) });
    return `${say("folderContent", { path: shownPath(path), count: entries.length })}\n${quote(entries.join("\n"))}`;
  };
  const way = { call: use(desk, "read_folder", { dir_path: path }), read: words };
  const plain = {
    call: runProgram(desk, "ls", "-A", "--", path),
    read: (text: string) => (readOutput(text).exitCode === 0 ? words(text) : undefined),
  };
  return learn(desk, [desk.tools.has("read_folder") ? way : plain]);
}
