import { OFFLINE_LIMITS } from "@vidro/core";
import { readListing } from "./read-files.ts";
import { outputLines, quote, readOutput } from "./read-output.ts";
import { learn, runProgram, shortLine, tell, use } from "./skill.ts";
import type { Desk, Skill } from "./skill.ts";
import { asPaths } from "./skills-machine.ts";
import { goodLines } from "./skills-work.ts";
import type { Want } from "./want.ts";

/** The files that a system without a journal writes its log to. */
const LOG_FILES = ["/var/log/syslog", "/var/log/messages"];

/** Names of services; anything else is none. */
const UNIT = /^[A-Za-z0-9][\w.+@:-]*$/;

function countOf(want: Want): number {
  return Math.min(want.count ?? OFFLINE_LIMITS.rows, OFFLINE_LIMITS.quotedLines);
}

function* logLines(desk: Desk, args: readonly string[], count: number): Skill<readonly string[] | undefined> {
  const journal = runProgram(desk, "journalctl", "--no-pager", "-q", "-n", String(count), ...args);
  const learnt = yield* learn(desk, [{ call: journal, read: (text) => goodLines(text) }]);
  return "facts" in learnt ? learnt.facts : undefined;
}

const SKIPPED = ["-name", ".git", "-prune", "-o", "-name", "node_modules", "-prune", "-o"];

