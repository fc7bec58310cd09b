import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import type { JsonObject } from "../json.ts";
import { parsePolicy } from "./parse.ts";
import { judgePlan } from "./policy.ts";
import type { PolicySource } from "./rule.ts";

const PLACES = { workspace: "/srv/work", home: "/home/ada", state: "/home/ada/.vidro" };
const EMPTY = { trusted: ["/usr/bin/*"], secrets: [], env: {}, rules: [] };

const said = (json: unknown, shipped?: PolicySource): string => {
  try {
    parsePolicy(json, PLACES, shipped);
    return "taken";
  } catch (thrown) {
    assert.ok(thrown instanceof Error && "code" in thrown && thrown.code === "BAD_POLICY", String(thrown));
    return thrown.message;
  }
};
const rule = (more: JsonObject): JsonObject => ({ id: "r", class: "read", decision: "ask", ...more });
const saidOf = (more: JsonObject): string => said({ ...EMPTY, rules: [rule(more)] });
const examples = (...match: readonly string[]): JsonObject => ({ match, not_match: [] });

describe("a policy file says where it is wrong and what may stand there", () => {
  it("in its own fields", () => {
    const rows: readonly (readonly [JsonObject, string])[] = [
      [{ trusted: "/usr/bin/*" }, "trusted: must be a list"],
      [{ trusted: ["bin"] }, "trusted[0]: bin is no path pattern such as /etc/** or {workspace}/*.md"],
      [{ secrets: ["/a", ""] }, "secrets[1]: must be a text that is not empty"],
      [{ secrets: ["/a/**/b"] }, "secrets[0]: /a/**/b is no path pattern such as /etc/** or {workspace}/*.md"],
      [{ env: [] }, "env: must be an object"],
      [{ env: { PATH: "some" } }, "env PATH: must be a list"],
      [{ env: { PATH: [1] } }, "env PATH[0]: must be a text that is not empty"],
      [{ rules: {} }, "rules: must be a list"],
      [{ rules: ["x"] }, "rules[0]: must be an object"],
      [{ rules: [{}] }, "rules[0]: id: must be a text that is not empty"],
      [{ host: "allow" }, "the policy: host: must be ask or deny"],
      [
        { privateHosts: ["Example.ORG"] },
        "the policy: privateHosts[0]: Example.ORG is no host such as docs.example.org or *.example.org",
      ],
      [{ extends: "shipped" }, '"extends" is not known'],
    ];
    for (const [more, message] of rows)
      assert.ok(said({ ...EMPTY, ...more }).includes(message), said({ ...EMPTY, ...more }));
  });

  it("in the parts of a rule about programs", () => {
    const process = (more: JsonObject): JsonObject => ({
      kind: "process",
      program: ["ls"],
      arguments: "any",
      examples: { match: [["ls"]], not_match: [] },
      ...more,
    });
    const fit = (grammar: JsonObject): JsonObject => process({ arguments: { fit: grammar } });
    const rows: readonly (readonly [JsonObject, string])[] = [
      [process({ arguments: "none" }), "rule r: arguments: must be an object"],
      [process({ arguments: { exact: [["a"], "b"] } }), "rule r: arguments: exact[1]: must be a list"],
      [process({ arguments: { exact: [[1]] } }), "rule r: arguments: exact[0][0]: must be a text"],
      [process({ arguments: { contain: { path: [] } } }), '"path" is not known; there may be commands, options, paths'],
      [process({ arguments: { contain: { paths: ["of=x"] } } }), "contain: paths[0]: x is no path pattern"],
      [fit({ options: { "--a=b": "flag" } }), "rule r: arguments: fit: options: --a=b is no option"],
      [fit({ options: { "-a b": "flag" } }), "-a b is no option"],
      [fit({ options: { "-a": "maybe" } }), "rule r: arguments: fit: options -a: must be an object"],
      [fit({ options: { "-a": { attached: "flag" } } }), "options -a: attached: must be an object"],
      [fit({ options: { "-a": { attached: "text", more: 1 } } }), '"more" is not known; there may be attached'],
      [fit({ operands: [{ like: "x" }] }), "operands[0]: like: must be a list"],
      [fit({ operands: [{ paths: ["x"] }] }), "operands[0]: paths[0]: x is no path pattern"],
      [fit({ operands: [{ paths: ["/x"], deep: "yes" }] }), "operands[0]: deep: must be true or false"],
      [fit({ many: 1 }), "fit: many: must be true or false"],
      [process({ sees: "all" }), "rule r: sees: must be host"],
      [process({ cwd: { paths: [], deeper: true } }), '"deeper" is not known; there may be paths, deep'],
      [process({ examples: { match: ["ls"], not_match: [] } }), "examples: match[0]: must be a list"],
      [process({ examples: { match: [["ls"]] } }), "examples: not_match: must be a list"],
      [process({ examples: [["ls"]] }), "rule r: examples: must be an object"],
    ];
    for (const [more, message] of rows) assert.ok(saidOf(more).includes(message), `${message} / ${saidOf(more)}`);
    assert.equal(
      saidOf(process({ arguments: { exact: [["", "a"]] }, examples: { match: [["ls", "", "a"]], not_match: [] } })),
      "taken",
    );
  });

  it("in rules about the shell, files, pages, facts and tools", () => {
    const shell = { command: "ls", access: "read", sandboxed: true };
    const rows: readonly (readonly [JsonObject, string])[] = [
      [
        { kind: "shell", examples: { match: [{ ...shell, access: "some" }], not_match: [] } },
        "access: must be read or workspace or host or all",
      ],
      [
        { kind: "shell", examples: { match: [{ ...shell, sandboxed: "no" }], not_match: [] } },
        "sandboxed: must be true or false",
      ],
      [
        { kind: "shell", examples: { match: [{ ...shell, command: "" }], not_match: [] } },
        "command: must be a text that is not empty",
      ],
      [{ kind: "shell", program: ["ls"], examples: { match: [shell], not_match: [] } }, '"program" is not known'],
      [{ kind: "file", operations: ["delete"], examples: examples("/a") }, "operations[0]: must be read or write"],
      [
        { kind: "file", operations: ["read"], inWorkspace: 1, examples: examples("/a") },
        "inWorkspace: must be true or false",
      ],
      [
        { kind: "file", operations: ["read"], paths: ["/b"], examples: examples("/a") },
        "its example read /a must match, but /a is not under /b",
      ],
      [{ kind: "fetch", hosts: ["a b"], examples: examples("https://a.test/") }, "a b is no host such as"],
      [{ kind: "fetch", hosts: ["a.test"], examples: examples("a.test") }, 'its example "a.test" is no address'],
      [
        { kind: "fetch", hosts: ["*.a.test"], examples: examples("https://a.test/") },
        "must match, but the host is a.test",
      ],
      [{ kind: "facts", facts: ["ports"], examples: examples("processes") }, "must match, but the facts are processes"],
      [{ kind: "facts", facts: "ports", examples: examples("ports") }, "rule r: facts: must be a list"],
      [{ kind: "order", tools: ["a__*"], examples: examples("b__x") }, "must match, but the tool is b__x"],
      [{ kind: "order", tools: ["a"], definitions: [1], examples: examples("a") }, "definitions[0]: must be a text"],
      [
        { kind: "files", examples: examples("/a") },
        "rule r: kind: must be process or shell or file or fetch or facts or order",
      ],
    ];
    for (const [more, message] of rows) assert.ok(saidOf(more).includes(message), `${message} / ${saidOf(more)}`);
  });

  it("when the machine's own folders are not absolute", () => {
    assert.throws(() => parsePolicy(EMPTY, { ...PLACES, home: "ada" }), {
      code: "BAD_POLICY",
      message: "home: ada is not absolute",
    });
  });
});

