import assert from "node:assert/strict";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { benchIn, scratch, workOn } from "../scratch.fixture.ts";
import { command } from "./command.ts";

describe("command", () => {
  it("freezes the real program, the words as they are, and runs exactly that", async (t) => {
    const bench = benchIn(scratch(t));
    const bin = join(bench.workspace, "bin");
    mkdirSync(bin);
    const script = join(bench.workspace, "real.sh");
    writeFileSync(script, '#!/bin/sh\necho "$@"\n');
    chmodSync(script, 0o755);
    symlinkSync(script, join(bin, "greet"));
    const on = { ...bench, env: { PATH: `/nonexistent:${bin}:/usr/bin:/bin` } };
    const input = { command: "greet", args: ["*", "$HOME", "a b"] };
    const plan = await command.plan(input, on);
    assert.equal(plan.program, script);
    assert.deepEqual(plan.argv, ["greet", "*", "$HOME", "a b"]);
    assert.equal(plan.cwd, bench.workspace);
    assert.deepEqual(Object.keys(plan.digests), [script]);
    const outcome = await command.run(input, workOn(on, plan));
    assert.equal(outcome.kind === "process" && outcome.stdout.text, "* $HOME a b\n");
  });

  it("calls a program by the name it was asked for", async (t) => {
    const bench = benchIn(scratch(t));
    symlinkSync("/bin/bash", join(bench.workspace, "other-name"));
    const input = { command: "./other-name", args: ["-c", "echo $0"] };
    const outcome = await command.run(input, workOn(bench, await command.plan(input, bench)));
    assert.equal(outcome.kind === "process" && outcome.stdout.text, "./other-name\n");
  });

  it("fingerprints scripts and what interpreters are given, and no mere data", async (t) => {
    const bench = benchIn(scratch(t));
    for (const [name, text] of [
      ["data.log", "x"],
      ["job.py", "print(1)"],
      ["tool", "#!/bin/sh\n"],
    ] as const) {
      writeFileSync(join(bench.workspace, name), text);
    }
    const digested = async (program: string, ...args: string[]) =>
      Object.keys((await command.plan({ command: program, args }, bench)).digests).map((path) =>
        path.slice(bench.workspace.length + 1),
      );
    assert.deepEqual(await digested("cat", "data.log", "--", "job.py", "missing"), []);
    assert.deepEqual(await digested("cat", "tool"), ["tool"]);
    assert.deepEqual(await digested("sh", "-x", "job.py"), ["job.py"]);
    assert.deepEqual(await digested("env", "A=1", "--chdir=.", "./job.py"), ["job.py"]);
    assert.deepEqual(await digested("awk", "--file=job.py", "data.log"), ["job.py", "data.log"]);
  });

  it("changes its plan when a script changes", async (t) => {
    const bench = benchIn(scratch(t));
    const script = join(bench.workspace, "job.sh");
    const plan = () => command.plan({ command: "sh", args: ["job.sh"] }, bench);
    writeFileSync(script, "echo one");
    const before = await plan();
    writeFileSync(script, "echo two");
    assert.notDeepEqual(await plan(), before);
  });

  it("finds no folder and no file that may not be executed", async (t) => {
    const bench = benchIn(scratch(t));
    writeFileSync(join(bench.workspace, "plain"), "x");
    for (const word of ["./plain", "./", "/etc", "./missing"]) {
      await assert.rejects(command.plan({ command: word }, bench), { code: "BAD_ARGUMENTS" }, word);
    }
    await assert.rejects(command.plan({ command: "ls", cwd: "plain" }, bench), { message: /plain is not a folder/u });
  });
});
