import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import * as fc from "fast-check";
import { parsePolicy } from "./parse.ts";
import type { RuleDecision, Policy, ProcessRule, Rule } from "./rule.ts";
import { explainVerdict, judgePlan } from "./policy.ts";
import type { OrderPlan, ProcessPlan, ShellPlan } from "../tool.ts";

const PLACES = { workspace: "/srv/work", home: "/home/ada", state: "/home/ada/.vidro" };

const plan = (argv: readonly string[], more: Partial<ProcessPlan> = {}): ProcessPlan => ({
  kind: "process",
  program: `/usr/bin/${argv[0]}`,
  argv,
  cwd: PLACES.workspace,
  env: { PATH: "/usr/bin" },
  timeoutMs: 1000,
  digests: {},
  confined: "files",
  ...more,
});

const LOG: ProcessRule = {
  kind: "process",
  id: "log",
  program: ["git"],
  arguments: {
    fit: {
      before: { "--no-pager": "flag" },
      commands: ["log", "branch --list"],
      options: {
        "-p": "flag",
        "-i": "flag",
        "-n": "number",
        "--color": { attached: { like: ["auto", "never"] } },
        "-#": "flag",
      },
      operands: [{ paths: ["{workspace}/**"] }],
      many: true,
    },
  },
  class: "read",
  decision: "allow",
  examples: { match: [["git", "log"]], not_match: [["git", "push"]] },
};

const policy = (...rules: readonly Rule[]): Policy =>
  parsePolicy({ trusted: ["/usr/bin/*"], secrets: ["{state}/**"], env: { PATH: "any", LANG: ["C"] }, rules }, PLACES);

const shell = (command: string): ShellPlan => ({
  kind: "shell",
  command,
  cwd: "/",
  env: {},
  timeoutMs: 1,
  access: "host",
  sandboxed: false,
});

const decide = (argv: readonly string[], more: Partial<ProcessPlan> = {}): RuleDecision =>
  judgePlan(plan(argv, more), policy(LOG)).decision;

test("a rule that allows a command takes options alone, combined, with a value attached or apart, and operands", () => {
  for (const line of [
    "log",
    "--no-pager log -pi",
    "log -n5",
    "log -pn 5 a b",
    "log --color",
    "log --color=auto",
    "log -20",
  ])
    assert.equal(decide(["git", ...line.split(" ")]), "allow", line);
  for (const line of ["branch --list a", "log -- a", "log -- -x", "log ./b/../a", "log /srv/work/a"])
    assert.equal(decide(["git", ...line.split(" ")]), "allow", line);
});

test("a rule that allows a command takes nothing else", () => {
  for (const line of [
    "log -x",
    "log -px",
    "log --output=x",
    "log -n",
    "log -n x",
    "log -n -p",
    "log --color=x",
    "log -p=1",
  ])
    assert.equal(decide(["git", ...line.split(" ")]), "ask", line);
  for (const line of [
    "push",
    "branch a",
    "-- log",
    "-c a=b log",
    "log --no-pager",
    "log --colo",
    "log -#",
    "log --constructor",
  ])
    assert.equal(decide(["git", ...line.split(" ")]), "ask", line);
  assert.equal(decide(["git"]), "ask");
});

test("a rule that allows a command keeps paths in the root, whatever way they are written", () => {
  for (const path of ["..", "../x", "a/../../x", "/srv/work2/x", "/srv/work/../x", "//etc/passwd", "/"])
    assert.equal(decide(["git", "log", "--", path]), "ask", path);
  assert.equal(decide(["git", "log", "b"], { cwd: "/srv/work/a/.." }), "allow");
  assert.equal(decide(["git", "log", "b"], { cwd: "/etc" }), "ask");
});

test("a rule that allows a command does not take a program by its name alone", () => {
  assert.equal(decide(["git", "log"], { program: "/srv/work/git" }), "ask");
  assert.equal(decide(["./git", "log"], { program: "/srv/work/git" }), "ask");
  assert.equal(decide(["git", "log"], { program: "/usr/bin/python3" }), "ask");
  assert.equal(decide(["git", "log"], { program: "/usr/bin/../../tmp/git" }), "ask");
  assert.equal(decide(["evil", "log"], { program: "/usr/bin/git" }), "ask");
  assert.equal(decide(["/usr/bin/git", "log"], { program: "/usr/bin/git" }), "allow");
  assert.equal(decide(["git", "log"], { program: "/usr/bin/git2.40" }), "allow");
  assert.equal(decide(["git", "log"], { program: "/usr/bin/busybox" }), "allow");
});

