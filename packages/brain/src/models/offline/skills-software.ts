import { OFFLINE_LIMITS } from "@vidro/core";
import { outputLines, quote, readOutput } from "./read-output.ts";
import { isMissingProgram, learn, runProgram, shortLine, tell, troubleWith, use } from "./skill.ts";
import type { Desk, Skill } from "./skill.ts";
import { dependencyHere } from "./skills-project.ts";
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
    if ("facts" in path) {
      const isTelling = TELLING.has(program) && OF_SYSTEM.test(path.facts);
      const version = isTelling ? yield* versionLine(program, desk) : undefined;
      const words = say("installed", { name: program, path: path.facts });
      return version === undefined ? words : `${words} (${version})`;
    }
    if (path.isPersonsNo) return path.trouble;
  }
  const version = yield* packageVersion(name, desk);
  if (version !== undefined) return say("installedPackage", { name, version });
  // People call a package of the project installed, too.
  return (yield* dependencyHere(name, desk)) ?? say("notInstalled", { name });
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

/** Folders of the system: a program elsewhere is not started without a question. */
const OF_SYSTEM = /^\/(usr\/(local\/)?)?s?bin\//;

/** The first line of what a program says about its version. */
function* versionLine(name: string, desk: Desk): Skill<string | undefined> {
  const read = (text: string) => goodLines(text)?.[0];
  const learnt = yield* learn(desk, [{ call: runProgram(desk, name, "--version"), read }]);
  return "facts" in learnt ? shortLine(learnt.facts) : undefined;
}

/** Which version a program has. */
export function* versionOf(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const asked = (want.name ?? "").toLowerCase();
  const name = ALIASES.get(asked) ?? asked;
  if (!NAME.test(name)) return say("notInstalled", { name: shortLine(name) });
  if (!TELLING.has(name) && !BY_WORD.has(name)) {
    const ofPackage = yield* packageVersion(name, desk);
    if (ofPackage !== undefined) return say("version", { name, version: ofPackage });
    const ofProject = yield* dependencyHere(asked, desk);
    if (ofProject !== undefined) return ofProject;
    const call = runProgram(desk, "which", name);
    const path = yield* learn(desk, [{ call, read: (text) => goodLines(text)?.[0] }]);
    // A program that is not there is not started: its start would be asked about.
    if ("trouble" in path && !path.isPersonsNo) return say("notInstalled", { name: asked });
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
