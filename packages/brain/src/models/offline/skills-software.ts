import { OFFLINE_LIMITS } from "@vidro/core";
import { outputLines, quote, readOutput } from "./read-output.ts";
import { isMissingProgram, learn, runProgram, shortLine, tell, troubleWith, use } from "./skill.ts";
import type { Desk, Skill } from "./skill.ts";
import { asPaths } from "./skills-machine.ts";
import { goodLines, tellRunning } from "./skills-work.ts";
import { readFolderNames } from "./read-files.ts";
import type { Want } from "./want.ts";
import { rows } from "./wording.ts";

/** Names of programs and packages; anything else is none. */
const NAME = /^[A-Za-z0-9][\w.+@:/-]*$/;

/** Names of programs that people use for others. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ["nodejs", "node"],
  ["pip", "pip3"],
  ["python", "python3"],
  ["golang", "go"],
  ["rust", "rustc"],
  ["postgres", "psql"],
  ["postgresql", "psql"],
  ["sqlite", "sqlite3"],
]);

/** Whether a program or a package is installed; the program may have another name than people call it by. */
export function* tellInstalled(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const name = want.name ?? "";
  if (!NAME.test(name)) return say("notInstalled", { name: shortLine(name) });
  for (const program of new Set([name, ALIASES.get(name.toLowerCase()) ?? name])) {
    const call = runProgram(desk, "which", program);
    const path = yield* learn(desk, [{ call, read: (text) => goodLines(text)?.[0] }]);
    if ("facts" in path) return say("installed", { name: program, path: path.facts });
    if (path.isPersonsNo) return path.trouble;
  }
  const version = yield* packageVersion(name, desk);
  return version === undefined ? say("notInstalled", { name }) : say("installedPackage", { name, version });
}

function* packageVersion(name: string, desk: Desk): Skill<string | undefined> {
  const read = (text: string) =>
    /^Status: .* installed$/m.test(text) ? /^Version: (\S+)/m.exec(text)?.[1] : undefined;
  const learnt = yield* learn(desk, [{ call: runProgram(desk, "dpkg", "-s", name), read }]);
  return "facts" in learnt ? learnt.facts : undefined;
}

const BY_WORD = new Set(["go", "openssl"]);
/** Programs that the shipped policy lets tell their version. */
const TELLING = new Set(
  "node npm npx python3 python pip pip3 ruby perl php java gcc g++ clang make cmake git docker psql redis-server sqlite3 systemctl rg bwrap cargo rustc pnpm yarn".split(
    " ",
  ),
);

/** Which version a program has. */
export function* versionOf(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const asked = (want.name ?? "").toLowerCase();
  const name = ALIASES.get(asked) ?? asked;
  if (!NAME.test(name)) return say("notInstalled", { name: shortLine(name) });
  if (!TELLING.has(name) && !BY_WORD.has(name)) {
    const ofPackage = yield* packageVersion(name, desk);
    if (ofPackage !== undefined) return say("version", { name, version: ofPackage });
  }
  const call = runProgram(desk, name, BY_WORD.has(name) ? "version" : "--version");
  if (call === undefined) return say("noTool");
  const result = yield call;
  if (isMissingProgram(result)) return say("notInstalled", { name: asked });
  if (result.failed || result.forgotten) return troubleWith(call, result, say);
  const { stdout, stderr } = readOutput(result.text);
  const [line] = outputLines(stdout === "" ? stderr : stdout);
  return line === undefined ? troubleWith(call, result, say) : say("version", { name, version: shortLine(line) });
}

/** How many packages are installed. */
export function packages(_want: Want, desk: Desk): Skill {
  const read = (text: string) => goodLines(text)?.filter((line) => line.startsWith("ii ")).length;
  return tell(desk, [{ call: runProgram(desk, "dpkg", "-l"), read }], (count) => desk.say("packages", { count }));
}

const NO_SYSTEMD = /not been booted with systemd|Failed to connect to (the )?(system )?(scope )?bus/i;