test("a rule that allows a command does not take a trusted folder that lies in the workspace", () => {
  const rules = policy(LOG);
  const inside = { ...rules, places: { ...PLACES, workspace: "/usr" } };
  assert.equal(judgePlan(plan(["git", "log"]), inside).decision, "ask");
});

test("a rule that allows a command does not take a variable that it does not know", () => {
  assert.equal(decide(["git", "log"], { env: { LD_PRELOAD: "/x.so" } }), "ask");
  assert.equal(decide(["git", "log"], { env: { LANG: "C" } }), "allow");
  assert.equal(decide(["git", "log"], { env: { LANG: "../x" } }), "ask");
});

test("a rule that allows a command does not take arguments with letters that cannot be seen", () => {
  for (const word of ["a\nb", "a\\\nb", "a\0b", "a\u202Eb", "a\u200Bb", "a\u2028b", "a\rb"])
    assert.equal(decide(["git", "log", word]), "ask", JSON.stringify(word));
});

const refusal: Rule = {
  kind: "process",
  id: "no-removal",
  program: ["rm"],
  arguments: { contain: { options: ["-r", "--recursive"], paths: ["/", "/*", "{home}"] } },
  class: "destructive",
  decision: "deny",
  reason: "it destroys",
  examples: { match: [["rm", "-r", "/"]], not_match: [["rm", "a"]] },
};

test("a verdict names the rule, its class and its reason", () => {
  const verdict = judgePlan(plan(["rm", "-fr", "/etc/"]), policy(refusal));
  assert.deepEqual(verdict, { decision: "deny", rule: "no-removal", class: "destructive", reason: "it destroys" });
});

test("a verdict denies a command behind a wrapper as well", () => {
  for (const line of [
    "sudo -u root rm -rf /",
    "env A=1 timeout 5 /bin/rm -r --force /",
    "busybox rm --recurs /home/ada/x/..",
  ])
    assert.equal(judgePlan(plan(line.split(" ")), policy(refusal)).decision, "deny", line);
  assert.equal(judgePlan(plan("echo rm -rf /".split(" ")), policy(refusal)).decision, "ask");
});

test("a verdict is to ask, under the name default, where no rule matches", () => {
  const verdict = judgePlan(plan(["git", "log", "--output=x"]), policy(LOG));
  assert.equal(verdict.rule, "default");
  assert.match(verdict.reason, /log: the option --output is not among those allowed/);
  assert.equal(judgePlan(plan(["sudo", "ls"]), policy()).class, "privileged");
  assert.equal(
    judgePlan({ kind: "file", operation: "write", path: "/etc/x", inWorkspace: false }, policy()).class,
    "privileged",
  );
});

test("a verdict never comes from reading the text of a shell line", () => {
  const exact: Rule = {
    kind: "shell",
    id: "known",
    commands: ["make all"],
    class: "code-exec",
    decision: "allow",
    examples: { match: [{ command: "make all", access: "host", sandboxed: false }], not_match: [] },
  };
  assert.equal(judgePlan(shell("make all"), policy(exact)).decision, "allow");
  for (const line of ["make all ", "make all;id", "make  all", "make all\n", "MAKE all"])
    assert.equal(judgePlan(shell(line), policy(exact)).decision, "ask", JSON.stringify(line));
});

test("a verdict is explained by every rule that speaks of the program", () => {
  const { verdict, findings } = explainVerdict(plan(["git", "push"]), policy(refusal, LOG));
  assert.equal(verdict.rule, "default");
  assert.deepEqual(findings, [
    { rule: "log", decision: "allow", matched: false, why: "push is not among the allowed sub-commands" },
  ]);
});

const matching = (decision: RuleDecision, id: string): Rule => ({
  kind: "process",
  id,
  program: ["git"],
  arguments: { exact: [["log"]] },
  class: "read",
  decision,
  examples: { match: [["git", "log"]], not_match: [["git", "push"]] },
});

// Examples are checked with the whole policy, where a stricter rule rightly outvotes a weaker one's.
const unchecked = (kinds: readonly RuleDecision[]): Policy => ({
  ...policy(),
  rules: kinds.map((decision, index) => matching(decision, `r${index}`)),
});