describe("a rule that allows is held to be narrow", () => {
  it("of pages and mounted tools names each, and may leave facts open", () => {
    const allow = (more: JsonObject): string => saidOf({ decision: "allow", ...more });
    assert.match(allow({ kind: "fetch", hosts: ["*"], examples: examples("https://a.test/") }), /names its hosts/);
    assert.equal(allow({ kind: "fetch", hosts: ["*.a.test"], examples: examples("https://b.a.test/") }), "taken");
    assert.match(allow({ kind: "order", tools: ["mail__*"], examples: examples("mail__x") }), /names its tools/);
    assert.equal(
      allow({ kind: "order", tools: ["mail__x"], definitions: ["d"], examples: examples("mail__x") }),
      "taken",
    );
    assert.equal(allow({ kind: "facts", facts: ["*"], examples: examples("ports") }), "taken");
  });

  it("of programs lets only those that read see the whole host", () => {
    const look = {
      kind: "process",
      program: ["df"],
      arguments: { exact: [[]] },
      decision: "allow",
      sees: "host",
      examples: { match: [["df"]], not_match: [["df", "x"]] },
    };
    assert.equal(saidOf(look), "taken");
    assert.match(saidOf({ ...look, class: "write" }), /only a rule of class read sees the host/);
  });

  it("of one folder has its examples tried in that folder", () => {
    const there = {
      kind: "shell",
      decision: "allow",
      commands: ["make"],
      cwd: { paths: ["/opt/site"] },
      examples: { match: [{ command: "make", access: "host", sandboxed: false }], not_match: [] },
    };
    assert.equal(saidOf(there), "taken");
    assert.match(
      saidOf({ ...there, cwd: { paths: ["/opt/*"] } }),
      /must match, but the folder: \/srv\/example is not under/,
    );
  });
});

