import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Fault } from "../fault.ts";
import { POLICY_LIMITS } from "../limits.ts";
import { parsePolicy } from "./parse.ts";

const PLACES = { workspace: "/srv/work", home: "/home/ada", state: "/home/ada/.vidro" };

const RULE = {
  kind: "process",
  id: "look",
  program: ["ls"],
  arguments: { fit: { options: { "-l": "flag" } } },
  class: "read",
  decision: "allow",
  examples: { match: [["ls", "-l"]], not_match: [["ls", "-x"]] },
};

const parse = (...rules: readonly unknown[]): unknown =>
  parsePolicy({ trusted: ["/usr/bin/*"], secrets: [], env: {}, rules }, PLACES);

const offers = (name: string, option: string): object => ({
  program: [name],
  arguments: { fit: { wholeWords: true, options: { [option]: "text" } } },
  examples: { match: [[name]], not_match: [[name, "x"]] },
});

function refuses(rule: object, words: RegExp): void {
  assert.throws(
    () => parse({ ...RULE, ...rule }),
    (thrown) => thrown instanceof Fault && thrown.code === "BAD_POLICY" && words.test(thrown.message),
  );
}

test("a policy file is taken when its rules are sound", () => {
  parse(RULE, { ...RULE, id: "other" });
});

test("a policy file may bound the memory of a command, in whole MiB", () => {
  const source = { trusted: [], secrets: [], env: {}, rules: [] };
  assert.equal(parsePolicy({ ...source, memory: 512 }, PLACES).memory, 512);
  for (const memory of [0, 15, 1.5, "512", null, Number.POSITIVE_INFINITY])
    assert.throws(() => parsePolicy({ ...source, memory }, PLACES), { code: "BAD_POLICY", message: /memory: must be/ });
});

test("a policy file is refused with the rule's name when a key or a value is not known", () => {
  refuses({ optoins: {} }, /^rule look: "optoins" is not known/);
  refuses({ decision: "maybe" }, /^rule look: decision: must be allow or ask or deny/);
  refuses({ class: "nice" }, /^rule look: class: must be read or/);
  refuses({ program: "ls" }, /^rule look: program: must be a list/);
  refuses({ kind: "thing" }, /^rule look: kind:/);
  refuses({ id: "" }, /^rules\[0\]: id: must be a text/);
  refuses({ id: "default" }, /its id is taken/);
  refuses({ arguments: { fit: { options: { l: "flag" } } } }, /l is no option/);
  refuses({ arguments: { fit: {}, exact: [] } }, /one of exact, fit, contain/);
  refuses({ cwd: { paths: ["{elsewhere}/**"] } }, /\{elsewhere\}\/\*\* is no path pattern/);
  refuses({ cwd: { paths: ["/a/../b"] } }, /is no path pattern/);
  refuses({ cwd: { paths: ["a"] } }, /is no path pattern/);
  assert.throws(() => parse(RULE, RULE), /rule look: its id is taken/);
});

test("a policy file is refused when it is no policy at all", () => {
  for (const json of [null, 1, "x", [], {}, { trusted: [], secrets: [], env: {} }])
    assert.throws(() => parsePolicy(json, PLACES), { code: "BAD_POLICY" });
  fc.assert(
    fc.property(fc.jsonValue(), (json) => {
      assert.throws(() => parsePolicy(json, PLACES), { code: "BAD_POLICY" });
    }),
  );
});

test("a policy file is bounded", () => {
  refuses({ program: Array.from({ length: POLICY_LIMITS.items + 1 }, () => "ls") }, /more than 1000 items/);
  refuses({ reason: "x".repeat(POLICY_LIMITS.textChars + 1) }, /longer than/);
});

test("a policy file is refused when an example proves it wrong", () => {
  refuses(
    { examples: { match: [["ls", "-x"]], not_match: [["ls", "-y"]] } },
    /\["ls","-x"\] must match, but the option -x/,
  );
  refuses({ examples: { match: [["ls"]], not_match: [["ls", "-l"]] } }, /\["ls","-l"\] must not match/);
  refuses({ examples: { match: [], not_match: [["ls", "-l"]] } }, /match has no example/);
  refuses({ examples: { match: [["ls"]], not_match: [] } }, /not_match examples/);
  const stricter = { ...RULE, id: "never", decision: "deny", arguments: "any" };
  assert.throws(
    () => parse(RULE, { ...stricter, examples: { match: [["ls"]], not_match: [] } }),
    /but rule never says deny/,
  );
});

test("a rule that allows is refused for a program that runs what it is given, unless every argument is said", () => {
  for (const name of [
    "env",
    "sudo",
    "sh",
    "bash",
    "xargs",
    "python3.11",
    "node",
    "perl5.36.0",
    "awk",
    "busybox",
    "timeout",
    "ssh",
  ])
    refuses({ program: [name], examples: { match: [[name]], not_match: [[name, "x"]] } }, /runs what it is given/);
  parse({
    ...RULE,
    program: ["node"],
    arguments: { exact: [["--version"]] },
    examples: { match: [["node", "--version"]], not_match: [["node", "--version", "-e"]] },
  });
});

test("a rule that allows is refused when it leaves arguments or programs open", () => {
  refuses({ arguments: "any" }, /says every argument/);
  refuses({ arguments: { contain: { commands: ["x"] } } }, /says every argument/);
  refuses({ program: ["l*"] }, /names its programs/);
});

test("a rule that allows is refused when it offers an option that runs a program or writes a file", () => {
  refuses(offers("find", "-exec"), /cannot offer -exec/);
  refuses(offers("tar", "--checkpoint-action"), /cannot offer --checkpoint-action/);
  refuses(offers("sort", "-o"), /cannot offer -o/);
  refuses(offers("rg", "--pre"), /cannot offer --pre/);
  refuses(offers("git", "--output"), /cannot offer --output/);
});

test("a rule that allows is refused for a shell that no sandbox holds, and for every file of the host", () => {
  const head = { id: "wide", class: "read", decision: "allow" };
  const example = { command: "ls", access: "host", sandboxed: true };
  const shell = { ...head, kind: "shell", examples: { match: [example], not_match: [] } };
  assert.throws(() => parse({ ...shell, sandboxed: true }), /rule wide: an allow rule for the shell/);
  assert.throws(() => parse({ ...shell, sandboxed: true, access: ["host"] }), /rule wide: an allow rule for the shell/);
  assert.throws(() => parse({ ...shell, access: ["read"] }), /rule wide: an allow rule for the shell/);
  const file = { ...head, kind: "file", operations: ["read"], examples: { match: ["/a"], not_match: [] } };
  assert.throws(() => parse(file), /every file outside the workspace/);
});
