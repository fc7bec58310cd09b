import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { isNarrowestFor, narrowestRule } from "./narrow-rule.ts";
import { parsePolicy } from "./parse.ts";
import { judgePlan } from "./policy.ts";
import type { Policy } from "./rule.ts";
import type { Plan, ProcessPlan, ShellPlan } from "../tool.ts";

const PLACES = { workspace: "/srv/work", home: "/home/ada", state: "/home/ada/.vidro" };
const SHIPPED = { trusted: ["/usr/bin/*"], secrets: ["{workspace}/**/.env"], env: {}, rules: [] };

const process = (argv: readonly string[], more: Partial<ProcessPlan> = {}): ProcessPlan => ({
  kind: "process",
  program: `/usr/bin/${argv[0]}`,
  argv,
  cwd: "/srv/work",
  env: {},
  timeoutMs: 1,
  digests: {},
  ...more,
});
const shell = (command: string, more: Partial<ShellPlan> = {}): ShellPlan => ({
  kind: "shell",
  command,
  cwd: "/srv/work",
  env: {},
  timeoutMs: 1,
  access: "host",
  sandboxed: false,
  ...more,
});
const write = (path: string): Plan => ({ kind: "file", operation: "write", path, inWorkspace: true });
const page = (url: string): Plan => ({ kind: "fetch", url, reach: "public" });

/** The policy with the narrowest rule about a plan, read as from a file. */
function withAlways(plan: Plan, rules: readonly object[] = []): Policy {
  const base = parsePolicy({ extends: "shipped", rules }, PLACES, SHIPPED);
  const rule = narrowestRule(plan, base);
  assert.ok(rule !== undefined);
  return parsePolicy(JSON.parse(JSON.stringify({ extends: "shipped", rules: [...rules, rule] })), PLACES, SHIPPED);
}

const held = (plan: Plan): Plan => (plan.kind === "process" ? { ...plan, confined: "workspace" } : plan);

test("the narrowest rule allows its plan, and no plan that differs in a word, a folder or its access", () => {
  const cases: readonly (readonly [Plan, ...others: readonly Plan[]])[] = [
    [
      process(["npm", "test"]),
      process(["npm", "test", "--x"]),
      process(["npm"]),
      process(["npm", "test"], { cwd: "/srv/other" }),
      process(["npm", "test"], { program: "/srv/work/npm" }),
    ],
    [
      shell("make dist"),
      shell("make dist "),
      shell("make dist", { cwd: "/srv/work/sub" }),
      shell("make dist", { access: "all" }),
      shell("make dist", { access: "workspace", sandboxed: true }),
    ],
    [
      write("/srv/work/a.md"),
      write("/srv/work/b.md"),
      { kind: "file", operation: "read", path: "/opt/a", inWorkspace: false },
    ],
    [page("https://docs.example.org/a"), page("https://example.org/a"), page("https://a.docs.example.org/")],
  ];
  for (const [plan, ...others] of cases) {
    const policy = withAlways(plan);
    assert.equal(judgePlan(held(plan), policy).decision, "allow", JSON.stringify(plan));
    for (const other of others) assert.equal(judgePlan(held(other), policy).decision, "ask", JSON.stringify(other));
  }
});

test("a rule of always loosens no denial, and counts before a question", () => {
  const about = (decision: string) => ({
    id: `${decision}-make`,
    kind: "shell",
    class: "code-exec",
    decision,
    commands: ["make dist"],
    examples: { match: [{ command: "make dist", access: "host", sandboxed: false }], not_match: [] },
  });
  const denied = parsePolicy({ ...SHIPPED, rules: [about("deny")] }, PLACES);
  const rule = narrowestRule(shell("make dist"), denied);
  assert.ok(rule !== undefined);
  const loosened = { ...denied, rules: [rule, ...denied.rules], added: new Set([rule.id]) };
  assert.equal(judgePlan(shell("make dist"), loosened).decision, "deny");
  const asked = parsePolicy({ ...SHIPPED, rules: [about("ask")] }, PLACES);
  const added = { ...asked, rules: [rule, ...asked.rules], added: new Set([rule.id]) };
  assert.equal(judgePlan(shell("make dist"), added).decision, "allow");
});

