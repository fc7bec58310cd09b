import { mkdir, readFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { asFault, Fault, isObject, textIn } from "@vidro/core";
import type { Action, ActionClass, Json, JsonObject, Judgement, Plan, Verdict } from "@vidro/core";
import { commandLine, nearest, oneLine } from "@vidro/core/text";
import { explainVerdict } from "@vidro/core/policy";
import type { PolicySource, RuleFinding } from "@vidro/core/policy";
import { withHomeBrain } from "../../brain-api/open-brain-api.ts";
import { EXIT } from "../../program/exit-codes.ts";
import { print, printText, say, writeJson } from "../../program/output.ts";
import { requireFolder } from "../../program/require-folder.ts";
import { homeFolder } from "../../program/settings.ts";
import { paint, paintWord } from "../../view/symbols.ts";
import { openPolicyAt, policyFile } from "./policy-place.ts";

type Rule = PolicySource["rules"][number];
type Decision = Rule["decision"];

const DECISIONS: readonly Decision[] = ["allow", "ask", "deny"];
const COLOURS = { allow: "green", ask: "yellow", deny: "red" } as const;
const [DECISION_CHARS, RULE_CHARS, CLASS_CHARS, ABOUT_CHARS] = [8, 24, 12, 70];

/** Shows the rules in force, those that were added first, or one rule as it is written. */
export async function showPolicy(id: string | undefined, flags: { readonly json?: boolean }): Promise<number> {
  const { policy, file } = await openPolicyAt(policyFile(), true);
  const added = policy.added ?? (file === undefined ? new Set<string>() : new Set(policy.rules.map((rule) => rule.id)));
  const shown = id === undefined ? policy.rules : [findRule(policy.rules, id)];
  if (flags.json === true) for (const rule of shown) writeJson({ added: added.has(rule.id), ...rule });
  else if (id !== undefined) for (const rule of shown) printText(JSON.stringify(rule, null, 2));
  else {
    print(paint("dim", [...headings(), "ABOUT"].join(" ")), ...shown.map((rule) => row(rule, added.has(rule.id))));
    const from =
      file === undefined ? "the shipped policy" : policy.added === undefined ? file : `the shipped policy and ${file}`;
    say(
      `These are the rules of ${from}. A denial counts first, then the rules that were added (+), the strictest first.`,
    );
  }
  return EXIT.ok;
}

/** Flags of `vidro policy add`. */
interface AddFlags {
  readonly rule?: string;
  readonly id?: string;
  readonly why?: string;
  readonly shell?: boolean;
  readonly json?: boolean;
}

/** Adds a rule beside the shipped ones: about one command, or as a file has it. */
export async function addRule(words: readonly string[], flags: AddFlags): Promise<number> {
  if ((flags.rule === undefined) === (words.length === 0))
    throw new Fault(
      "BAD_REQUEST",
      "Say the rule: vidro policy add allow -- npm test, or vidro policy add --rule <file>.",
    );
  const made = flags.rule === undefined ? await ruleAbout(words, flags) : { rule: await readRule(flags.rule) };
  const { readPolicySource, rulesIn } = await import("@vidro/hands");
  const source = readPolicySource(policyFile());
  await replacePolicy({ ...source, rules: [...rulesIn(source), made.rule] }, made);
  const id = textIn(made.rule, "id") ?? "";
  if (flags.json === true) writeJson({ added: true, ...made.rule });
  else
    print(
      `${paint("green", "added")} ${oneLine(id, RULE_CHARS)}; the shipped rules stay. Undo it: vidro policy remove ${oneLine(id, RULE_CHARS)}`,
    );
  return EXIT.ok;
}

/** Removes a rule that was added. */
export async function removeRule(id: string, flags: { readonly json?: boolean }): Promise<number> {
  const { readPolicySource, rulesIn } = await import("@vidro/hands");
  const source = readPolicySource(policyFile());
  const rules = rulesIn(source);
  const left = rules.filter((rule) => !isObject(rule) || rule["id"] !== id);
  if (left.length === rules.length) {
    const { policy } = await openPolicyAt(policyFile(), true);
    findRule(policy.rules, id);
    throw new Fault(
      "BAD_REQUEST",
      `The rule ${id} is shipped and cannot be removed: add a rule of your own, which counts before it.`,
    );
  }
  await replacePolicy({ ...source, rules: left }, {});
  if (flags.json === true) writeJson({ removed: id });
  else print(`${paint("green", "removed")} ${oneLine(id, RULE_CHARS)}`);
  return EXIT.ok;
}

function headings(): readonly string[] {
  return ["  DECISION".padEnd(DECISION_CHARS + 2), "RULE".padEnd(RULE_CHARS), "CLASS".padEnd(CLASS_CHARS)];
}

function row(rule: Rule, isAdded: boolean): string {
  const name = oneLine(rule.id, RULE_CHARS).padEnd(RULE_CHARS);
  const cells = [paintWord(COLOURS, rule.decision, DECISION_CHARS), name, rule.class.padEnd(CLASS_CHARS)];
  return `${isAdded ? "+" : " "} ${cells.join(" ")} ${oneLine(aboutWords(rule), ABOUT_CHARS)}`;
}

function aboutWords(rule: Rule): string {
  switch (rule.kind) {
    case "process":
      return rule.program.join(" ") + argumentWords(rule.arguments);
    case "shell":
      return `shell ${rule.commands?.join("; ") ?? `with access ${rule.access?.join(", ") ?? "of any kind"}`}`;
    case "file":
      return `${rule.operations.join(", ")} ${rule.paths?.join(" ") ?? (rule.inWorkspace === true ? "in the workspace" : "outside the workspace")}`;
    case "fetch":
      return `fetch ${rule.hosts.join(" ")}`;
    case "facts":
      return `facts ${rule.facts.join(" ")}`;
    case "order":
      return `tool ${rule.tools.join(" ")}`;
  }
}

/** The arguments of a rule about few of them. */
function argumentWords(args: Extract<Rule, { kind: "process" }>["arguments"]): string {
  if (args === "any" || "fit" in args) return "";
  if ("exact" in args) return ` ${args.exact.map((words) => commandLine(words)).join(" or ")}`;
  return args.contain.commands === undefined ? "" : ` ${args.contain.commands.join(" ")}`;
}

function findRule(rules: readonly Rule[], id: string): Rule {
  const rule = rules.find((one) => one.id === id);
  if (rule !== undefined) return rule;
  const near = nearest(
    id,
    rules.map((one) => one.id),
  );
  throw new Fault(
    "NOT_FOUND",
    `There is no rule ${oneLine(id, RULE_CHARS)}.${near === undefined ? "" : ` Did you mean ${near}?`}`,
  );
}

/** A new rule; with the plan that it is about and what it has to say of it. */
interface NewRule {
  readonly rule: JsonObject;
  readonly plan?: Plan;
  readonly decision?: Decision;
}

/** The rule about one command line, as this hand would run it now. */
async function ruleAbout([said = "", ...argv]: readonly string[], flags: AddFlags): Promise<NewRule> {
  const decision = DECISIONS.find((one) => one === said);
  if (decision === undefined || argv.length === 0)
    throw new Fault(
      "BAD_REQUEST",
      `${oneLine(said, RULE_CHARS)} is no decision with a command: vidro policy add allow|ask|deny -- <command>`,
    );
  const { plan, verdict } = await judgeCommand(argv, flags.shell === true);
  const head = {
    id: flags.id ?? idOf(decision, argv),
    class: verdict.class,
    decision,
    ...(flags.why === undefined ? {} : { reason: flags.why }),
  };
  if (flags.shell === true) return { plan, decision, rule: shellRule(head, argv.join(" ")) };
  return { plan, decision, rule: processRule({ ...head, decision }, argv) };
}

async function judgeCommand(argv: readonly string[], isShell: boolean): Promise<Judgement> {
  const [command = "", ...args] = argv;
  const action: Action = isShell
    ? { id: "act_explain", tool: "shell", input: { command: argv.join(" ") }, callId: "" }
    : { id: "act_explain", tool: "command", input: { command, args }, callId: "" };
  const found = await withHomeBrain(async (brain) => (await brain.hand(requireFolder("."))).judge(action));
  if ("code" in found) throw new Fault(found.code, found.message);
  return found;
}

type RuleHead = { readonly id: string; readonly class: ActionClass; readonly decision: Decision };

/** To allow, every argument is said; to ask or deny, a program alone stands for all its arguments, a word for its sub-command. */
function processRule(head: RuleHead, argv: readonly string[]): JsonObject {
  const [command = "", ...args] = argv;
  const isWide = head.decision !== "allow" && args.length < 2 && args.every((word) => !word.startsWith("-"));
  const wide = args.length === 0 ? "any" : { contain: { commands: args } };
  const beyond = [...argv, "--and-another-word"];
  return {
    kind: "process",
    ...head,
    program: [basename(command)],
    arguments: isWide ? wide : { exact: [args] },
    examples: {
      match: [[basename(command), ...args]],
      not_match: isWide ? [] : [[basename(command), ...beyond.slice(1)]],
    },
  };
}

function shellRule(head: RuleHead, command: string): JsonObject {
  const examples = { match: [{ command, access: "host", sandboxed: false }], not_match: [] };
  return { kind: "shell", ...head, commands: [command], examples };
}

function idOf(decision: Decision, argv: readonly string[]): string {
  const words = argv.map((word) => basename(word).replaceAll(/[^\w.]+/g, "-")).join("-");
  return `${decision}-${words}`.slice(0, ABOUT_CHARS);
}

async function readRule(file: string): Promise<JsonObject> {
  const text = await readFile(file, "utf8").catch((thrown: unknown) => {
    throw asFault(thrown, "BAD_REQUEST");
  });
  const rule = parseObject(text, file);
  if (typeof rule["id"] !== "string") throw new Fault("BAD_POLICY", `${file}: a rule has an id.`);
  return rule;
}

function parseObject(text: string, file: string): JsonObject {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (cause) {
    throw new Fault("BAD_POLICY", `${file} is no JSON: ${asFault(cause).message}`, { cause });
  }
  if (isObject(value)) return value;
  throw new Fault("BAD_POLICY", `${file} is no object.`);
}

/** Writes the policy of this home when it can be used and has the effect that was wanted; else it stays as it is. */
async function replacePolicy(source: JsonObject, { plan, decision, rule }: Partial<NewRule>): Promise<void> {
  const { openPolicy, replacePolicyFile } = await import("@vidro/hands");
  await mkdir(homeFolder(), { recursive: true, mode: 0o700 });
  replacePolicyFile(policyFile(), source, (fresh) => {
    const policy = openPolicy({ file: fresh, workspace: requireFolder("."), state: homeFolder(), hostFile: false });
    const held: Plan | undefined =
      plan?.kind === "process" ? { ...plan, confined: plan.confined ?? "workspace" } : plan;
    if (held === undefined) return;
    const { verdict, findings } = explainVerdict(held, policy.policy);
    if (verdict.decision === decision) return;
    const own = findings.find(({ rule: id, matched }) => id === rule?.["id"] && !matched);
    throw new Fault(
      "BAD_REQUEST",
      `${own === undefined ? overruledWords(verdict) : misfitWords(own)} Nothing was added.`,
    );
  });
  await tellDaemon();
}

function overruledWords({ decision, reason, rule }: Verdict): string {
  return `With that rule the answer would still be ${decision}: ${reason} (rule ${rule}).`;
}

/** Why the rule itself would not count, and what would make it count; nothing would for a program of the workspace. */
function misfitWords({ why }: RuleFinding): string {
  const [, program] = /^(\/\S+) is not in a trusted folder$/.exec(why) ?? [];
  const example = JSON.stringify({ extends: "shipped", trusted: [`${dirname(program ?? "")}/*`], rules: [] });
  const remedy =
    program === undefined || program.startsWith(`${requireFolder(".")}/`)
      ? ""
      : ` Where you trust that folder, ${policyFile()} says so: ${example}.`;
  return `That rule would not count: ${why}.${remedy}`;
}

/** Lets the running daemon of this home read the policy anew. */
async function tellDaemon(): Promise<void> {
  const { findDaemon } = await import("@vidro/brain/daemon-file");
  const daemon = await findDaemon(homeFolder());
  if (daemon === undefined) return;
  process.kill(daemon.pid, "SIGHUP");
  say(`The daemon (process ${daemon.pid}) reads it now.`);
}
