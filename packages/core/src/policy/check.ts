import { Fault } from "../fault.ts";
import { HAND_LIMITS } from "../limits.ts";
import { isWrapper, unsafeOptions } from "./command.ts";
import { matchesPath, normalPath } from "./path.ts";
import type { PolicyFolders, Policy, ProcessRule, Rule, ShellExample, ShellRule } from "./rule.ts";
import { DEFAULT_RULE, misfit, stricterRule } from "./policy.ts";
import type { FetchPlan, FilePlan, Plan, ProcessPlan, ShellPlan } from "../tool.ts";

/** Fixed places for the examples, so that the check does not depend on the machine. */
const EXAMPLE_PLACES: PolicyFolders = { workspace: "/srv/example", home: "/home/example", state: "/var/lib/example" };

/** Throws BAD_POLICY when a rule allows more than a rule may, or when one of its examples fails. */
export function checkPolicy(policy: Policy): void {
  const seen = new Set<string>([DEFAULT_RULE]);
  for (const rule of policy.rules) {
    if (seen.has(rule.id)) wrong(rule, "its id is taken");
    seen.add(rule.id);
    // Shipped rules were checked before they were shipped.
    if (policy.added?.has(rule.id) === false) continue;
    const flaw = rule.decision === "allow" ? tooWide(rule) : undefined;
    if (flaw !== undefined) wrong(rule, flaw);
    checkExamples(rule, { ...policy, places: EXAMPLE_PLACES });
  }
}

function wrong(rule: Rule, what: string): never {
  throw new Fault("BAD_POLICY", `rule ${rule.id}: ${what}`);
}

function tooWide(rule: Rule): string | undefined {
  if (rule.kind === "process") return commandTooWide(rule);
  if (rule.kind === "shell") return shellTooWide(rule);
  if (rule.kind === "fetch") return rule.hosts.includes("*") ? "an allow rule names its hosts" : undefined;
  if (rule.kind === "order")
    return rule.tools.some((name) => name.includes("*")) ? "an allow rule names its tools" : undefined;
  const boundless = rule.kind === "file" && rule.paths === undefined && rule.inWorkspace !== true;
  return boundless ? "it allows every file outside the workspace" : undefined;
}

function commandTooWide(rule: ProcessRule): string | undefined {
  const wild = rule.program.find((name) => name.includes("*"));
  if (wild !== undefined) return `an allow rule names its programs, ${wild} is a pattern`;
  if (rule.arguments === "any" || "contain" in rule.arguments) return "an allow rule says every argument: exact or fit";
  if (rule.sees !== undefined && rule.class !== "read") return "only a rule of class read sees the host";
  if (rule.examples.not_match.length === 0) return "an allow rule shows with not_match examples where it ends";
  const wrapper = rule.program.find((name) => isWrapper(name));
  if ("exact" in rule.arguments) return undefined;
  if (wrapper !== undefined) return `${wrapper} runs what it is given: allow it with exact arguments only`;
  const { before = {}, options = {} } = rule.arguments.fit;
  const offered = [...Object.keys(before), ...Object.keys(options)];
  const unsafe = rule.program.flatMap((name) => unsafeOptions(name, offered));
  return unsafe.length === 0 ? undefined : `an allow rule cannot offer ${unsafe.join(", ")}`;
}

function shellTooWide(rule: ShellRule): string | undefined {
  if (rule.commands !== undefined) return undefined;
  const held =
    rule.sandboxed === true &&
    rule.access !== undefined &&
    rule.access.every((access) => access === "read" || access === "workspace");
  return held
    ? undefined
    : "an allow rule for the shell has exact commands, or a sandbox with access read or workspace";
}