test("there is no rule for what no rule can be about alone", () => {
  const policy = parsePolicy(SHIPPED, PLACES);
  for (const plan of [
    { kind: "order", tool: "deploy", input: {} },
    { kind: "files", files: [write("/srv/work/a"), write("/srv/work/b")] },
    write("/srv/work/*"),
    write("/srv/work/{home}"),
    page("https://*.com/"),
    page("https://*/"),
    page("https://docs.*.org/a"),
    { kind: "facts", facts: "*" },
    process(["make"], { cwd: "/srv/*" }),
    process([""]),
    shell(""),
    shell("make", { state: "open" }),
    process(["make"], { state: "open" }),
    shell("x".repeat(5000)),
  ] as readonly Plan[])
    assert.equal(narrowestRule(plan, policy), undefined, JSON.stringify(plan).slice(0, 80));
});

test("rules about two plans have two ids, the rule about one plan always the same, and plans are told apart by it", () => {
  const [one, other] = [shell("make dist"), shell("make -dist")];
  const policy = withAlways(one);
  const [first, second] = [narrowestRule(one, policy), narrowestRule(other, policy)];
  assert.deepEqual([first?.id, second?.id], ["always-make-dist", "always-make-dist-2"]);
  assert.ok(isNarrowestFor({ ...first }, one) && !isNarrowestFor({ ...first }, other));
});

test("the narrowest rule about any page allows pages of its host alone", () => {
  const policy = parsePolicy(SHIPPED, PLACES);
  const label = fc.stringMatching(/^[a-z0-9*]{1,4}$/);
  const host = fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => `${labels.join(".")}.test`);
  fc.assert(
    fc.property(host, host, (one, other) => {
      fc.pre(one !== other);
      const rule = narrowestRule(page(`https://${one}/`), policy);
      if (rule === undefined) return;
      const added = { ...policy, rules: [rule], added: new Set([rule.id]) };
      assert.equal(judgePlan(page(`https://${one}/other?q=1`), added).decision, "allow");
      assert.equal(judgePlan(page(`https://${other}/`), added).decision, "ask");
    }),
    { numRuns: 300 },
  );
});

test("the id of a rule of always says what it is about, in a bounded number of letters", () => {
  const policy = parsePolicy(SHIPPED, PLACES);
  const idOf = (plan: Plan): string | undefined => narrowestRule(plan, policy)?.id;
  assert.equal(idOf(process(["npm", "run", "build:all"])), "always-npm-run-build-all");
  assert.equal(idOf(write("/srv/work/notes.md")), "always-write-notes.md");
  assert.equal(idOf(page("https://docs.example.org/x")), "always-fetch-docs.example.org");
  assert.equal(idOf({ kind: "facts", facts: "processes" }), "always-facts-processes");
  assert.equal(idOf({ kind: "order", tool: "mail__send", input: {}, definition: "d1" }), "always-mail__send");
  assert.equal(idOf(shell("!!!")), "always");
  assert.match(idOf(shell(`echo ${"word ".repeat(99)}`)) ?? "", /^.{40,48}$/);
});

test("the narrowest rule about a mounted tool holds for one definition of it, whatever its input is", () => {
  const plan: Plan = { kind: "order", tool: "mail__send", input: { to: "a" }, definition: "d1" };
  const policy = withAlways(plan);
  assert.equal(judgePlan({ ...plan, input: { to: "b" } }, policy).decision, "allow");
  assert.equal(judgePlan({ ...plan, definition: "d2" }, policy).decision, "ask");
  assert.equal(judgePlan({ ...plan, changed: true }, policy).decision, "ask");
  assert.equal(judgePlan({ ...plan, tool: "mail__sendall" }, policy).decision, "ask");
});

test("a path that is too long for a rule has none, and neither has a folder that is", () => {
  const policy = parsePolicy(SHIPPED, PLACES);
  const long = `/srv/${"x".repeat(5000)}`;
  for (const plan of [
    write(long),
    process(["make"], { cwd: long }),
    process(["make", long]),
    shell("make", { cwd: long }),
  ])
    assert.equal(narrowestRule(plan, policy), undefined);
});
