import type { Plan, Verdict } from "@vidro/core";
import type { Rule } from "@vidro/core/policy";
import type { ReceiptSigner } from "./enrol/receipt-signer.ts";
import type { FileEditor } from "./files/planned-files.ts";
import type { HandTool } from "./tools/tool.ts";

/** Judges plans; its version is recorded with each judgement. */
export interface HandPolicy {
  readonly version: string;
  /** Patterns of paths that sandboxed commands do not see; default: those of the shipped policy. */
  readonly secrets?: readonly string[];
  /** Memory limit for all processes of one command together; default: HAND_LIMITS.treeBytes. */
  readonly memoryBytes?: number;
  /** Patterns of host names whose pages may be fetched from addresses that are not public; default: none. */
  readonly privateHosts?: readonly string[];
  judge(plan: Plan): Verdict;
}

/** Adds rules to a policy on a person's word. */
export interface PolicyAdditions {
  /** The narrowest rule about a plan; undefined when there is none, or when the host's own policy counts. */
  ruleFor(plan: Plan): Rule | undefined;
  /** The verdict on a plan if the rule were added. */
  judgeWith(rule: Rule, plan: Plan): Verdict;
  /** Writes the rule into the policy file, which counts from now on; a rule that is there already is left. */
  add(rule: Rule): void;
}

/** Points in the life of an action at which a test probe is called. */
export type ProbePoint = "before-started" | "after-started" | "before-finished" | "after-finished";

/** Settings of a hand on this machine. */
export interface LocalHandOptions {
  readonly id: string;
  readonly workspace: string;
  /** The hand's own folder with its ledger and spools; created with mode 0700 if missing. */
  readonly state: string;
  /** A folder that contains the state, such as the brain's, which no tool enters either; default: the state folder. */
  readonly reserved?: string;
  readonly policy: HandPolicy;
  /** Adds rules to the policy on the word of a person at the brain; absent on other hosts, whose policy is their own. */
  readonly additions?: PolicyAdditions;
  readonly tools?: readonly HandTool[];
  /** The editor that has the workspace open; without one, all files are those on disk. */
  readonly editor?: FileEditor | undefined;
  /** Signs the end of each action; without it, ends are unsigned. */
  readonly receipts?: ReceiptSigner;
  /** The environment from which the variables of processes are chosen; default: that of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** Replaces HAND_LIMITS.overdueMs. */
  readonly overdueMs?: number;
  /** Called at each point of an action; tests use it to kill the hand there. */
  readonly probe?: (point: ProbePoint, action: string) => void | Promise<void>;
}