function checkExamples(rule: Rule, policy: Policy): void {
  for (const { plan, text } of examplePlans(rule, "match", policy)) {
    const why = misfit(rule, plan, policy);
    if (why !== undefined) wrong(rule, `its example ${text} must match, but ${why}`);
    const stricter = stricterRule(rule, plan, policy);
    if (stricter !== undefined)
      wrong(rule, `its example ${text} must give ${rule.decision}, but rule ${stricter.id} says ${stricter.decision}`);
  }
  for (const { plan, text } of examplePlans(rule, "not_match", policy)) {
    if (misfit(rule, plan, policy) === undefined) wrong(rule, `its example ${text} must not match, but it does`);
  }
}

interface ExamplePlan {
  readonly plan: Plan;
  /** The example's name in a message. */
  readonly text: string;
}

/** The examples of a rule as plans. */
function examplePlans(rule: Rule, side: "match" | "not_match", policy: Policy): readonly ExamplePlan[] {
  if (rule.kind === "process")
    return rule.examples[side].map((argv) => ({
      plan: {
        ...processPlan(argv, policy),
        ...placeOf(rule, policy),
        ...(rule.decision === "allow" ? { confined: "files" as const } : {}),
      },
      text: JSON.stringify(argv),
    }));
  if (rule.kind === "shell")
    return rule.examples[side].map((example) => ({
      plan: { ...shellPlan(example, policy), ...placeOf(rule, policy) },
      text: JSON.stringify(example),
    }));
  if (rule.kind === "fetch")
    return rule.examples[side].map((url) => ({ plan: fetchPlan(url, rule), text: JSON.stringify(url) }));
  if (rule.kind === "facts")
    return rule.examples[side].map((facts) => ({ plan: { kind: "facts", facts }, text: JSON.stringify(facts) }));
  if (rule.kind === "order") {
    const [definition] = rule.definitions ?? [];
    return rule.examples[side].map((tool) => ({
      plan: { kind: "order", tool, input: {}, ...(definition === undefined ? {} : { definition }) },
      text: JSON.stringify(tool),
    }));
  }
  return rule.operations.flatMap((operation) =>
    rule.examples[side].map((path) => ({ plan: filePlan(path, operation, policy), text: `${operation} ${path}` })),
  );
}

/** The folder of the examples of a rule that is about one folder. */
function placeOf({ cwd }: ProcessRule | ShellRule, { places }: Policy): { cwd?: string } {
  const [folder] = cwd?.paths ?? [];
  return folder === undefined || folder.includes("*") ? {} : { cwd: fillPlaces(folder, places) };
}

function filePlan(example: string, operation: FilePlan["operation"], { places }: Policy): FilePlan {
  const path = normalPath(fillPlaces(example, places), places.workspace);
  return { kind: "file", operation, path, inWorkspace: matchesPath(["{workspace}/**"], path, places) };
}

function fetchPlan(example: string, rule: Rule): FetchPlan {
  const { href } = URL.parse(example) ?? wrong(rule, `its example ${JSON.stringify(example)} is no address`);
  return { kind: "fetch", url: href, reach: "public" };
}

function shellPlan(example: ShellExample, policy: Policy): ShellPlan {
  return { kind: "shell", ...example, cwd: policy.places.workspace, env: {}, timeoutMs: HAND_LIMITS.commandMs };
}

/** An example's argv as a plan: a bare name is looked up in the first trusted folder, a path is used as it is. */
function processPlan(example: readonly string[], policy: Policy): ProcessPlan {
  const cwd = policy.places.workspace;
  const argv = example.map((word) => fillPlaces(word, policy.places));
  const name = argv[0] ?? "";
  const folder = fillPlaces(policy.trusted[0] ?? "/", policy.places).replace(/\*+$/, "");
  const program = normalPath(name.includes("/") ? name : `${folder}/${name}`, cwd);
  return { kind: "process", program, argv, cwd, env: {}, timeoutMs: HAND_LIMITS.commandMs, digests: {} };
}

const fillPlaces = (text: string, places: PolicyFolders): string =>
  text.replaceAll(/\{(workspace|home|state)\}/g, (_, place: keyof PolicyFolders) => places[place]);
