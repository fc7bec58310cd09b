import type { Language } from "@vidro/core/text";
import { exampleOf } from "./classifier.ts";
import { shortLine } from "./skill.ts";
import type { Desk, Skill } from "./skill.ts";
import { changeFile, changeGit, changeService, endProcess, install } from "./skills-change.ts";
import { kernelLog, logErrors, logTail } from "./skills-logs.ts";
import {
  countFiles,
  countLines,
  fileInfo,
  find,
  largest,
  largestFolders,
  listFolder,
  read,
  search,
  sizeOf,
} from "./skills-files.ts";
import {
  gitAuthor,
  gitAuthors,
  gitBlame,
  gitBranches,
  gitCount,
  gitDiff,
  gitLog,
  gitRemote,
  gitShow,
  gitStash,
  gitStatus,
  gitTags,
} from "./skills-git.ts";
import {
  accounts,
  clock,
  cpu,
  disk,
  environment,
  folder,
  gpu,
  inodes,
  load,
  memory,
  sessions,
  swap,
  system,
  uptime,
  user,
} from "./skills-machine.ts";
import { dependencies, languages, project, start } from "./skills-project.ts";
import { runCommand, tests } from "./skills-run.ts";
import { containers, cron, tellInstalled, packages, service, services, versionOf } from "./skills-software.ts";
import { busiest, dns, gateway, network, ports, processCount, reach, tellRunning } from "./skills-work.ts";
import { stepWords } from "./steps.ts";
import type { Intent, Want } from "./want.ts";

/** The work that each want takes; an intent, its file of phrases and a line here add one. */
const SKILLS: { readonly [K in Intent]: (want: Want, desk: Desk) => Skill } = {
  accounts,
  addresses: network,
  commit: changeGit,
  containers,
  copy: changeFile,
  "count-commits": gitCount,
  "count-files": countFiles,
  "count-lines": countLines,
  cpu,
  cron,
  date: clock,
  delete: changeFile,
  dependencies,
  disk,
  dns,
  env: environment,
  "file-info": fileInfo,
  find,
  folder,
  "folder-size": sizeOf,
  gateway,
  "git-author": gitAuthor,
  "git-authors": gitAuthors,
  "git-blame": gitBlame,
  "git-branch": gitStatus,
  "git-branches": gitBranches,
  "git-diff": gitDiff,
  "git-log": gitLog,
  "git-remote": gitRemote,
  "git-show": gitShow,
  "git-stash": gitStash,
  "git-status": gitStatus,
  "git-tags": gitTags,
  gpu,
  help,
  hostname: system,
  inodes,
  install,
  installed: tellInstalled,
  kernel: system,
  "kernel-log": kernelLog,
  kill: endProcess,
  language: languages,
  largest,
  "largest-folders": largestFolders,
  list: listFolder,
  load,
  "log-errors": logErrors,
  "log-tail": logTail,
  "logged-in": sessions,
  "make-branch": changeGit,
  "make-file": changeFile,
  "make-folder": changeFile,
  memory,
  os: system,
  packages,
  ports,
  "processes-count": processCount,
  project,
  reach,
  read,
  rename: changeFile,
  restart: changeService,
  run: runCommand,
  running: tellRunning,
  search,
  service,
  services,
  start,
  "start-service": changeService,
  "stop-service": changeService,
  swap,
  "switch-branch": changeGit,
  tests,
  time: clock,
  "top-cpu": busiest,
  "top-memory": busiest,
  uptime,
  version: versionOf,
  whoami: user,
};

/** The intents whose examples an introduction shows. */
const SHOWN: readonly Intent[] = [
  "disk",
  "top-memory",
  "ports",
  "largest",
  "search",
  "git-status",
  "log-errors",
  "project",
  "tests",
];

// oxlint-disable-next-line require-yield -- what it is, it knows without a tool
function* help(_want: Want, desk: Desk): Skill {
  return introduction(desk, desk.language);
}

/** Who the built-in model is, what it can do, and how to get a real model. */
function introduction({ say }: Desk, language: Language): string {
  return [say("self"), "", say("can"), ...examples(SHOWN, language), "", say("connect")].join("\n");
}

/** Says that a task was not understood, and what comes nearest to it. */
export function notUnderstood({ say, language }: Desk, nearest: readonly Intent[]): string {
  return [say("unknown"), "", say("nearest"), ...examples(nearest, language), "", say("connect")].join("\n");
}

function examples(intents: readonly Intent[], language: Language): readonly string[] {
  return intents.map((intent) => `- ${exampleOf(intent, language)}`);
}

/** The work that a want takes. */
export function skillFor(want: Want, desk: Desk): Skill {
  return SKILLS[want.kind](want, desk);
}

/** The steps of a want, as a plan tells them. */
export function stepsOf(want: Want, language: Language): readonly string[] {
  const { name, path, command, text, pattern, number } = want;
  const place = want.kind === "find" ? (path ?? "") : (path ?? (text === "port" ? `:${number}` : number) ?? ".");
  const about = command ?? (want.kind === "search" ? text : undefined) ?? name ?? pattern ?? place;
  const step = stepWords(want.kind, shortLine(String(about)), language);
  return step === "" ? [] : [step];
}
