import { isObject, textIn } from "@vidro/core";
import type { Json, JsonObject, Plan, Verdict } from "@vidro/core";
import type { RuleFinding } from "@vidro/core/policy";
import { request } from "./connection.ts";

/** A rule as its file has it, and whether it was added to the shipped ones. */
export interface ListedRule {
  readonly id: string;
  readonly kind: string;
  readonly decision: Verdict["decision"];
  readonly class: string;
  readonly reason: string | undefined;
  readonly isAdded: boolean;
  readonly rule: JsonObject;
}

/** The policy of the brain's own machine, as the page shows it. */
export interface PolicyRecord {
  readonly file: string;
  readonly isHost: boolean;
  readonly version: string;
  readonly warning: string | undefined;
  readonly source: JsonObject;
  readonly rules: readonly ListedRule[];
}

/** What a policy says of an action. */
export interface PolicyAnswer extends Verdict {
  readonly plan: Plan;
  readonly findings: readonly RuleFinding[];
}

/** What became of past actions under another policy. */
export interface PastReport {
  readonly judged: number;
  readonly elsewhere: number;
  readonly homeless: number;
  readonly count: number;
  readonly changed: readonly {
    readonly run: string;
    readonly seq: number;
    readonly plan: Plan;
    readonly was: Verdict;
    readonly now: Verdict;
  }[];
}

/** Reads the policy and its rules. */
export async function readPolicyRecord(): Promise<PolicyRecord> {
  return recordOf(await request("GET", "/v1/policy"));
}

/** Puts a draft in the place of the policy; rejects when it fails its check or the policy was changed meanwhile. */
export async function savePolicy(source: JsonObject, version: string): Promise<PolicyRecord> {
  return recordOf(await request("PUT", "/v1/policy", { source, version }));
}

/** Tries all examples of a draft; resolves to how many there are. */
export async function checkPolicyDraft(
  source: JsonObject,
): Promise<{ readonly rules: number; readonly examples: number }> {
  const { rules, examples } = await request("POST", "/v1/policy/check", { source });
  return { rules: Number(rules), examples: Number(examples) };
}

/** Asks what the policy or a draft says of an action; runs nothing. */
export async function explainAction(tool: string, input: JsonObject, source?: JsonObject): Promise<PolicyAnswer> {
  const body = { tool, input, ...(source === undefined ? {} : { source }) };
  return (await request("POST", "/v1/policy/explain", body)) as unknown as PolicyAnswer;
}

/** Asks which past actions the policy or a draft would decide otherwise. */
export async function tryOnHistory(source?: JsonObject): Promise<PastReport> {
  const body = source === undefined ? {} : { source };
  return (await request("POST", "/v1/policy/history", body)) as unknown as PastReport;
}

function recordOf(said: JsonObject): PolicyRecord {
  const { rules, source } = said;
  return {
    file: textIn(said, "file") ?? "",
    isHost: said["host"] === true,
    version: textIn(said, "version") ?? "",
    warning: textIn(said, "warning"),
    source: isObject(source) ? source : {},
    rules: Array.isArray(rules) ? rules.map(ruleOf) : [],
  };
}

function ruleOf(said: Json): ListedRule {
  const { added, rule: written } = isObject(said) ? said : {};
  const rule = isObject(written) ? written : {};
  const decision = textIn(rule, "decision");
  return {
    id: textIn(rule, "id") ?? "",
    kind: textIn(rule, "kind") ?? "",
    decision: decision === "allow" || decision === "deny" ? decision : "ask",
    class: textIn(rule, "class") ?? "",
    reason: textIn(rule, "reason"),
    isAdded: added === true,
    rule,
  };
}
