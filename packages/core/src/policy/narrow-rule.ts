import { canonicalJson } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { POLICY_LIMITS } from "../limits.ts";
import { isPattern, lastSegment } from "./path.ts";
import { classOf } from "./policy.ts";
import type { PathValue, Policy, Rule } from "./rule.ts";
import type { Plan, ProcessPlan, ShellPlan } from "../tool.ts";

/**
 * The narrowest rule that allows a plan: every argument, the whole line, the one path or host, in the one folder.
 * Undefined when no rule can be about the plan alone. Whether the rule would allow it, beside the others of the policy,
 * is for a trial to tell.
 */
export function narrowestRule(plan: Plan, policy: Policy): Rule | undefined {
  const about = matchedPart(plan);
  if (about === undefined || plan.kind === "files") return undefined;
  const rule = { ...about, class: classOf(plan, policy), decision: "allow", reason: REASON } as const;
  return { ...rule, id: freeId(rule, plan, policy) };
}

const REASON = "a person said that this is always allowed";

/** Whether a rule allows exactly the plans that the narrowest rule about this plan would allow. */
export function isNarrowestFor(rule: object, plan: Plan): boolean {
  const about = matchedPart(plan);
  return about !== undefined && isSame(rule, { ...about, decision: "allow" });
}

/** Whether two rules decide the same about the same plans. */
function isSame(one: object, other: object): boolean {
  const part = (rule: object): string => {
    const { id: _, class: __, reason: ___, ...about } = rule as JsonObject;
    return canonicalJson(about);
  };
  return part(one) === part(other);
}

type MatchedPart<One = Rule> = One extends Rule ? Omit<One, "id" | "class" | "decision" | "reason"> : never;

/** All that a rule says of which plans it is about. */
function matchedPart(plan: Plan): MatchedPart | undefined {
  switch (plan.kind) {
    case "process":
      return processPart(plan);
    case "shell":
      return shellPart(plan);
    case "file": {
      const { path, operation } = plan;
      return isLiteral(path)
        ? { kind: "file", operations: [operation], paths: [path], examples: { match: [path], not_match: [] } }
        : undefined;
    }
    case "fetch": {
      const { hostname, href } = new URL(plan.url);
      // A star is legal in the host of an address, and in a rule it would stand for other hosts.
      if (hostname.includes("*")) return undefined;
      return { kind: "fetch", hosts: [hostname], examples: { match: [href], not_match: [] } };
    }
    case "facts":
      return plan.facts.includes("*")
        ? undefined
        : { kind: "facts", facts: [plan.facts], examples: { match: [plan.facts], not_match: [] } };
    case "order": {
      const { tool, definition } = plan;
      // A tool of a hand that reports no plans is not judged by a policy of that hand.
      if (definition === undefined) return undefined;
      return { kind: "order", tools: [tool], definitions: [definition], examples: { match: [tool], not_match: [] } };
    }
    // A change of several files has no rule of its own.
    case "files":
      return undefined;
  }
}

function processPart({ argv, cwd, state }: ProcessPlan): MatchedPart | undefined {
  const [command = "", ...args] = argv;
  const name = lastSegment(command);
  const place = folderOnly(cwd);
  if (place === undefined || state === "open" || name === "" || argv.some((word) => !fits(word))) return undefined;
  return {
    kind: "process",
    program: [name],
    arguments: { exact: [args] },
    cwd: place,
    examples: { match: [[name, ...args]], not_match: [[name, ...args, "--and-another-word"]] },
  };
}

function shellPart({ command, access, sandboxed, cwd, state }: ShellPlan): MatchedPart | undefined {
  const place = folderOnly(cwd);
  if (place === undefined || (state === "open" && !sandboxed) || command === "" || !fits(command)) return undefined;
  const examples = { match: [{ command, access, sandboxed }], not_match: [] };
  return { kind: "shell", commands: [command], access: [access], sandboxed, cwd: place, examples };
}

const fits = (text: string): boolean => text.length <= POLICY_LIMITS.textChars;

/** Whether a path as a pattern stands for itself alone. */
function isLiteral(path: string): boolean {
  return fits(path) && isPattern(path) && !/[*{}]/.test(path);
}

function folderOnly(folder: string): PathValue | undefined {
  return isLiteral(folder) ? { paths: [folder] } : undefined;
}

/** Characters of a rule's id that tell what it is about. */
const ID_CHARS = 48;

/** The id of the rule that says the same already, or one that no rule has. */
function freeId(rule: Omit<Rule, "id">, plan: Plan, { rules }: Policy): string {
  const stem = `always-${wordsOf(plan).replaceAll(/[^\w.]+/g, "-")}`.slice(0, ID_CHARS).replace(/-+$/, "");
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? stem : `${stem}-${number}`;
    const holder = rules.find((other) => other.id === id);
    if (holder === undefined || isSame(holder, rule)) return id;
  }
}

function wordsOf(plan: Plan): string {
  switch (plan.kind) {
    case "process":
      return [lastSegment(plan.argv[0] ?? ""), ...plan.argv.slice(1)].join(" ");
    case "shell":
      return plan.command;
    case "file":
      return `${plan.operation} ${lastSegment(plan.path)}`;
    case "fetch":
      return `fetch ${new URL(plan.url).hostname}`;
    case "facts":
      return `facts ${plan.facts}`;
    case "order":
      return plan.tool;
    case "files":
      return "";
  }
}
