import assert from "node:assert/strict";
import { chmodSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it, type TestContext } from "node:test";
import type { ProcessPlan, ShellPlan } from "@vidro/core";
import { ClosedPaths, isClosedToOthers } from "../exec/sandbox/closed-paths.ts";
import { findSecretTwins, ForeignLinks } from "../exec/sandbox/foreign-links.ts";
import { scratch } from "../scratch.fixture.ts";
import { findOwnFolders, judgeOwnState } from "./own-state.ts";

/** A workspace beside a state folder, and judgements of lines in it. */
function ground(t: TestContext) {
  const root = scratch(t);
  const [workspace, state] = [join(root, "work"), join(root, "state")];
  for (const folder of [workspace, join(state, "keys")]) mkdirSync(folder, { recursive: true });
  const places = { workspace, folders: [state] };
  const base = { cwd: workspace, env: {}, timeoutMs: 1000 };
  const line = (command: string, more: Partial<ShellPlan> = {}) =>
    judgeOwnState({ kind: "shell", command, ...base, access: "host", sandboxed: false, ...more }, places);
  const program = (argv: readonly string[], more: Partial<ProcessPlan> = {}) =>
    judgeOwnState({ kind: "process", program: `/usr/bin/${argv[0]}`, argv, ...base, digests: {}, ...more }, places);
  return { root, workspace, state, line, program };
}

