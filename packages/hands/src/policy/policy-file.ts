import { hash } from "node:crypto";
import { accessSync, constants, existsSync, lstatSync, readFileSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { canonicalJson, Fault, HAND_LIMITS, MIB } from "@vidro/core";
import { judgePlan, matchesPath, narrowestRule, parsePolicy } from "@vidro/core/policy";
import type { FilePlan, Json, JsonObject, Plan, Verdict } from "@vidro/core";
import type { Policy, Rule } from "@vidro/core/policy";
import { DEFAULT_POLICY } from "./default-policy.ts";
import { addRuleToFile } from "./rule-file.ts";
import { errnoCode } from "../files/files.ts";
import { holdFolder } from "../files/held-folder.ts";
import { resolveWorkspace } from "../files/resolve-folder.ts";
import type { HandPolicy, PolicyAdditions } from "../hand-options.ts";
import { HOST_POLICY } from "./own-state.ts";
import { findPrivateFiles } from "./secret-paths.ts";
import { isWithin } from "../files/is-within.ts";
import { isClosedToOthers } from "../exec/sandbox/closed-paths.ts";
import { findHardLinks, findLinkIn, hardLinkKey, isWorkspacePath, type HardLinks } from "../files/hard-links.ts";

/** A policy in force; its version is the hash of its content. */
export interface OpenPolicy extends HandPolicy {
  readonly policy: Policy;
  /** The policy file; undefined for the shipped policy. */
  readonly file: string | undefined;
  /** Whether the host's own policy counts, which only root may write. */
  readonly isHost: boolean;
  /** The verdict on a plan if a rule were added. */
  judgeWith(rule: Rule, plan: Plan): Verdict;
  /** A warning for people who rely on the policy. */
  readonly warning: string | undefined;
}

/** Where a policy is searched for, and the folders in its patterns. */
interface PolicyPlaces {
  /** A JSON file; if it does not exist, the shipped policy is used. */
  readonly file: string;
  /**
   * The host's policy file, used instead if it exists, which only root may write; default: HOST_POLICY, false: none.
   */
  readonly hostFile?: string | false;
  readonly workspace: string;
  /** The folder of Vidro's own state. */
  readonly state: string;
  /** What the file would say: it counts as if it stood there, and the host's policy does not. */
  readonly draft?: JsonObject;
}

/**
 * Opens the policy of a hand. Throws BAD_POLICY if its file cannot be used, so that the hand does not start; NOT_FOUND
 * if the workspace does not exist.
 */
export function openPolicy(places: PolicyPlaces): OpenPolicy {
  return readPolicyThrough(places, places.file);
}

/** Opens the policy of a hand whose own file is reached by a path that may not be its name. */
function readPolicyThrough(
  { file: own, hostFile = HOST_POLICY, workspace, state, draft }: PolicyPlaces,
  through: string,
): OpenPolicy {
  const places = { workspace: resolveWorkspace(workspace), home: realHome(), state: realPlace(state) };
  const isHost = draft === undefined && hostFile !== false && policyExists(hostFile, hostFile);
  if (isHost) refuseLoose(hostFile);
  const file = isHost ? hostFile : draft !== undefined || policyExists(own, through) ? own : undefined;
  const source = file === undefined ? undefined : (draft ?? readPolicy(file, isHost ? file : through));
  // The examples of the shipped policy are checked by its test, not at every start.
  const parsed = source === undefined ? { ...DEFAULT_POLICY, places } : parsePolicy(source, places, DEFAULT_POLICY);
  const findSecret = secretLinkFinder(parsed);
  const policy = {
    ...parsed,
    real: (path: string) => {
      const real = realPathOf(path, places.state);
      return real === undefined ? undefined : (findSecret(real) ?? real);
    },
    kept: (path: string) => whyNotForEveryone(path, places.workspace),
    holdsSecret: privateFileFinder(parsed),
  };
  // Additions mean another policy when the shipped one changes.
  const shippedText = source === undefined || parsed.added !== undefined ? JSON.stringify(DEFAULT_POLICY) : "";
  const text = shippedText + (source === undefined ? "" : canonicalJson(source));
  return {
    version: hash("sha256", text),
    policy,
    judge: (plan) => judgeLinked(plan, policy, findSecret),
    judgeWith: (rule, plan) => judgeLinked(plan, withRule(policy, rule), findSecret),
    secrets: policy.secrets,
    ...(policy.memory === undefined ? {} : { memoryBytes: policy.memory * MIB }),
    ...(policy.privateHosts === undefined ? {} : { privateHosts: policy.privateHosts }),
    file,
    isHost,
    warning: mayWrite(file ?? own) ? writableWarning(file) : undefined,
  };
}

/** The verdict on a plan whose files may have other names. */
function judgeLinked(plan: Plan, policy: Policy, findSecret: (path: string) => string | undefined): Verdict {
  const atSecret = (one: FilePlan): FilePlan => ({ ...one, path: findSecret(one.path) ?? one.path });
  if (plan.kind === "file") return judgePlan(atSecret(plan), policy);
  if (plan.kind === "files") return judgePlan({ ...plan, files: plan.files.map(atSecret) }, policy);
  return unlessHidden(plan, judgePlan(plan, policy), policy);
}

function withRule(policy: Policy, rule: Rule): Policy {
  const { added } = policy;
  const rules = [rule, ...policy.rules.filter(({ id }) => id !== rule.id)];
  return { ...policy, rules, ...(added === undefined ? {} : { added: new Set([...added, rule.id]) }) };
}

const WRITTEN_BY_OTHERS = 0o022;

/** Throws BAD_POLICY if another user than root could write the host's policy. */
function refuseLoose(file: string): void {
  const loose = [file, dirname(file)].find((path) => {
    const { uid, mode } = statSync(path);
    return uid !== 0 || (mode & WRITTEN_BY_OTHERS) !== 0;
  });
  if (loose !== undefined) throw new Fault("BAD_POLICY", `${loose} has to belong to root, and only root may write it`);
}

/** Whether this process runs as a user other than root who may write or replace a file. */
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

/** A policy that can be reloaded and added to while a hand uses it. */
export interface ReloadablePolicy extends HandPolicy {
  readonly additions: PolicyAdditions;
  /** A warning for people who rely on the policy, from the first read. */
  readonly warning: string | undefined;
  /** Reads the file again; later plans are judged by it. After BAD_POLICY the previous policy stays in force. */
  readonly reload: () => void;
}

/** Opens a policy that can be reloaded; throws as `openPolicy` does. */
export function openReloadablePolicy(places: PolicyPlaces): ReloadablePolicy {
  const [folder, state] = [holdFolder(dirname(places.file)), holdFolder(places.state)];
  const name = basename(places.file);
  // A folder that was put in the place of the state's since is not asked.
  const read = (): OpenPolicy =>
    readPolicyThrough({ ...places, file: join(folder.path, name), state: state.path }, folder.entry(name));
  let open = read();
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
    get privateHosts() {
      return open.privateHosts ?? [];
    },
    judge: (plan) => open.judge(plan),
    additions: {
      ruleFor: (plan) => (open.isHost ? undefined : narrowestRule(plan, open.policy)),
      judgeWith: (rule, plan) => open.judgeWith(rule, plan),
      add(rule) {
        addRuleToFile(folder.entry(name), rule, (fresh) => {
          readPolicyThrough({ ...places, file: join(folder.path, name), state: state.path, hostFile: false }, fresh);
        });
        open = read();
      },
    },
    reload() {
      open = read();
    },
  };
}

