import { existsSync, readdirSync, readlinkSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { HAND_LIMITS } from "@vidro/core";
import type { Plan, Verdict } from "@vidro/core";
import { stateFolder, usualStateFolder } from "../config.ts";
import { isWithin } from "../files/is-within.ts";
import { listPids } from "../exec/proc.ts";

/*
 * Vidro's own state on a host: the folders of its hands and brains, with their identities, keys, policies, ledgers and
 * journals. No tool gives any of it out or changes it, whoever approves: a brain could otherwise become its own judge,
 * and a hand of the brain's user would hand over the brain.
 */

/** Where the policy of a host is that its hands may only read. */
export const HOST_POLICY = "/etc/vidro/policy.json";

/** The name under which a verdict stands that keeps a plan from Vidro's own state. */
const STATE_RULE = "own-state";

/** What was found at some time, and what it came to for each hand that asked. */
let cachedStates:
  | { readonly at: number; readonly folders: readonly string[]; readonly by: Map<string, readonly string[]> }
  | undefined;

/**
 * The folders of Vidro on this host as far as they can be known, real paths: the one of the hand that asks, those where
 * a state is kept unless it is said otherwise, those that running processes have open, and the one of the host's policy.
 */
export function findOwnFolders(own: string): readonly string[] {
  const now = performance.now();
  if (cachedStates === undefined || now - cachedStates.at > HAND_LIMITS.statesMs)
    cachedStates = { at: now, folders: [...usualFolders(), ...openFolders()], by: new Map() };
  let folders = cachedStates.by.get(own);
  if (folders === undefined) cachedStates.by.set(own, (folders = keepOutermost([own, ...cachedStates.folders])));
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

/** States that a process has open which this one may look into: its own user's, and for root everyone's. */
function openFolders(): readonly string[] {
  return listPids().flatMap((pid) => {
    try {
      if (!basename(readlinkSync(`/proc/${pid}/exe`)).startsWith("node")) return [];
      return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => stateOf(readLinkIfAny(`/proc/${pid}/fd/${fd}`)));
    } catch {
      // It is gone, or another user's.
      return [];
    }
  });
}

/** The folder of the state that an open file belongs to, told by what lies beside the file. */
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

/** What stands between the paths in a line; a variable stays a part of its path. */
const BETWEEN = /[\s;&|<>()`"'=,:]+/u;

/** What a plan is looked at with. */
interface PlanSurroundings {
  readonly workspace: string;
  /** Vidro's own folders. */
  readonly folders: readonly string[];
}

/**
 * The verdict on a plan that names Vidro's own state, which no approval overrules; undefined when it names none, or a
 * sandbox holds it, in which the state is not there.
 */
export function judgeOwnState(plan: Plan, ground: PlanSurroundings): Verdict | undefined {
  const path = findNamedState(plan, ground);
  if (path === undefined) return undefined;
  const reason = `it names ${path}: Vidro's own state is never given out or changed`;
  return { decision: "deny", rule: STATE_RULE, class: "privileged", reason };
}

function findNamedState(plan: Plan, ground: PlanSurroundings): string | undefined {
  if (plan.kind === "shell") return plan.sandboxed ? undefined : findNamedFolder([plan.command], plan.cwd, ground);
  if (plan.kind !== "process" || plan.confined !== undefined) return undefined;
  return findNamedFolder([plan.program, ...plan.argv], plan.cwd, ground);
}

/**
 * The folder that one of the texts names, as a whole path anywhere in it or as a path seen from the working folder. A
 * text that puts the name together when it runs is not found: that is what the cover is for.
 */
function findNamedFolder(
  texts: readonly string[],
  cwd: string,
  { workspace, folders }: PlanSurroundings,
): string | undefined {
  const isOwn = (path: string): boolean =>
    folders.some((folder) => isWithin(folder, path)) && !isWithin(workspace, path);
  const words = new Set([cwd, ...texts.flatMap((text) => [text, ...text.split(BETWEEN)])]);
  const home = homedir();
  for (const word of words) {
    const path = resolve(cwd, word.replace(/^(?:~|\$HOME|\$\{HOME\})(?=\/|$)/u, home));
    const own = [path, ...(word.length <= HAND_LIMITS.pathChars ? realPathIfAny(path) : [])].find(isOwn);
    if (own !== undefined) return own;
  }
  return undefined;
}