const decisions = fc.array(fc.constantFrom<RuleDecision>("allow", "ask", "deny"), { minLength: 1, maxLength: 8 });
test("any policy lets deny beat ask and ask beat allow, whatever the order of the rules", () => {
  fc.assert(
    fc.property(decisions, (kinds) => {
      const strictest = kinds.includes("deny") ? "deny" : kinds.includes("ask") ? "ask" : "allow";
      assert.equal(judgePlan(plan(["git", "log"]), unchecked(kinds)).decision, strictest);
    }),
  );
});

test("any policy judges the same plan the same way and names a rule that exists", () => {
  const word = fc.oneof(fc.constantFrom("git", "log", "push", "--", "-p", "-n", "5", "/"), fc.string());
  const program = fc.constantFrom("/usr/bin/git", "/tmp/git", "/usr/bin/sudo");
  fc.assert(
    fc.property(decisions, fc.array(word), program, (kinds, argv, path) => {
      const rules = { ...unchecked(kinds), rules: [...unchecked(kinds).rules, LOG] };
      const verdict = judgePlan(plan(argv, { program: path }), rules);
      assert.deepEqual(verdict, judgePlan(plan(argv, { program: path }), rules));
      assert.ok(verdict.rule === "default" || rules.rules.some(({ id }) => id === verdict.rule));
    }),
  );
});

test("any policy allows nothing once an unknown option is added to an allowed command", () => {
  const option = fc.string({ minLength: 1 }).map((name) => `--zz${name}`);
  fc.assert(
    fc.property(option, fc.nat(3), (unknown, at) => {
      const argv = ["git", "log", "-p", "a"].toSpliced(at + 1, 0, unknown);
      assert.equal(judgePlan(plan(argv), policy(LOG)).decision, "ask");
    }),
  );
});

