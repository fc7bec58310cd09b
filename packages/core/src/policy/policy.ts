import { commandClass, commandMisfit, confinementOf, isAbout, UNHELD } from "./command.ts";
import { matchesPath, matchesWord, normalPath, pathMisfit } from "./path.ts";
import type { RuleDecision, FactsRule, FetchRule, FileRule, OrderRule, Policy, Rule, ShellRule } from "./rule.ts";
import type {
  ActionClass,
  FactsPlan,
  FetchPlan,
  FilePlan,
  FilesPlan,
  OrderPlan,
  Plan,
  ShellPlan,
  Verdict,
} from "../tool.ts";

/** The rule name in a verdict when no rule matched. */
export const DEFAULT_RULE = "default";

/** Whether one rule matches a plan, and why. */
export interface RuleFinding {
  readonly rule: string;
  readonly decision: RuleDecision;
  readonly matched: boolean;
  readonly why: string;
}

/** How a verdict came about. */
export interface Explanation {
  readonly verdict: Verdict;
  /** One for each rule about this kind of plan, in the order of the policy. */
  readonly findings: readonly RuleFinding[];
}

const HARM_GROWING: readonly ActionClass[] = ["read", "write", "code-exec", "network", "privileged", "destructive"];
const STRICTEST_FIRST: readonly RuleDecision[] = ["deny", "ask", "allow"];

/** The rule name in a verdict on a program in the background that a person has to decide about. */
export const BACKGROUND_RULE = "background";

/** The rule name in a verdict of the policy's `host` setting. */
export const HOST_RULE = "host";

/**
 * The verdict of a policy on a plan. A plan that no rule matches is asked about, unless the `host` setting denies plans
 * that can reach beyond the workspace without a sandbox.
 */
export function judgePlan(plan: Plan, policy: Policy): Verdict {
  if (plan.kind === "files") return strictestVerdict(plan.files.map((file) => judgePlan(file, policy)));
  const verdict = withBackgroundRisk(withStateRisk(verdictOfRules(plan, policy), plan), plan);
  if (policy.host !== "deny" || verdict.decision === "deny" || !touchesHost(plan)) return verdict;
  const reason = "the policy of this host forbids what no sandbox holds to the workspace";
  return { decision: "deny", rule: HOST_RULE, class: verdict.class, reason };
}

/** The strictest of the verdicts on the parts of a plan; of equal ones the one with the most harmful class. */
function strictestVerdict(verdicts: readonly Verdict[]): Verdict {
  const rank = ({ decision, class: harm }: Verdict): number =>
    STRICTEST_FIRST.indexOf(decision) * HARM_GROWING.length - HARM_GROWING.indexOf(harm);
  const [strictest] = verdicts.toSorted((one, other) => rank(one) - rank(other));
  return strictest ?? { decision: "deny", rule: DEFAULT_RULE, class: "write", reason: "the plan names no file" };
}

/** Raises the class to privileged when the plan is asked about and could reach Vidro's own state. */
function withStateRisk(verdict: Verdict, plan: Plan): Verdict {
  const isOpen = (plan.kind === "process" && plan.confined === undefined) || plan.kind === "shell";
  const reaches = isOpen && plan.state === "open" && verdict.decision === "ask" && verdict.class !== "destructive";
  return reaches ? { ...verdict, class: "privileged" } : verdict;
}

/**
 * A person decides about a program that outlives its run, and about what is written to one that no sandbox holds: no
 * rule about a command says what the command is told afterwards.
 */
function withBackgroundRisk(verdict: Verdict, plan: Plan): Verdict {
  const { keep, input } = (plan.kind === "process" || plan.kind === "shell" ? plan.background : undefined) ?? {};
  const isFreelyTold = input !== undefined && touchesHost(plan);
  if (verdict.decision !== "allow" || (keep !== true && !isFreelyTold)) return verdict;
  const reason =
    keep === true && input === undefined
      ? "it would go on after the run has ended, so a person decides"
      : "no sandbox holds the program that would be written to, so a person decides";
  const { confined: _, ...bare } = verdict;
  return { ...bare, decision: "ask", rule: BACKGROUND_RULE, reason };
}

/** The class of a plan by the rules alone, whatever it could reach besides. */
export function classOf(plan: Exclude<Plan, FilesPlan>, policy: Policy): ActionClass {
  return verdictOfRules(plan, policy).class;
}

function touchesHost(plan: Plan): boolean {
  if (plan.kind === "process") return plan.confined === undefined;
  if (plan.kind === "shell") return !plan.sandboxed || plan.access === "host" || plan.access === "all";
  if (plan.kind === "file") return plan.operation === "write" && !plan.inWorkspace;
  return plan.kind === "order";
}

function verdictOfRules(plan: Exclude<Plan, FilesPlan>, policy: Policy): Verdict {
  const matching = policy.rules.filter((rule) => misfit(rule, plan, policy) === undefined);
  const [rule] = matching.toSorted((one, other) => rankOf(one, policy) - rankOf(other, policy));
  if (rule !== undefined) {
    const { id, decision, class: kind, reason = `rule ${id} says ${decision}` } = rule;
    const confined = decision === "allow" && rule.kind === "process" ? confinementOf(rule) : undefined;
    return { decision, rule: id, class: kind, reason, ...(confined === undefined ? {} : { confined }) };
  }
  return { decision: "ask", rule: DEFAULT_RULE, class: defaultClass(plan), reason: whyAsked(plan, policy) };
}

/** The place of a rule among those that match: denials first, then the rules that were added, the strictest first. */
function rankOf({ id, decision }: Rule, { added }: Policy): number {
  const rank = STRICTEST_FIRST.indexOf(decision);
  return decision === "deny" || added === undefined || added.has(id) ? rank : rank + STRICTEST_FIRST.length;
}

