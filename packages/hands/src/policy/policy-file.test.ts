import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openPolicy } from "./policy-file.ts";
import { scratch } from "../scratch.fixture.ts";

test("a workspace that is not there is told by name", (t) => {
  const state = scratch(t);
  const workspace = join(state, "gone");
  const open = () => openPolicy({ file: join(state, "policy.json"), workspace, state });
  assert.throws(open, { code: "NOT_FOUND", message: new RegExp(`The workspace ${workspace} is no folder`) });
});

test("a user whose home is not there has a policy all the same", (t) => {
  const state = scratch(t);
  const { HOME } = process.env;
  t.after(() => (HOME === undefined ? delete process.env["HOME"] : (process.env["HOME"] = HOME)));
  process.env["HOME"] = join(state, "nobody");
  const { policy } = openPolicy({ file: join(state, "policy.json"), workspace: state, state });
  assert.equal(policy.places.home, join(state, "nobody"));
});

const isRoot = process.getuid?.() === 0;
const NOBODY = 65534;
const empty = (more: object): string => JSON.stringify({ trusted: [], secrets: [], env: {}, rules: [], ...more });

test("the host's policy counts instead of that of the state, and is root's alone or none", { skip: !isRoot }, (t) => {
  const folder = scratch(t);
  const [host, state] = [join(folder, "etc"), join(folder, "state")];
  for (const path of [host, state]) mkdirSync(path);
  const places = { file: join(state, "policy.json"), hostFile: join(host, "policy.json"), workspace: state, state };
  writeFileSync(places.file, empty({}));
  assert.deepEqual([openPolicy(places).file, openPolicy(places).policy.host], [places.file, undefined]);
  writeFileSync(places.hostFile, empty({ host: "deny" }));
  assert.deepEqual([openPolicy(places).file, openPolicy(places).policy.host], [places.hostFile, "deny"]);
  chmodSync(places.hostFile, 0o664);
  assert.throws(() => openPolicy(places), { code: "BAD_POLICY", message: /has to belong to root/ });
  chmodSync(places.hostFile, 0o644);
  chownSync(host, NOBODY, NOBODY);
  assert.throws(() => openPolicy(places), { code: "BAD_POLICY", message: /has to belong to root/ });
});

test("a policy that the hand's own user may change is told, and one of root's is not", { skip: !isRoot }, (t) => {
  const folder = scratch(t);
  const [host, state] = [join(folder, "etc"), join(folder, "state")];
  for (const path of [host, state]) mkdirSync(path, { mode: 0o755 });
  chmodSync(folder, 0o755);
  chownSync(state, NOBODY, NOBODY);
  const places = { file: join(state, "policy.json"), hostFile: join(host, "policy.json"), workspace: "/tmp", state };
  const open = `
    import { openPolicy } from ${JSON.stringify(join(import.meta.dirname, "policy-file.ts"))};
    console.log(openPolicy(${JSON.stringify(places)}).warning);`;
  const args = ["--conditions=vidro-source", "--input-type=module", "-e", open];
  const warning = (): string =>
    execFileSync(process.execPath, args, { uid: NOBODY, gid: NOBODY, cwd: "/", encoding: "utf8" });
  assert.match(warning(), /The shipped policy counts, and the user of this hand may put another one in its place/);
  // Root's own file in a folder of the hand's user can be put aside.
  writeFileSync(places.file, empty({}));
  assert.match(warning(), /state\/policy\.json counts, and the user of this hand may put another one/);
  writeFileSync(places.hostFile, empty({}));
  assert.equal(warning(), "undefined\n");
  assert.equal(openPolicy(places).warning, undefined, "root may change everything");
});

test("rules are added beside the shipped ones: they count before those that ask, and never before one that denies", (t) => {
  const state = scratch(t);
  const places = { file: join(state, "policy.json"), hostFile: false, workspace: state, state } as const;
  const rule = (id: string, program: string, words: readonly string[]) => ({
    kind: "process",
    id,
    program: [program],
    arguments: { exact: [words] },
    class: "code-exec",
    decision: "allow",
    examples: { match: [[program, ...words]], not_match: [[program, ...words, "x"]] },
  });
  const plan = (...argv: readonly string[]) =>
    ({
      kind: "process",
      program: `/usr/bin/${argv[0]}`,
      argv,
      cwd: state,
      env: {},
      timeoutMs: 1,
      digests: {},
      confined: "workspace",
    }) as const;
  const shipped = openPolicy(places);
  assert.equal(shipped.judge(plan("npm", "test")).rule, "project-code");
  writeFileSync(places.file, JSON.stringify({ extends: "shipped", rules: [rule("own", "npm", ["test"])] }));
  const added = openPolicy(places);
  assert.deepEqual(
    ["npm test", "npm run build", "rm -rf /", "df -h"].map((line) => added.judge(plan(...line.split(" "))).rule),
    ["own", "project-code", "no-tree-removal", shipped.judge(plan("df", "-h")).rule],
  );
  assert.notEqual(added.version, shipped.version);
  writeFileSync(places.file, JSON.stringify({ extends: "shipped", rules: [rule("own", "rm", ["-rf", "/"])] }));
  assert.throws(() => openPolicy(places), { code: "BAD_POLICY", message: /rule no-tree-removal says deny/ });
  writeFileSync(places.file, JSON.stringify({ extends: "shipped", rules: [rule("cat", "npm", ["test"])] }));
  assert.throws(() => openPolicy(places), { code: "BAD_POLICY", message: /its id is taken/ });
});

test("a person is asked before .env and its kind are read, by every way to read a file", (t) => {
  const workspace = scratch(t);
  const state = scratch(t);
  const open = openPolicy({ file: join(state, "policy.json"), hostFile: false, workspace, state });
  const command = (line: string) => {
    const argv = line.split(" ");
    return open.judge({
      kind: "process",
      program: `/usr/bin/${argv[0]}`,
      argv,
      cwd: workspace,
      env: {},
      timeoutMs: 1,
      digests: {},
      confined: "files",
    }).decision;
  };
  const shell = (line: string) =>
    open.judge({
      kind: "shell",
      command: line,
      cwd: workspace,
      env: {},
      timeoutMs: 1,
      access: "read",
      sandboxed: true,
    });
  assert.equal(command("grep -rn x ."), "allow");
  mkdirSync(join(workspace, "api/deep"), { recursive: true });
  for (const name of [".env", "api/deep/.env.local"]) writeFileSync(join(workspace, name), "PASSWORD=x");
  for (const name of [".env", "api/deep/.env.local", "api/server.key", ".npmrc"]) {
    const read = open.judge({ kind: "file", operation: "read", path: join(workspace, name), inWorkspace: true });
    assert.deepEqual([read.decision, read.rule], ["ask", "read-private"], name);
    for (const program of ["cat", "head", "wc", "grep x", "sort"])
      assert.equal(command(`${program} ${name}`), "ask", name);
  }
  assert.deepEqual([command("cat environment.ts"), command("ls -la")], ["allow", "allow"]);
  // The search was just done; what lies in the folder is known for a moment.
  const later = openPolicy({ file: join(state, "policy.json"), hostFile: false, workspace, state });
  assert.equal(later.policy.holdsSecret?.(workspace), true);
  assert.equal(later.policy.holdsSecret?.(join(workspace, "api", "deep")), true);
  assert.deepEqual([shell("ls | wc -l").decision, shell("cat .env").decision], ["allow", "deny"]);
  assert.match(shell("cat <.env").reason, /does not see \.env: read it with read_file/);
});