test("any policy keeps every path operand that it allows in the root", () => {
  const path = fc
    .array(fc.constantFrom("..", ".", "", "a", "b", "srv", "work"), { maxLength: 8 })
    .map((all) => all.join("/"));
  fc.assert(
    fc.property(path, (operand) => {
      if (judgePlan(plan(["git", "log", "--", operand]), policy(LOG)).decision !== "allow") return;
      assert.match(`${resolve(PLACES.workspace, operand)}/`, /^\/srv\/work\//);
    }),
    { numRuns: 1000 },
  );
});

test("a rule that allows a command has it held to what its class is about, and matches nothing that is not held", () => {
  const confinedBy = (more: Partial<ProcessRule>): unknown =>
    judgePlan(plan(["git", "log"]), policy({ ...LOG, ...more }));
  const allowed = { decision: "allow", rule: "log", reason: "rule log says allow" };
  for (const [kind, confined] of [
    ["read", "files"],
    ["write", "workspace"],
    ["code-exec", "workspace"],
    ["network", "network"],
  ] as const) {
    assert.deepEqual(confinedBy({ class: kind }), { ...allowed, class: kind, confined });
    const { confined: _, ...unheld } = plan(["git", "log"]);
    assert.equal(judgePlan(unheld, policy({ ...LOG, class: kind })).decision, "ask");
  }
  assert.deepEqual(confinedBy({ sees: "host" }), { ...allowed, class: "read", confined: "facts" });
  assert.deepEqual(confinedBy({ class: "privileged" }), { ...allowed, class: "privileged" });
  assert.throws(() => policy({ ...LOG, class: "network", sees: "host" }), { code: "BAD_POLICY" });
});

test("a policy can keep the host from everything that nothing holds, whatever its rules say", () => {
  const free = { ...LOG, id: "free", class: "privileged" } as const;
  const open = policy(LOG, free);
  const shut: Policy = { ...open, host: "deny" };
  const { confined: _, ...unheld } = plan(["git", "log"]);
  assert.deepEqual([judgePlan(unheld, open).decision, judgePlan(unheld, shut).decision], ["allow", "deny"]);
  assert.equal(judgePlan(unheld, shut).rule, "host");
  assert.equal(judgePlan(plan(["git", "log"]), shut).decision, "allow");
  assert.equal(judgePlan(shell("ls"), shut).decision, "deny");
  assert.equal(judgePlan({ ...shell("ls"), access: "workspace", sandboxed: true }, shut).decision, "ask");
  const write = { kind: "file", operation: "write", path: "/etc/hosts", inWorkspace: false } as const;
  assert.deepEqual([judgePlan(write, open).decision, judgePlan(write, shut).decision], ["ask", "deny"]);
  assert.equal(judgePlan({ ...write, path: "/srv/work/a", inWorkspace: true }, shut).decision, "ask");
  assert.equal(parsePolicy({ trusted: [], secrets: [], env: {}, rules: [], host: "deny" }, PLACES).host, "deny");
  assert.throws(() => parsePolicy({ trusted: [], secrets: [], env: {}, rules: [], host: "no" }, PLACES));
});

test("a page is asked about unless a rule names its host, and private hosts are named apart", () => {
  const fetch = (url: string) => ({ kind: "fetch", url, reach: "public" }) as const;
  const docs = {
    kind: "fetch",
    id: "docs",
    hosts: ["docs.example.org", "*.example.net"],
    class: "network",
    decision: "allow",
    examples: { match: ["https://docs.example.org/a?b"], not_match: ["https://example.net/"] },
  };
  const source = { trusted: ["/usr/bin/*"], secrets: [], env: {}, rules: [docs], privateHosts: ["wiki.lan", "[::1]"] };
  const parsed = parsePolicy(source, PLACES);
  assert.deepEqual(parsed.privateHosts, ["wiki.lan", "[::1]"]);
  assert.equal(judgePlan(fetch("https://docs.example.org/x"), parsed).decision, "allow");
  assert.equal(judgePlan(fetch("https://a.b.example.net/x"), parsed).decision, "allow");
  for (const url of [
    "https://example.net/",
    "https://docs.example.org.evil.example/",
    "https://evil.example/docs.example.org",
  ]) {
    const { decision, class: harm } = judgePlan(fetch(url), parsed);
    assert.deepEqual([decision, harm], ["ask", "network"], url);
  }
  const refused = (rule: object) => () => parsePolicy({ ...source, rules: [{ ...docs, ...rule }] }, PLACES);
  assert.throws(refused({ hosts: ["*"] }), /an allow rule names its hosts/);
  assert.throws(refused({ hosts: ["https://example.org"] }), /no host such as/);
  assert.throws(refused({ hosts: ["Docs.example.org"] }), /no host such as/);
  assert.throws(refused({ examples: { match: ["docs"], not_match: [] } }), /is no address/);
});

test("a rule about a tool of a mounted server allows it as it was defined, and not once its server has changed it", () => {
  const rule = {
    kind: "order",
    id: "read-files",
    class: "read",
    decision: "allow",
    tools: ["files__read"],
    examples: { match: ["files__read"], not_match: ["files__write"] },
  } as const;
  const verdict = (rules: readonly Rule[], more: Partial<OrderPlan>): string =>
    judgePlan({ kind: "order", tool: "files__read", input: {}, definition: "one", ...more }, {
      rules,
      places: PLACES,
    } as unknown as Policy).decision;
  assert.equal(verdict([rule], {}), "allow");
  assert.equal(verdict([rule], { tool: "files__write" }), "ask");
  assert.equal(verdict([rule], { changed: true }), "ask");
  const made = { ...rule, definitions: ["one"] };
  assert.equal(verdict([made], {}), "allow");
  assert.equal(verdict([made], { definition: "two" }), "ask");
  assert.equal(verdict([{ ...rule, id: "no", decision: "deny", tools: ["files__*"] }], { changed: true }), "deny");
  assert.throws(
    () => parsePolicy({ trusted: [], secrets: [], env: {}, rules: [{ ...rule, tools: ["files__*"] }] }, PLACES),
    /names its tools/,
  );
});

test("a program that outlives its run, or is written to outside a sandbox, is asked about whatever a rule allows", () => {
  const free = policy({ ...LOG, class: "privileged" });
  const held = plan(["git", "log"], { background: {} });
  const { confined: _, ...unheld } = held;
  assert.equal(judgePlan(held, free).decision, "allow");
  assert.equal(judgePlan(unheld, free).decision, "allow");
  assert.equal(judgePlan({ ...held, background: { input: "x" } }, free).decision, "allow");
  const kept = judgePlan({ ...held, background: { keep: true } }, free);
  assert.deepEqual([kept.decision, kept.rule], ["ask", "background"]);
  const told = judgePlan({ ...unheld, background: { input: "x" } }, free);
  assert.deepEqual([told.decision, told.rule], ["ask", "background"]);
  assert.equal(judgePlan({ ...held, background: { keep: true } }, { ...free, host: "deny" }).decision, "ask");
});