/** Which services are running, or have failed. */
export function* services(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const state = want.text === "failed" ? "failed" : "running";
  const args = ["list-units", "--type=service", `--state=${state}`, "--no-pager", "--no-legend", "--plain"];
  const call = runProgram(desk, "systemctl", ...args);
  if (call === undefined) return say("noTool");
  const result = yield call;
  if (isMissingProgram(result) || NO_SYSTEMD.test(result.text)) return say("noSystemd");
  const lines = result.failed || result.forgotten ? undefined : goodLines(result.text);
  if (lines === undefined) return troubleWith(call, result, say);
  const names = lines.map(
    (line) =>
      line
        .trim()
        .split(/\s+/)[0]
        ?.replace(/\.service$/, "") ?? "",
  );
  if (names.length === 0) return say("noServices");
  return `${say("services", { count: names.length })}\n${rows(names, say, OFFLINE_LIMITS.quotedLines)}`;
}

/** How one service is; where there is no systemd, whether a process of its name runs. */
export function* service(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const name = want.name ?? "";
  const call = runProgram(desk, "systemctl", "is-active", name);
  if (call === undefined || !NAME.test(name)) return say("noService", { name: shortLine(name) });
  const result = yield call;
  if (isMissingProgram(result) || NO_SYSTEMD.test(result.text)) {
    return `${say("noSystemd")} ${yield* tellRunning({ kind: "running", name }, desk)}`;
  }
  const state = readOutput(result.text).stdout.trim();
  if (result.failed || result.forgotten || !/^\w+$/.test(state)) return troubleWith(call, result, say);
  const words = new Map([
    ["active", say("stateActive")],
    ["inactive", say("stateInactive")],
    ["failed", say("stateFailed")],
  ]);
  return say("service", { name, state: words.get(state) ?? state });
}

/** What is scheduled: the tables of cron that every user may read, and the timers of systemd. */
export function* cron(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const found: string[] = [];
  if (want.name === "crontab") {
    const own = yield* learn(desk, [{ call: runProgram(desk, "crontab", "-l"), read: (text) => goodLines(text) }]);
    if ("facts" in own) found.push(...jobsIn(own.facts));
    else if (own.isPersonsNo) return own.trouble;
  }
  const table = yield* learn(desk, [
    { call: use(desk, "read_file", { file_path: "/etc/crontab" }), read: outputLines },
  ]);
  if ("facts" in table) found.push(...jobsIn(table.facts));
  const listing = use(desk, "read_folder", { dir_path: "/etc/cron.d" });
  const folder = yield* learn(desk, [{ call: listing, read: readFolderNames }]);
  if ("facts" in folder)
    found.push(...folder.facts.filter((name) => !name.startsWith(".")).map((name) => `/etc/cron.d/${name}`));
  const timers = runProgram(desk, "systemctl", "list-timers", "--no-pager", "--no-legend");
  const timed = yield* learn(desk, [{ call: timers, read: (text) => goodLines(text) }]);
  if ("facts" in timed) found.push(...timed.facts.flatMap((line) => /(\S+\.timer)/.exec(line)?.[1] ?? []));
  return found.length === 0 ? say("noCron") : `${say("cronJobs")}\n${rows(found, say, OFFLINE_LIMITS.quotedLines)}`;
}

function jobsIn(lines: readonly string[]): readonly string[] {
  return lines.filter((line) => /^\s*([\d*@])/.test(line)).map((line) => shortLine(line));
}

/** Which containers are running, or which images there are. */
export function* containers(want: Want, desk: Desk): Skill {
  const { say } = desk;
  for (const program of ["docker", "podman"]) {
    const call = runProgram(desk, program, want.text === "images" ? "images" : "ps");
    const learnt = yield* learn(desk, [{ call, read: (text) => goodLines(text) }]);
    if ("trouble" in learnt) {
      if (learnt.isPersonsNo) return learnt.trouble;
      continue;
    }
    const lines = learnt.facts.slice(1);
    if (lines.length === 0) return say("noContainers");
    const head = want.text === "images" ? "" : `${say("containers", { count: lines.length })}\n`;
    return head + quote(learnt.facts.join("\n"));
  }
  return say("noContainerProgram");
}

