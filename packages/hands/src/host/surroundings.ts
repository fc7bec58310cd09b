import { randomUUID } from "node:crypto";
import { existsSync, rmSync, statSync } from "node:fs";
import os from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { HAND_LIMITS } from "@vidro/core";
import type { Guide, ProcessPlan, Surroundings } from "@vidro/core";
import { headOf } from "@vidro/core/text";
import { findProgram } from "../exec/fingerprints.ts";
import { readSystemName } from "../exec/proc.ts";
import { SHELL } from "../exec/shell-program.ts";
import { readFileStart } from "../files/regular-file.ts";
import { readGuide } from "./project-file.ts";
import { readProjectSkills } from "./project-skills.ts";
import { runHeld } from "../tools/run-held.ts";
import type { HandContext } from "../tools/tool.ts";

/* What a model should know of the host and the workspace before its first step. A fact that cannot be read is left out. */

/** Name of the files in which a project speaks to models. */
const GUIDE = "AGENTS.md";

/** Reads the facts; `spools` is a folder for the output of git. */
export async function readSurroundings(context: HandContext, spools: string): Promise<Surroundings> {
  const root = repositoryOf(context.workspace);
  const guides = readGuides(root ?? context.workspace, context);
  const [git, skills] = await Promise.all([
    root === undefined ? undefined : gitWords(root, context, spools),
    readProjectSkills(root ?? context.workspace, context),
  ]);
  return {
    system: `${readSystemName() ?? os.version()} (${os.type()} ${os.release()}, ${os.machine()})`,
    shell: SHELL,
    ...(git === undefined ? {} : { git }),
    ...(guides.length === 0 ? {} : { guides }),
    ...(skills.length === 0 ? {} : { skills }),
  };
}

/** The nearest folder upwards that has a repository of git. */
function repositoryOf(workspace: string): string | undefined {
  for (let folder = workspace; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}

/** Branch and state of a repository; the branch alone where git cannot be held by the sandbox. */
async function gitWords(root: string, context: HandContext, spools: string): Promise<string | undefined> {
  const status = await gitStatus(context, spools).catch(() => undefined);
  const [head = "", ...changes] = (status ?? "").split("\n").filter((line) => line !== "");
  const branch = /^## (?:No commits yet on )?(.+?)(?:\.\.\.|$)/.exec(head)?.[1];
  if (branch === undefined) return branchIn(root);
  if (changes.length === 0) return `${branch}, no changes`;
  const added = changes.filter((line) => line.startsWith("??")).length;
  const changed = changes.length - added;
  const counts = [
    ...(changed === 0 ? [] : [`${changed} changed`]),
    ...(added === 0 ? [] : [`${added} not tracked`]),
  ].join(", ");
  return headOf(`${branch}, ${counts}:\n${shortList(changes)}`, HAND_LIMITS.gitFactChars);
}

/** The first of the changed files. */
function shortList(changes: readonly string[]): string {
  const shown = changes.slice(0, HAND_LIMITS.toldChanges).map((line) => `  ${line}`);
  const left = changes.length - shown.length;
  return [...shown, ...(left === 0 ? [] : [`  and ${left} more`])].join("\n");
}

/** What `git status` prints. It runs in the sandbox and only where policy allows it: settings of a repository name programs. */
async function gitStatus(context: HandContext, spools: string): Promise<string | undefined> {
  const { workspace: cwd, env } = context;
  const argv = ["git", "status", "--porcelain", "--branch"];
  const program = findProgram("git", cwd, env["PATH"] ?? "");
  const timeoutMs = HAND_LIMITS.gitStatusMs;
  const plan: ProcessPlan = { kind: "process", program, argv, cwd, env, timeoutMs, digests: {}, confined: "files" };
  if ((await context.sandbox()) === undefined || context.judge(plan).decision !== "allow") return undefined;
  const action = `facts_${randomUUID()}`;
  const spool = join(spools, action);
  const execution = { plan, context, action, run: action, spool, signal: AbortSignal.timeout(timeoutMs) };
  try {
    const line = [program, ...argv.slice(1)];
    const ended = await runHeld({ line, confined: "files", cwd, timeoutMs }, { ...execution, output: () => undefined });
    return ended.exitCode === 0 ? ended.stdout.text : undefined;
  } finally {
    rmSync(spool, { force: true });
  }
}

/** The branch as the repository's own files say; undefined when they say none. */
function branchIn(root: string): string | undefined {
  try {
    const place = join(root, ".git");
    const folder = statSync(place).isDirectory()
      ? place
      : resolve(root, /^gitdir: (.+)$/m.exec(startOf(place))?.[1] ?? "");
    const head = startOf(join(folder, "HEAD")).trim();
    const [, branch] = /^ref: refs\/heads\/(\S{1,200})$/.exec(head) ?? [];
    return branch ?? (/^[0-9a-f]{40,64}$/.test(head) ? `no branch, at ${head.slice(0, 12)}` : undefined);
  } catch {
    return undefined;
  }
}

/** The beginning of a small file of a repository; empty when there is none. */
function startOf(path: string): string {
  return readFileStart(path, HAND_LIMITS.pathChars)?.bytes.toString("utf8") ?? "";
}

/** The guides from the root of the project to the workspace: the nearest one is last, and all are bounded together. */
function readGuides(root: string, context: HandContext): readonly Guide[] {
  const folders: string[] = [];
  for (let folder = context.workspace; ; folder = dirname(folder)) {
    folders.push(folder);
    if (folder === root || folders.length === HAND_LIMITS.guides) break;
  }
  let left: number = HAND_LIMITS.guideBytes;
  const guides: Guide[] = [];
  for (const folder of folders) {
    const place = { path: join(folder, GUIDE), root, bytes: left };
    const text = left === 0 ? undefined : readGuide(place, context);
    if (text === undefined) continue;
    left = Math.max(0, left - Buffer.byteLength(text));
    guides.unshift({ path: join(relative(context.workspace, folder), GUIDE), text });
  }
  return guides;
}
