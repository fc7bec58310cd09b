import { hash } from "node:crypto";
import { accessSync, constants, existsSync, lstatSync, readFileSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname } from "node:path";
import { canonicalJson, Fault, HAND_LIMITS, MIB } from "@vidro/core";
import { judgePlan, parsePolicy } from "@vidro/core/policy";
import type { Json } from "@vidro/core";
import type { Policy } from "@vidro/core/policy";
import { DEFAULT_POLICY } from "./default-policy.ts";
import { errnoCode } from "../files/files.ts";
import { resolveWorkspace } from "../files/resolve-folder.ts";
import type { HandPolicy } from "../hand-options.ts";
import { HOST_POLICY } from "./own-state.ts";
import { isWithin } from "../files/is-within.ts";
import { isClosedToOthers } from "../exec/sandbox/closed-paths.ts";
import { isWorkspacePath, findLinkIn } from "../files/hard-links.ts";

/** A policy that is in force: its version is the hash of what it says. */
export interface OpenPolicy extends HandPolicy {
  readonly policy: Policy;
  /** The file that says it; undefined for the shipped policy. */
  readonly file: string | undefined;
  /** What a person should know who counts on it. */
  readonly warning: string | undefined;
}

/** Where a policy is looked for, and the folders that its patterns mean. */
interface PolicyPlaces {
  /** A file of JSON; when there is none, the shipped policy counts. */
  readonly file: string;
  /**
   * The host's own file, which counts instead when it is there, and which only root may write; default: HOST_POLICY,
   * false: none counts.
   */
  readonly hostFile?: string | false;
  readonly workspace: string;
  /** The folder of Vidro's own state. */
  readonly state: string;
}

/**
 * The policy of a hand. Throws BAD_POLICY when its file cannot be used, and then nothing is allowed; NOT_FOUND when
 * there is no workspace.
 */
export function openPolicy({ file: own, hostFile = HOST_POLICY, workspace, state }: PolicyPlaces): OpenPolicy {
  const places = { workspace: resolveWorkspace(workspace), home: realHome(), state: realpathSync(state) };
  const file = [...(hostFile === false ? [] : [hostFile]), own].find(policyExists);
  if (file === hostFile) refuseLoose(file);
  const source = file === undefined ? undefined : readPolicy(file);
  // The examples of the shipped policy are tried by its test, not at every start.
  const parsed = source === undefined ? { ...DEFAULT_POLICY, places } : parsePolicy(source, places);
  const policy = {
    ...parsed,
    real: (path: string) => realPathOf(path, places.state),
    kept: (path: string) => whyNotForEveryone(path, places.workspace),
  };
  const text = source === undefined ? JSON.stringify(DEFAULT_POLICY) : canonicalJson(source);
  return {
    version: hash("sha256", text),
    policy,
    judge: (plan) => judgePlan(plan, policy),
    secrets: policy.secrets,
    ...(policy.memory === undefined ? {} : { memoryBytes: policy.memory * MIB }),
    file,
    warning: mayWrite(file ?? own) ? writableWarning(file) : undefined,
  };
}

const WRITTEN_BY_OTHERS = 0o022;

/** A host's policy is root's, or it is none: who could write it could have written it for a hand. */
function refuseLoose(file: string): void {
  const loose = [file, dirname(file)].find((path) => {
    const { uid, mode } = statSync(path);
    return uid !== 0 || (mode & WRITTEN_BY_OTHERS) !== 0;
  });
  if (loose !== undefined) throw new Fault("BAD_POLICY", `${loose} has to belong to root, and only root may write it`);
}

/** Whether the user of this process, who is not root, may write a file or put another one in its place. */
function mayWrite(file: string): boolean {
  if (process.getuid?.() === 0) return false;
  return [file, dirname(file)].some((path) => {
    try {
      accessSync(path, constants.W_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function writableWarning(file: string | undefined): string {
  const which = file === undefined ? "The shipped policy counts, and" : `The policy ${file} counts, and`;
  return `${which} the user of this hand may put another one in its place: as root, write ${HOST_POLICY}.`;
}

/** A policy that can be read anew while a hand works under it. */
export interface ReloadablePolicy extends HandPolicy {
  /** What a person should know who counts on the policy as it was first read. */
  readonly warning: string | undefined;
  /** Reads the file again: what is judged from now on is judged by it. BAD_POLICY leaves the one in force as it is. */
  readonly reload: () => void;
}

/** The policy of a hand that outlives changes of its file; throws as `openPolicy` does. */
export function openReloadablePolicy(places: PolicyPlaces): ReloadablePolicy {
  let open = openPolicy(places);
  return {
    warning: open.warning,
    get version() {
      return open.version;
    },
    get secrets() {
      return open.policy.secrets;
    },
    get memoryBytes() {
      return open.memoryBytes ?? HAND_LIMITS.treeBytes;
    },
    judge: (plan) => open.judge(plan),
    reload() {
      open = openPolicy(places);
    },
  };
}

/** Only a policy that was never written is replaced by the shipped one; one that cannot be reached stops the hand. */
function policyExists(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch (thrown) {
    throw new Fault("BAD_POLICY", `${file} cannot be reached: ${errnoCode(thrown)}`, { cause: thrown });
  }
}

/** What a command would reach by a path: behind every symlink, and by its name in our own state if it has one there. */
function realPathOf(path: string, state: string): string | undefined {
  let real: string;
  try {
    real = realpathSync.native(path);
  } catch {
    // What leads nowhere, or where we may not look, is no way in for a command either.
    return undefined;
  }
  return findLinkIn(real, state) ?? real;
}

/** Why a file that a rule covers is not for everyone after all; undefined when it is. */
function whyNotForEveryone(path: string, workspace: string): string | undefined {
  if (isWithin(workspace, path))
    return isWorkspacePath(path, workspace) ? undefined : "also a file outside the workspace";
  return isClosedToOthers(path) ? "closed to other users of this host" : undefined;
}

/** Users of services often have a home that is not there: then its patterns mean nothing, as they are. */
function realHome(): string {
  const home = homedir();
  return existsSync(home) ? realpathSync(home) : home;
}

function readPolicy(file: string): Json {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Json;
  } catch (thrown) {
    throw new Fault("BAD_POLICY", `${file} is no JSON: ${(thrown as Error).message}`, { cause: thrown });
  }
}
