import { OFFLINE_LIMITS } from "@vidro/core";
import { gitLacks, readGitState } from "./read-files.ts";
import { outputLines, quote, readOutput } from "./read-output.ts";
import { learn, runProgram, shortLine, tell } from "./skill.ts";
import type { Desk, Learnt, Skill } from "./skill.ts";
import { shownPath } from "./skills-files.ts";
import type { Want } from "./want.ts";
import { duration, rows } from "./wording.ts";

/** Asks git, and says so when there is no repository or no commit to ask about. */
function* askGit<Facts>(
  desk: Desk,
  args: readonly string[],
  read: (text: string) => Facts | undefined,
): Skill<Learnt<Facts>> {
  let lack: string | undefined;
  const learnt = yield* learn<Facts>(desk, [
    {
      call: runProgram(desk, "git", ...args),
      read: (text) => {
        const missing = gitLacks(text);
        if (missing !== undefined) lack = desk.say(missing === "repository" ? "noRepository" : "noCommits");
        return missing === undefined ? read(text) : undefined;
      },
    },
  ]);
  return lack === undefined ? learnt : { trouble: lack, isPersonsNo: false, isMissing: false };
}

const goodOutput = (text: string): string | undefined =>
  readOutput(text).exitCode === 0 ? readOutput(text).stdout : undefined;

/** Asks git for lines and words them; `none` is said when there are none. */
function* tellLines(desk: Desk, args: readonly string[], words: (lines: readonly string[]) => string): Skill {
  const learnt = yield* askGit(desk, args, goodOutput);
  return "facts" in learnt ? words(outputLines(learnt.facts)) : learnt.trouble;
}

/** Where the repository stands: its branch, and what changed. */
export function* gitStatus(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const learnt = yield* askGit(desk, ["status", "--short", "--branch"], readGitState);
  if ("trouble" in learnt) return learnt.trouble;
  const { branch, tracking, changes } = learnt.facts;
  const words =
    tracking === undefined
      ? say("branch", { branch })
      : say("branchTracking", { branch, tracking: trackingWords(tracking, desk) });
  if (want.kind === "git-branch") return words;
  if (changes.length === 0) return `${words} ${say("clean")}`;
  return `${words} ${say("changes", { count: changes.length })}\n${quote(changes.join("\n"))}`;
}

/** `ahead 1, behind 2` in the asker's language. */
function trackingWords(tracking: string, { say }: Desk): string {
  const parts = tracking.split(", ").map((part) => {
    const [, way, count = 0] = /^(ahead|behind) (\d+)$/.exec(part) ?? [];
    return way === "ahead" ? say("ahead", { count }) : way === "behind" ? say("behind", { count }) : say("gone");
  });
  return parts.join(", ");
}

/** Which branches there are. */
export function gitBranches({ name }: Want, desk: Desk): Skill {
  const { say } = desk;
  return tellLines(desk, ["branch", "-a"], (lines) => {
    if (lines.length === 0) return say("noCommits");
    const all = `${say("branches", { count: lines.length })}\n${quote(lines.join("\n"))}`;
    if (name === undefined) return all;
    const isThere = lines.some((line) => line.replace(/^[*+ ] /, "") === name);
    return isThere
      ? say("branchThere", { name: shortLine(name) })
      : `${say("noBranch", { name: shortLine(name) })} ${all}`;
  });
}

const ROW = "--format=%h %s (%an, %ad)";

/** The last commits: so many, of a file, of a person, of some days. */
export function gitLog(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const count = Math.min(want.count ?? OFFLINE_LIMITS.rows, OFFLINE_LIMITS.quotedLines);
  const args = [
    "log",
    `-${count}`,
    ROW,
    "--date=short",
    ...(want.name === undefined ? [] : [`--author=${want.name}`, "-i"]),
    ...(want.minutes === undefined ? [] : [`--since=${want.minutes} minutes ago`]),
    ...(want.path === undefined ? [] : ["--", want.path]),
  ];
  return tellLines(desk, args, (lines) => {
    if (lines.length === 0) return say("noSuchCommits");
    const span = want.minutes === undefined ? "" : ` (${say("changedWithin", { time: duration(want.minutes, say) })})`;
    const head = say("commits", { count: lines.length }).replace(/:$/, `${span}:`);
    return `${head}\n${rows(
      lines.map((line) => shortLine(line)),
      say,
      lines.length,
    )}`;
  });
}

/** The changes of a commit; `first` is the one that the history begins with. */
export function* gitShow(want: Want, desk: Desk): Skill {
  const format = "--format=%h %s%n%an, %ad";
  let which: readonly string[] = ["show", want.revision ?? "HEAD"];
  if (want.revision === "first") {
    const count = yield* askGit(desk, ["rev-list", "--count", "HEAD"], goodOutput);
    if ("trouble" in count) return count.trouble;
    which = ["log", "-1", `--skip=${Number(count.facts) - 1}`];
  }
  const [command = "", ...at] = which;
  const args = [command, "--stat", format, "--date=iso", ...at];
  return yield* tellLines(desk, args, (lines) => quote(lines.join("\n")));
}