describe("a policy that adds to the shipped one", () => {
  const shipped = parsePolicy(
    {
      ...EMPTY,
      secrets: ["{home}/.ssh/**"],
      env: { PATH: "any", LANG: ["C"] },
      rules: [
        rule({
          id: "no-hosts",
          decision: "deny",
          kind: "file",
          operations: ["write"],
          paths: ["/etc/**"],
          examples: examples("/etc/hosts"),
        }),
        rule({ id: "read-all", decision: "ask", kind: "file", operations: ["read"], examples: examples("/a") }),
      ],
    },
    PLACES,
  );
  const added = (more: JsonObject) => parsePolicy({ extends: "shipped", ...more }, PLACES, shipped);

  it("keeps what is shipped and adds its own trusted folders, secrets and variables", () => {
    const policy = added({
      trusted: ["/opt/bin/*"],
      secrets: ["{workspace}/keys/**"],
      env: { LANG: ["C", "pt"], TZ: "any" },
    });
    assert.deepEqual(policy.trusted, ["/usr/bin/*", "/opt/bin/*"]);
    assert.deepEqual(policy.secrets, ["{home}/.ssh/**", "{workspace}/keys/**"]);
    assert.deepEqual(policy.env, { PATH: "any", LANG: ["C", "pt"], TZ: "any" });
    assert.equal(policy.rules.length, 2);
  });

  it("has its rules counted before shipped questions, and behind shipped denials", () => {
    const allow = (id: string, operation: string, path: string): JsonObject =>
      rule({ id, decision: "allow", kind: "file", operations: [operation], paths: [path], examples: examples(path) });
    const policy = added({ rules: [allow("mine", "read", "/opt/a")] });
    const judge = (operation: "read" | "write", path: string) =>
      judgePlan({ kind: "file", operation, path, inWorkspace: false }, policy);
    assert.equal(judge("read", "/opt/a").rule, "mine");
    assert.equal(judge("read", "/opt/b").rule, "read-all");
    assert.match(
      said({ extends: "shipped", rules: [allow("mine", "write", "/etc/hosts")] }, shipped),
      /must give allow, but rule no-hosts says deny/,
    );
  });

  it("cannot take the id of a shipped rule, nor extend anything else", () => {
    const taken = rule({ id: "read-all", kind: "facts", facts: ["x"], examples: examples("x") });
    assert.match(said({ extends: "shipped", rules: [taken] }, shipped), /rule read-all: its id is taken/);
    assert.match(said({ extends: "mine" }, shipped), /extends: must be shipped/);
  });

  it("may leave out everything, and is the shipped one then", () => {
    const { added: own, ...policy } = added({});
    assert.deepEqual(own, new Set());
    assert.deepEqual(policy, shipped);
  });
});

describe("any mutilation of a sound policy", () => {
  const sound: JsonObject = {
    ...EMPTY,
    rules: [
      rule({ kind: "facts", facts: ["ports"], examples: examples("ports") }),
      rule({
        id: "s",
        kind: "shell",
        access: ["read"],
        examples: { match: [{ command: "ls", access: "read", sandboxed: true }], not_match: [] },
      }),
    ],
  };

  it("is taken or refused as a bad policy, and never ends otherwise", () => {
    const paths = pathsIn(sound);
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.jsonValue({ maxDepth: 2 }), (path, value) => {
        const broken = structuredClone(sound);
        put(broken, path, value);
        said(broken);
      }),
      { numRuns: 300 },
    );
  });
});

/** The keys that lead to each value in a JSON value. */
function pathsIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => [[...path, key], ...pathsIn(item, [...path, key])]);
}

function put(whole: object, path: readonly string[], value: unknown): void {
  const [last = "", ...rest] = path.toReversed();
  const parent = rest.toReversed().reduce<object>((at, key) => Reflect.get(at, key) as object, whole);
  Reflect.set(parent, last, value);
}
