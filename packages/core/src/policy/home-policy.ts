import type { JsonObject } from "../json.ts";
import type { Action, Judgement, Plan, Verdict } from "../tool.ts";
import type { RuleFinding } from "./policy.ts";
import type { Rule } from "./rule.ts";

/** The policy in force on the brain's own machine. */
export interface ShownPolicy {
  /** The file that people change; it need not exist. */
  readonly file: string;
  /** Whether the host's own policy counts instead, which only root changes. */
  readonly isHost: boolean;
  /** Changes with every change of the policy. */
  readonly version: string;
  /** What the file says; without one, that it adds to the shipped policy. */
  readonly source: JsonObject;
  /** All rules, in their order. */
  readonly rules: readonly Rule[];
  /** Ids of the rules that are not shipped. */
  readonly added: ReadonlySet<string>;
  /** A warning for people who rely on the policy. */
  readonly warning?: string;
}

/** What the check of a draft found: how much of it was tried. */
export interface CheckedPolicy {
  readonly rules: number;
  readonly examples: number;
}

/** What a policy says of an action, by which rule, and what every other rule says. */
export interface ExplainedAction extends Pick<Judgement, "plan" | "hash" | "verdict"> {
  readonly findings: readonly RuleFinding[];
}

/** The policy of the brain's own machine, as people look at it, try it and change it. */
export interface HomePolicy {
  show(): Promise<ShownPolicy>;
  /** Parses a draft and tries all examples of its rules; BAD_POLICY names the rule and what is wrong with it. */
  check(draft: JsonObject): Promise<CheckedPolicy>;
  /** What the policy in force, or a draft, says of an action; runs nothing. */
  explain(action: Action, draft?: JsonObject): Promise<ExplainedAction>;
  /** The judge of plans in a workspace, by the policy in force or a draft; undefined for a workspace that is gone. */
  judges(draft?: JsonObject): Promise<(workspace: string) => { judge(plan: Plan): Verdict } | undefined>;
  /** Puts a draft in the place of the file if it passes its check; CONFLICT if the policy is no longer that version. */
  replace(draft: JsonObject, version: string): Promise<void>;
}