/** Whether a policy file exists; throws BAD_POLICY if that cannot be determined, so that the hand does not start. */
function policyExists(file: string, through: string): boolean {
  try {
    return lstatSync(through, { throwIfNoEntry: false }) !== undefined;
  } catch (thrown) {
    throw new Fault("BAD_POLICY", `${file} cannot be reached: ${errnoCode(thrown)}`, { cause: thrown });
  }
}

/** The real path of a folder that may not be there yet: that of its nearest parent, and the rest of its name. */
function realPlace(folder: string): string {
  return existsSync(folder) ? realpathSync(folder) : join(realPlace(dirname(folder)), basename(folder));
}

/** The real path of a file; for a hard link to a file of the hand's own state, its name there. */
function realPathOf(path: string, state: string): string | undefined {
  let real: string;
  try {
    real = realpathSync.native(path);
  } catch {
    // A path that cannot be resolved cannot be opened by a command either.
    return undefined;
  }
  return findLinkIn(real, state) ?? real;
}

/** Finds the name in the workspace of a file there that the policy calls secret, by another name that the file has. */
function secretLinkFinder({ secrets, places }: Policy): (path: string) => string | undefined {
  let links: { readonly at: number; readonly found: HardLinks } | undefined;
  return (path) => {
    const key = isWithin(places.workspace, path) ? hardLinkKey(path) : undefined;
    if (key === undefined) return undefined;
    const now = performance.now();
    if (links === undefined || now - links.at > HAND_LIMITS.statesMs)
      links = { at: now, found: findHardLinks(places.workspace) };
    return links.found.get(key)?.find((name) => matchesPath(secrets, name, places));
  };
}