/** The verdict of a policy on a plan, with a finding for every rule about this kind of plan. */
export function explainVerdict(plan: Plan, policy: Policy): Explanation {
  const findings = policy.rules
    .filter((rule) => isAboutPlan(rule, plan))
    .map((rule) => {
      const why = misfit(rule, plan, policy);
      return { rule: rule.id, decision: rule.decision, matched: why === undefined, why: why ?? "it matches" };
    });
  return { verdict: judgePlan(plan, policy), findings };
}

/** Why a rule does not match a plan; undefined when it matches. */
export function misfit(rule: Rule, plan: Plan, policy: Policy): string | undefined {
  if (rule.kind === "process" && plan.kind === "process") return commandMisfit(rule, plan, policy);
  if (rule.kind === "shell" && plan.kind === "shell") return shellMisfit(rule, plan, policy);
  if (rule.kind === "file" && plan.kind === "file") return fileMisfit(rule, plan, policy);
  if (rule.kind === "fetch" && plan.kind === "fetch") return fetchMisfit(rule, plan);
  if (rule.kind === "facts" && plan.kind === "facts") return factsMisfit(rule, plan);
  if (rule.kind === "order" && plan.kind === "order") return orderMisfit(rule, plan);
  return `it is a rule about ${rule.kind} plans`;
}

/** A rule that counts before this one and also matches the plan, if there is one. */
export function stricterRule(rule: Rule, plan: Plan, policy: Policy): Rule | undefined {
  const rank = rankOf(rule, policy);
  return policy.rules.find((other) => rankOf(other, policy) < rank && misfit(other, plan, policy) === undefined);
}

function isAboutPlan(rule: Rule, plan: Plan): boolean {
  if (rule.kind === "process" && plan.kind === "process") return isAbout(rule, plan);
  if (rule.kind === "file" && plan.kind === "file") return rule.operations.includes(plan.operation);
  return rule.kind === plan.kind;
}

function whyAsked(plan: Plan, policy: Policy): string {
  const allowing = policy.rules.filter((rule) => rule.decision === "allow" && isAboutPlan(rule, plan));
  // Prefer the rule that would match on a host with a sandbox: its reason is the most useful.
  const near = allowing.find((rule) => misfit(rule, plan, policy) === UNHELD) ?? allowing[0];
  if (near === undefined) return "no rule covers it, so a person decides";
  return `no rule allows it, so a person decides (${near.id}: ${misfit(near, plan, policy)})`;
}

function defaultClass(plan: Exclude<Plan, FilesPlan>): ActionClass {
  if (plan.kind === "process") return commandClass(plan);
  if (plan.kind === "shell" || plan.kind === "order") return "code-exec";
  if (plan.kind === "fetch") return "network";
  if (plan.kind === "facts" || plan.operation === "read") return "read";
  return plan.inWorkspace ? "write" : "privileged";
}

/**
 * The text of a shell command is compared and never parsed, because quoting, expansion and built-ins make parsing
 * unsafe. A line is allowed because a sandbox confines it, or because the rule has exactly this text.
 */
function shellMisfit(rule: ShellRule, plan: ShellPlan, policy: Policy): string | undefined {
  if (rule.commands !== undefined && !rule.commands.includes(plan.command)) return "the text is not exactly the rule's";
  if (rule.access !== undefined && !rule.access.includes(plan.access)) return `the access is ${plan.access}`;
  const elsewhere = rule.cwd && pathMisfit(plan.cwd, rule.cwd, { cwd: plan.cwd, policy, showsContent: false });
  if (elsewhere !== undefined) return `the folder: ${elsewhere}`;
  if (rule.sandboxed === undefined || rule.sandboxed === plan.sandboxed) return undefined;
  return plan.sandboxed ? "a sandbox holds the shell" : "no sandbox holds the shell";
}

function fileMisfit(rule: FileRule, plan: FilePlan, policy: Policy): string | undefined {
  const path = normalPath(plan.path, "/");
  if (!rule.operations.includes(plan.operation)) return `it is a ${plan.operation}`;
  if (rule.inWorkspace !== undefined && rule.inWorkspace !== plan.inWorkspace)
    return plan.inWorkspace ? "the path is in the workspace" : "the path is not in the workspace";
  if (rule.paths !== undefined && !matchesPath(rule.paths, path, policy.places))
    return `${path} is not under ${rule.paths.join(" or ")}`;
  if (rule.decision === "allow" && matchesPath(policy.secrets, path, policy.places))
    return `${path} is a secret of this policy`;
  // For files inside the workspace the plan already says whether they belong to it.
  const isOutside = plan.operation === "read" && !plan.inWorkspace;
  const why = rule.decision === "allow" && isOutside ? policy.kept?.(path) : undefined;
  return why === undefined ? undefined : `${path} is ${why}`;
}

function fetchMisfit(rule: FetchRule, plan: FetchPlan): string | undefined {
  const { hostname } = new URL(plan.url);
  return rule.hosts.some((pattern) => matchesWord(pattern, hostname)) ? undefined : `the host is ${hostname}`;
}

function orderMisfit({ tools, definitions, decision }: OrderRule, plan: OrderPlan): string | undefined {
  if (!tools.some((pattern) => matchesWord(pattern, plan.tool))) return `the tool is ${plan.tool}`;
  if (definitions !== undefined && !definitions.includes(plan.definition ?? ""))
    return "its server defines it otherwise than when the rule was made";
  return decision === "allow" && plan.changed === true ? "its server has changed its definition" : undefined;
}

function factsMisfit(rule: FactsRule, plan: FactsPlan): string | undefined {
  return rule.facts.some((pattern) => matchesWord(pattern, plan.facts)) ? undefined : `the facts are ${plan.facts}`;
}