/** The files that a system without a journal writes its log to. */
const LOG_FILES = ["/var/log/syslog", "/var/log/messages"];

function* logLines(desk: Desk, args: readonly string[], count: number): Skill<readonly string[] | undefined> {
  const journal = runProgram(desk, "journalctl", "--no-pager", "-q", "-n", String(count), ...args);
  const learnt = yield* learn(desk, [{ call: journal, read: (text) => goodLines(text) }]);
  return "facts" in learnt ? learnt.facts : undefined;
}

/** The end of the system's log. */
export function* logTail(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const count = Math.min(want.count ?? OFFLINE_LIMITS.rows, OFFLINE_LIMITS.quotedLines);
  const unit = want.name === undefined || !NAME.test(want.name) ? [] : ["-u", want.name];
  let lines = yield* logLines(desk, unit, count);
  for (const path of LOG_FILES) {
    if (lines !== undefined && lines.length > 0) break;
    const call = runProgram(desk, "tail", "-n", String(count), path);
    const learnt = yield* learn(desk, [{ call, read: (text) => goodLines(text) }]);
    if ("facts" in learnt) lines = learnt.facts;
  }
  if (lines === undefined) return say("noLog");
  if (lines.length === 0) return say("emptyLog");
  return `${say("log", { count: lines.length, what: say("systemLog") })}\n${quote(lines.join("\n"), "tail")}`;
}

const ERROR = "error|fail|exception|fatal|panic|critical|denied";

/** Lines with an error, in a file or in the system's log. */
export function* logErrors(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const count = Math.min(want.count ?? OFFLINE_LIMITS.rows, OFFLINE_LIMITS.quotedLines);
  const what = want.path === undefined ? say("systemLog") : shortLine(want.path);
  const words = (all: readonly string[]): string => {
    const last = all.slice(-count);
    if (last.length === 0) return say("noErrors", { what });
    return `${say("errorsIn", { count: all.length, what })}\n${quote(last.join("\n"), "tail")}`;
  };
  if (want.path !== undefined) {
    const call = runProgram(desk, "grep", "-niE", ERROR, ...asPaths(want.path));
    // Grep ends with 1 when nothing matches.
    const read = (text: string) => (readOutput(text).exitCode <= 1 ? outputLines(readOutput(text).stdout) : undefined);
    return yield* tell(desk, [{ call, read }], words);
  }
  const lines = yield* logLines(desk, ["-p", "err"], count);
  if (lines !== undefined && lines.length > 0) return words(lines);
  for (const path of LOG_FILES) {
    const call = runProgram(desk, "grep", "-iE", ERROR, path);
    const read = (text: string) => (readOutput(text).exitCode <= 1 ? outputLines(readOutput(text).stdout) : undefined);
    const learnt = yield* learn(desk, [{ call, read }]);
    if ("facts" in learnt) return words(learnt.facts);
    // A log that is there and was not read may hold errors.
    if (!learnt.isMissing) return learnt.trouble;
  }
  return lines === undefined ? say("noLog") : words([]);
}

/** The end of the kernel's log. */
export function* kernelLog(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const count = Math.min(want.count ?? OFFLINE_LIMITS.rows, OFFLINE_LIMITS.quotedLines);
  const call = runProgram(desk, "dmesg", "-T");
  const learnt = yield* learn(desk, [{ call, read: (text) => goodLines(text) }]);
  const lines = "facts" in learnt && learnt.facts.length > 0 ? learnt.facts : yield* logLines(desk, ["-k"], count);
  if (lines === undefined) return "trouble" in learnt ? learnt.trouble : say("noLog");
  if (lines.length === 0) return say("emptyLog");
  const last = lines.slice(-count);
  return `${say("log", { count: last.length, what: say("kernelLog") })}\n${quote(last.join("\n"), "tail")}`;
}