describe("a plan that names Vidro's own state", () => {
  it("is denied in every way of writing the name", (t) => {
    const { state, line, program, workspace } = ground(t);
    for (const command of [
      `cat ${state}/keys/a`,
      `cat '${state}/keys/a'`,
      `cat <${state}/keys/a`,
      `cp --target-directory=${state} x`,
      `x=${state}; ls`,
      `tar cf - ../state`,
      `cat ../work/../state/keys/a`,
      `cat ${state}//keys`,
      `grep -r x ..//state/`,
      `(ls ${state})`,
      `echo \`ls ${state}\``,
    ])
      assert.equal(line(command)?.decision, "deny", command);
    assert.equal(program(["cat", `${state}/keys/a`])?.decision, "deny");
    assert.equal(program(["cat", "../state/keys/a"])?.decision, "deny");
    assert.equal(program(["dd", `if=${state}/keys/a`])?.decision, "deny");
    symlinkSync(state, join(workspace, "link"));
    assert.equal(line("ls link/keys")?.decision, "deny");
    const { reason, rule } = line(`cat ${state}/keys/a`) ?? {};
    assert.equal(rule, "own-state");
    assert.match(reason ?? "", /Vidro's own state is never given out or changed/);
  });

  it("is denied when it works in the state, or runs a program from it", (t) => {
    const { state, line, program } = ground(t);
    assert.equal(line("ls", { cwd: state })?.decision, "deny");
    assert.equal(program(["x"], { program: join(state, "x") })?.decision, "deny");
  });

  it("is denied when it renames or removes a folder that holds the state", (t) => {
    const { root, line, program } = ground(t);
    for (const command of [`mv ${root} /elsewhere`, "mv .. /elsewhere", `rm -rf ${root}`, "rm -r ..", `rmdir ${root}`])
      assert.equal(line(command)?.decision, "deny", command);
    assert.equal(program(["mv", root, "/elsewhere"])?.decision, "deny");
  });

  it("is not denied for names that only begin alike, or for anything else", (t) => {
    const { state, line, program, root } = ground(t);
    mkdirSync(`${state}-of-things`);
    for (const command of [`cat ${state}-of-things/a`, "ls", "ls ..", `ls ${root}/work`, "mv a b", "rm -rf build"])
      assert.equal(line(command), undefined, command);
    assert.equal(program(["ls", "-l"]), undefined);
  });

  it("is not denied where a sandbox holds it, since the state is not there", (t) => {
    const { state, line, program } = ground(t);
    assert.equal(line(`cat ${state}/keys/a`, { sandboxed: true }), undefined);
    assert.equal(program(["cat", `${state}/keys/a`], { confined: "files" }), undefined);
  });

  it("is denied for the home of the user in all its names", (t) => {
    const { workspace } = ground(t);
    const folders = [join(homedir(), ".local/state/vidro")];
    for (const command of [
      "ls ~/.local/state/vidro",
      "ls $HOME/.local/state/vidro/x",
      "ls ${HOME}/.local/state/vidro",
    ]) {
      const plan = {
        kind: "shell",
        command,
        cwd: workspace,
        env: {},
        timeoutMs: 1,
        access: "host",
        sandboxed: false,
      } as const;
      assert.equal(judgeOwnState(plan, { workspace, folders })?.decision, "deny", command);
    }
  });

  it("is not denied for a workspace that lies in the state, as far as the workspace goes", (t) => {
    const { state } = ground(t);
    const workspace = join(state, "spaces", "a");
    mkdirSync(workspace, { recursive: true });
    const judge = (command: string) =>
      judgeOwnState(
        { kind: "shell", command, cwd: workspace, env: {}, timeoutMs: 1, access: "host", sandboxed: false },
        { workspace, folders: [state] },
      );
    assert.equal(judge("ls ."), undefined);
    assert.equal(judge("cat ../../keys/a")?.decision, "deny");
  });

  it("is judged only where it runs a program: other plans have their own rules", (t) => {
    const { workspace, state } = ground(t);
    const plan = { kind: "file", operation: "read", path: state, inWorkspace: false } as const;
    assert.equal(judgeOwnState(plan, { workspace, folders: [state] }), undefined);
  });
});

describe("the folders of Vidro on a host", () => {
  it("include the given one and those that a running process has open", (t) => {
    const { state } = ground(t);
    const other = scratch(t);
    writeFileSync(join(other, "audit-key"), "");
    const database = new DatabaseSync(join(other, "journal.db"));
    database.exec("CREATE TABLE a (b)");
    t.after(() => database.close());
    const folders = findOwnFolders(state);
    assert.ok(folders.includes(state));
    assert.ok(folders.includes(other), folders.join(" "));
  });
});

describe("files that only this process may read", () => {
  it("are closed by their own mode, or by that of a folder above", (t) => {
    const root = scratch(t);
    chmodSync(root, 0o755);
    mkdirSync(join(root, "shut"));
    for (const [name, mode] of [
      ["open", 0o644],
      ["own", 0o600],
      ["shut/open", 0o644],
    ] as const) {
      writeFileSync(join(root, name), "");
      chmodSync(join(root, name), mode);
    }
    chmodSync(join(root, "shut"), 0o700);
    assert.equal(isClosedToOthers(join(root, "own")), true);
    assert.equal(isClosedToOthers(join(root, "shut", "open")), true);
    assert.equal(isClosedToOthers(join(root, "missing")), false);
    const closed = new ClosedPaths().below(root);
    assert.deepEqual([...closed].sort(), [join(root, "own"), join(root, "shut")]);
    assert.deepEqual(new ClosedPaths().below(join(root, "missing")), []);
  });

  it("are found again after a folder has changed", (t) => {
    const root = scratch(t);
    const paths = new ClosedPaths();
    assert.deepEqual(paths.below(root), []);
    writeFileSync(join(root, "own"), "", { mode: 0o600 });
    assert.deepEqual(paths.below(root), [join(root, "own")]);
  });
});

describe("hard links out of a workspace", () => {
  it("are foreign when another name lies outside, and not when all names are inside", async (t) => {
    const root = scratch(t);
    const work = join(root, "work");
    mkdirSync(work);
    for (const name of ["out", "work/a"]) writeFileSync(join(root, name), "");
    linkSync(join(root, "out"), join(work, "leak"));
    linkSync(join(work, "a"), join(work, "b"));
    const { foreign } = await new ForeignLinks().below(work);
    assert.deepEqual(foreign, [join(work, "leak")]);
  });

  it("to a secret are found under each of their names", () => {
    const file = (path: string, identity: string) => ({ path, identity, names: 2, owner: 0, isOpen: true });
    const linked = [file("/w/.env", "1"), file("/w/copy", "1"), file("/w/x", "2"), file("/w/y", "2")];
    assert.deepEqual(findSecretTwins(linked, ["/w/.env"]), ["/w/.env", "/w/copy"]);
    assert.deepEqual(findSecretTwins(linked, []), []);
  });
});