/** The differences from the last commit or another one, in all files or in one. */
export function* gitDiff(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const where = want.path === undefined ? [] : ["--", want.path];
  const learnt = yield* askGit(desk, ["diff", want.revision ?? "HEAD", ...where], goodOutput);
  if ("trouble" in learnt) return learnt.trouble;
  if (learnt.facts.trim() !== "") return quote(learnt.facts);
  return want.path === undefined ? say("noDiff") : say("noDiffOf", { path: shownPath(want.path) });
}

const BLAMED = /^\^?([0-9a-f]+)\s+(?:\S+\s+)?\((.+?)\s+(\d{4}-\d{2}-\d{2}) [\d:]+ [+-]\d{4}\s+(\d+)\)\s?(.*)$/;

/** Who last changed a line, or how many lines of a file each author did. */
export function* gitBlame(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const path = want.path ?? "";
  const at = want.line === undefined ? [] : ["-L", `${want.line},${want.line}`];
  const learnt = yield* askGit(desk, ["blame", ...at, "--", path], (text) => {
    const found = outputLines(readOutput(text).stdout).flatMap((line) =>
      [BLAMED.exec(line) ?? []].filter((match) => match.length > 0),
    );
    return found.length === 0 ? undefined : found;
  });
  if ("trouble" in learnt) return learnt.trouble;
  const [first] = learnt.facts;
  if (want.line !== undefined && first !== undefined) {
    const [, hash = "", name = "", date = "", line = "", text = ""] = first;
    return say("blamed", { hash, name, date, line, text: shortLine(text), path: shownPath(path) });
  }
  const counts = new Map<string, number>();
  for (const [, , name = ""] of learnt.facts) counts.set(name, (counts.get(name) ?? 0) + 1);
  const lines = [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([name, count]) => `${name}: ${say("lineCount", { count })}`);
  return `${say("blamedAll", { path: shownPath(path) })}\n${rows(lines, say, OFFLINE_LIMITS.rows)}`;
}

/** Who made the last commit, and when. */
export function gitAuthor(_want: Want, desk: Desk): Skill {
  return tellLines(desk, ["log", "-1", "--format=%h|%an|%ad|%s", "--date=iso"], ([line = ""]) => {
    const [hash = "", name = "", date = "", ...subject] = line.split("|");
    return desk.say("lastCommit", { hash, name, date: date.slice(0, 16), subject: shortLine(subject.join("|")) });
  });
}

/** Who has committed, and how often; of one person when a name is given. */
export function gitAuthors(want: Want, desk: Desk): Skill {
  const { say } = desk;
  const { name } = want;
  return tellLines(desk, ["shortlog", "-s", "-e", "HEAD"], (lines) => {
    const all = lines.flatMap((line) => {
      const [, count, author = ""] = /^\s*(\d+)\s+(.+?)(?: <.*>)?$/.exec(line) ?? [];
      return count === undefined ? [] : [{ author, count: Number(count) }];
    });
    if (name !== undefined) {
      const own = all.filter(({ author }) => author.toLowerCase().includes(name.toLowerCase()));
      return say("commitCountBy", { name, count: own.reduce((sum, { count }) => sum + count, 0) });
    }
    const shown = all.sort((one, other) => other.count - one.count).map(({ author, count }) => `${author}: ${count}`);
    return `${say("authors", { count: shown.length })}\n${rows(shown, say, OFFLINE_LIMITS.rows)}`;
  });
}

/** How many commits there are. */
export function gitCount(want: Want, desk: Desk): Skill {
  if (want.name !== undefined) return gitAuthors(want, desk);
  return tellLines(desk, ["rev-list", "--count", "HEAD"], ([count = ""]) =>
    desk.say("commitCount", { count: Number(count) }),
  );
}

/** Where the repository's remotes are. */
export function gitRemote(_want: Want, desk: Desk): Skill {
  const { say } = desk;
  return tellLines(desk, ["remote", "-v"], (lines) => {
    const all = [...new Set(lines.map((line) => line.replace(/\s+\(\w+\)$/, "").replace(/\t/, ": ")))];
    return all.length === 0 ? say("noRemotes") : `${say("remotes")}\n${rows(all, say, OFFLINE_LIMITS.rows)}`;
  });
}

/** The entries of the stash. */
export function gitStash(_want: Want, desk: Desk): Skill {
  const { say } = desk;
  return tellLines(desk, ["stash", "list"], (lines) =>
    lines.length === 0
      ? say("noStash")
      : `${say("stashes", { count: lines.length })}\n${rows(lines, say, OFFLINE_LIMITS.rows)}`,
  );
}

/** Which tags there are. */
export function gitTags(_want: Want, desk: Desk): Skill {
  const { say } = desk;
  const call = runProgram(desk, "git", "tag", "--list");
  const read = (text: string) => (gitLacks(text) === undefined ? goodOutput(text) : undefined);
  return tell(desk, [{ call, read }], (text) => {
    const lines = outputLines(text).toReversed();
    return lines.length === 0
      ? say("noTags")
      : `${say("tags", { count: lines.length })}\n${rows(lines, say, OFFLINE_LIMITS.rows)}`;
  });
}