/** The log files of the folder, the one that was written last first. */
function* logFilesHere(desk: Desk): Skill<readonly string[]> {
  const call = runProgram(desk, "find", ".", ...SKIPPED, "-type", "f", "-iname", "*.log", "-printf", "%T@\\t%p\\n");
  const learnt = yield* learn(desk, [{ call, read: (text) => goodLines(text) }]);
  const found = ("facts" in learnt ? learnt.facts : []).map((line) => line.split("\t"));
  return found
    .toSorted(([one], [other]) => Number(other) - Number(one))
    .map(([, path = ""]) => path.replace(/^\.\//, ""));
}

/** The end of the log that the folder's program wrote last; undefined when the folder has no log. */
function* projectLog(want: Want, desk: Desk): Skill<string | undefined> {
  const { say } = desk;
  const [path, ...others] = yield* logFilesHere(desk);
  if (path === undefined) return undefined;
  const call = runProgram(desk, "tail", "-n", String(countOf(want)), ...asPaths(path));
  const words = yield* tell(desk, [{ call, read: (text) => goodLines(text) }], (lines) =>
    lines.length === 0
      ? say("emptyLog")
      : `${say("log", { count: lines.length, what: shortLine(path) })}\n${quote(lines.join("\n"), "tail")}`,
  );
  if (others.length === 0) return words;
  return `${words}\n${say("otherLogs", { names: shortLine(others.slice(0, OFFLINE_LIMITS.rows).join(", ")) })}`;
}

/** The end of the system's log, or of the folder's own where the system has none or the folder's is asked for. */
export function* logTail(want: Want, desk: Desk): Skill {
  const { say } = desk;
  if (want.text === "project") return (yield* projectLog(want, desk)) ?? say("noProjectLog");
  const count = countOf(want);
  const unit = want.name === undefined || !UNIT.test(want.name) ? [] : ["-u", want.name];
  let lines = yield* logLines(desk, unit, count);
  for (const path of LOG_FILES) {
    if (lines !== undefined && lines.length > 0) break;
    const call = runProgram(desk, "tail", "-n", String(count), path);
    const learnt = yield* learn(desk, [{ call, read: (text) => goodLines(text) }]);
    if ("facts" in learnt) lines = learnt.facts;
  }
  if (lines === undefined) {
    const own = want.name === undefined ? yield* projectLog(want, desk) : undefined;
    return own === undefined ? say("noLog") : `${say("noLog")}\n${own}`;
  }
  if (lines.length === 0) return say("emptyLog");
  return `${say("log", { count: lines.length, what: say("systemLog") })}\n${quote(lines.join("\n"), "tail")}`;
}

const ERROR = "error|fail|exception|fatal|panic|critical|denied";

/** What is looked for: errors, and warnings where they are asked for. */
const patternOf = ({ text }: Want): string => (text === "warnings" ? `${ERROR}|warn` : ERROR);

/** Lines with an error: in a file, in the folder's own logs, or in the system's log. */
export function* logErrors(want: Want, desk: Desk): Skill {
  const { say } = desk;
  if (want.path !== undefined) return yield* errorsInFiles([want.path], want, desk);
  if (want.text === "project") {
    const files = yield* logFilesHere(desk);
    return files.length === 0 ? say("noProjectLog") : yield* errorsInFiles(files, want, desk);
  }
  const count = countOf(want);
  const words = (all: readonly string[]) => errorWords(all, say("systemLog"), { want, desk });
  const lines = yield* logLines(desk, ["-p", want.text === "warnings" ? "warning" : "err"], count);
  if (lines !== undefined && lines.length > 0) return words(lines);
  for (const path of LOG_FILES) {
    const call = runProgram(desk, "grep", "-iE", patternOf(want), path);
    const learnt = yield* learn(desk, [{ call, read: matchedLines }]);
    if ("facts" in learnt) return words(learnt.facts);
    // A log that is there and was not read may hold errors.
    if (!learnt.isMissing) return learnt.trouble;
  }
  if (lines !== undefined) return words([]);
  const files = yield* logFilesHere(desk);
  return files.length === 0 ? say("noLog") : `${say("noLog")}\n${yield* errorsInFiles(files, want, desk)}`;
}

/** Grep ends with 1 when nothing matches. */
function matchedLines(text: string): readonly string[] | undefined {
  const { stdout, exitCode } = readOutput(text);
  return exitCode <= 1 ? outputLines(stdout) : undefined;
}

function errorWords(
  all: readonly string[],
  what: string,
  { want, desk: { say } }: { readonly want: Want; readonly desk: Desk },
): string {
  const last = all.slice(-countOf(want));
  const isWarned = want.text === "warnings";
  if (last.length === 0) return say(isWarned ? "noWarnings" : "noErrors", { what });
  return `${say(isWarned ? "warningsIn" : "errorsIn", { count: all.length, what })}\n${quote(last.join("\n"), "tail")}`;
}

function* errorsInFiles(files: readonly string[], want: Want, desk: Desk): Skill {
  const what = shortLine(files.join(", "));
  const found: string[] = [];
  for (const path of files.slice(0, OFFLINE_LIMITS.rows)) {
    const input = { pattern: patternOf(want), regex: true, ignore_case: true, ignored: true, path };
    const learnt = yield* learn(desk, [
      // A folder with secrets may be searched by the tool, which leaves them out; grep would be asked about.
      { call: use(desk, "search_text", input), read: (text) => readListing(text) },
      { call: runProgram(desk, "grep", "-niE", patternOf(want), ...asPaths(path)), read: matchedLines },
    ]);
    if ("trouble" in learnt) return learnt.trouble;
    const start = `${path}:`;
    found.push(
      ...learnt.facts.map((line) => (files.length === 1 && line.startsWith(start) ? line.slice(start.length) : line)),
    );
  }
  return errorWords(found, what, { want, desk });
}

/** The end of the kernel's log. */
export function* kernelLog(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const count = countOf(want);
  const call = runProgram(desk, "dmesg", "-T");
  const learnt = yield* learn(desk, [{ call, read: (text) => goodLines(text) }]);
  const lines = "facts" in learnt && learnt.facts.length > 0 ? learnt.facts : yield* logLines(desk, ["-k"], count);
  if (lines === undefined) return "trouble" in learnt ? learnt.trouble : say("noLog");
  if (lines.length === 0) return say("emptyLog");
  const last = lines.slice(-count);
  return `${say("log", { count: last.length, what: say("kernelLog") })}\n${quote(last.join("\n"), "tail")}`;
}