/** Tells whether a file that a secret of any depth names lies below a path; also when the search was cut short. */
function privateFileFinder({ secrets, places }: Policy): (path: string) => boolean {
  let known: { readonly at: number; readonly found: ReturnType<typeof findPrivateFiles> } | undefined;
  return (path) => {
    if (!isWithin(places.workspace, path) && !isWithin(path, places.workspace)) return false;
    const now = performance.now();
    if (known === undefined || now - known.at > HAND_LIMITS.statesMs)
      known = { at: now, found: findPrivateFiles(secrets, places) };
    return !known.found.isWhole || known.found.paths.some((file) => isWithin(path, file));
  };
}

/** Where a word of a shell line may begin and end. */
const WORD_EDGES = /[\s'"`=<>|;&()$]+/;

/**
 * Denies a sandboxed shell line that names a file which the sandbox hides: the line would find it empty. The tool for
 * reading files asks a person.
 */
function unlessHidden(plan: Plan, verdict: Verdict, { secrets, places }: Policy): Verdict {
  if (plan.kind !== "shell" || !plan.sandboxed || verdict.decision === "deny") return verdict;
  const names = plan.command.split(WORD_EDGES).filter((word) => word !== "");
  const hidden = names.find((name) => {
    const path = resolve(plan.cwd, name);
    return existsSync(path) && matchesPath(secrets, path, places);
  });
  if (hidden === undefined) return verdict;
  const reason = `a shell in the sandbox does not see ${hidden}: read it with read_file, and a person is asked`;
  return { decision: "deny", rule: "hidden-files", class: verdict.class, reason };
}

/** Why a file that a rule allows is not readable for everyone; undefined if it is. */
function whyNotForEveryone(path: string, workspace: string): string | undefined {
  if (isWithin(workspace, path))
    return isWorkspacePath(path, workspace) ? undefined : "also a file outside the workspace";
  return isClosedToOthers(path) ? "closed to other users of this host" : undefined;
}

/** The real home folder; service users often have none, and then the path is used as it is. */
function realHome(): string {
  const home = homedir();
  return existsSync(home) ? realpathSync(home) : home;
}

function readPolicy(file: string, through: string): Json {
  try {
    return JSON.parse(readFileSync(through, "utf8")) as Json;
  } catch (thrown) {
    throw new Fault("BAD_POLICY", `${file} is no JSON: ${(thrown as Error).message}`, { cause: thrown });
  }
}
