import { existsSync, readdirSync, readlinkSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { HAND_LIMITS } from "@vidro/core";
import type { Plan, Verdict } from "@vidro/core";
import { stateFolder, usualStateFolder } from "../config.ts";
import { isWithin } from "../files/is-within.ts";
import { findMountAliases, readMounts } from "../files/mounts.ts";
import { findMovedInLine, findMovedInWords } from "./moved-paths.ts";
import { listPids } from "../exec/proc.ts";

/*
 * Vidro's own state on a host: the folders of its hands and brains, with their identities, keys, policies, ledgers and
 * journals. No tool reads or changes it, not even with an approval: a brain could otherwise change its own policy, and
 * a hand that runs as the brain's user could take over the brain.
 */

/** The host's policy file, which hands may only read. */
export const HOST_POLICY = "/etc/vidro/policy.json";

/** The rule in verdicts that deny access to Vidro's own state. */
const STATE_RULE = "own-state";

/** Folders found by the last search, and the result for each hand. */
let cachedStates:
  | { readonly at: number; readonly folders: readonly string[]; readonly by: Map<string, readonly string[]> }
  | undefined;

/**
 * Real paths of Vidro's folders on this host, as far as they can be found: the given one, the default and configured
 * state folders, those that running processes have open, and the folder of the host's policy.
 */
export function findOwnFolders(own: string): readonly string[] {
  const now = performance.now();
  if (cachedStates === undefined || now - cachedStates.at > HAND_LIMITS.statesMs)
    cachedStates = { at: now, folders: [...usualFolders(), ...openFolders()], by: new Map() };
  let folders = cachedStates.by.get(own);
  if (folders === undefined) {
    const found = [own, ...cachedStates.folders];
    const { entries } = readMounts();
    folders = keepOutermost([...found, ...found.flatMap((folder) => findMountAliases(folder, entries))]);
    cachedStates.by.set(own, folders);
  }
  return folders;
}

function keepOutermost(folders: readonly string[]): readonly string[] {
  const all = [...new Set(folders)];
  return all.filter((folder) => !all.some((other) => other !== folder && isWithin(other, folder)));
}

function usualFolders(): readonly string[] {
  const own = [stateFolder(), usualStateFolder()].filter((folder) => folder !== undefined);
  return [...own, dirname(HOST_POLICY)].flatMap(realPathIfAny);
}

/** State folders that running processes have open: those of the same user, or for root of all users. */
function openFolders(): readonly string[] {
  return listPids().flatMap((pid) => {
    try {
      if (!basename(readlinkSync(`/proc/${pid}/exe`)).startsWith("node")) return [];
      return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => stateOf(readLinkIfAny(`/proc/${pid}/fd/${fd}`)));
    } catch {
      // The process has ended or belongs to another user.
      return [];
    }
  });
}

/** The state folder that an open file belongs to, recognised by the files beside it. */
function stateOf(file: string): readonly string[] {
  const folder = dirname(file);
  if (basename(file) === "journal.db") return existsSync(join(folder, "audit-key")) ? [folder] : [];
  if (basename(file) !== "ledger.db") return [];
  const around = dirname(folder);
  return [existsSync(join(around, "identity.json")) || existsSync(join(around, "tokens.json")) ? around : folder];
}

function readLinkIfAny(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

function realPathIfAny(path: string): readonly string[] {
  try {
    return [realpathSync.native(path)];
  } catch {
    return [];
  }
}

/** Separators between the paths of a line; a variable remains part of its path. */
const BETWEEN = /[\s;&|<>()`"'=,:]+/u;

/** Folders against which a plan is checked. */
interface PlanSurroundings {
  readonly workspace: string;
  /** Vidro's own folders. */
  readonly folders: readonly string[];
}

/**
 * A denial for a plan that names Vidro's own state, or renames or removes a folder that holds it, which no approval
 * overrules; undefined for any other plan, and for one that runs in the sandbox, where the state does not exist.
 */
export function judgeOwnState(plan: Plan, ground: PlanSurroundings): Verdict | undefined {
  if (plan.kind !== "shell" && plan.kind !== "process") return undefined;
  if (plan.kind === "shell" ? plan.sandboxed : plan.confined !== undefined) return undefined;
  const texts = plan.kind === "shell" ? [plan.command] : [plan.program, ...plan.argv];
  const named = findNamedFolder(texts, plan.cwd, ground);
  if (named !== undefined) return denial(`it names ${named}`);
  const moved = findMovedFolder(
    plan.kind === "shell" ? findMovedInLine(plan.command) : findMovedInWords(plan.argv),
    plan.cwd,
    ground,
  );
  return moved === undefined ? undefined : denial(`it renames or removes ${moved}, which holds that`);
}

function denial(what: string): Verdict {
  const reason = `${what}: Vidro's own state is never given out or changed`;
  return { decision: "deny", rule: STATE_RULE, class: "privileged", reason };
}

/**
 * The folder that one of the texts names, as an absolute path or relative to the working folder. A name that is
 * composed at run time is not found; the cover protects against that.
 */
function findNamedFolder(
  texts: readonly string[],
  cwd: string,
  { workspace, folders }: PlanSurroundings,
): string | undefined {
  const isOwn = (path: string): boolean =>
    folders.some((folder) => isWithin(folder, path) && !(isWithin(folder, workspace) && isWithin(workspace, path)));
  const words = new Set([cwd, ...texts.flatMap((text) => [text, ...text.split(BETWEEN)])]);
  for (const word of words) {
    const path = pathOfWord(word, cwd);
    const own = [path, ...(word.length <= HAND_LIMITS.pathChars ? realPathIfAny(path) : [])].find(isOwn);
    if (own !== undefined) return own;
  }
  return undefined;
}

/** The first of the words that is a folder above one of Vidro's own; a link is renamed itself, so it is not followed. */
function findMovedFolder(words: readonly string[], cwd: string, { folders }: PlanSurroundings): string | undefined {
  return words
    .filter((word) => word.length <= HAND_LIMITS.pathChars)
    .map((word) => pathOfWord(word, cwd))
    .flatMap((path) => realPathIfAny(dirname(path)).map((folder) => join(folder, basename(path))))
    .find((path) => folders.some((folder) => isWithin(path, folder)));
}

function pathOfWord(word: string, cwd: string): string {
  return resolve(cwd, word.replace(/^(?:~|\$HOME|\$\{HOME\})(?=\/|$)/u, homedir()));
}
