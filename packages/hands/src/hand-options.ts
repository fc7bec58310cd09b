import type { Plan, Verdict } from "@vidro/core";
import type { ReceiptSigner } from "./enrol/receipt-signer.ts";
import type { HandTool } from "./tools/tool.ts";

/** The policy of a hand: what it says of a plan, and the version that goes on record with it. */
export interface HandPolicy {
  readonly version: string;
  /** Patterns of paths that no sandboxed command sees; default: those of the shipped policy. */
  readonly secrets?: readonly string[];
  /** Memory that all processes of a command may have together; default: HAND.treeBytes. */
  readonly memoryBytes?: number;
  judge(plan: Plan): Verdict;
}

/** Where in an action's life a probe looks. */
export type ProbePoint = "before-started" | "after-started" | "before-finished" | "after-finished";

/** What a hand on this machine is made of. */
export interface LocalHandOptions {
  readonly id: string;
  readonly workspace: string;
  /** The hand's own folder: ledger and spools; made if it is not there, closed to other users. */
  readonly state: string;
  /** A folder around the state, such as the brain's, that no tool enters either; default: the state folder. */
  readonly reserved?: string;
  readonly policy: HandPolicy;
  readonly tools?: readonly HandTool[];
  /** What it signs ends with; none are signed without it. */
  readonly receipts?: ReceiptSigner;
  /** The environment that processes get a part of; default: this process's own. */
  readonly env?: NodeJS.ProcessEnv;
  /** Another bound than HAND.overdueMs. */
  readonly overdueMs?: number;
  /** Sees each action pass; for tests that kill the hand right there. */
  readonly probe?: (point: ProbePoint, action: string) => void | Promise<void>;
}
