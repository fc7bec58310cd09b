import assert from "node:assert/strict";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { contextIn, scratch, executionOf } from "../scratch.fixture.ts";
import { commandTool } from "./command.ts";

describe("command", () => {
  it("freezes the real program, the words as they are, and runs exactly that", async (t) => {
    const context = contextIn(scratch(t));
    const bin = join(context.workspace, "bin");
    mkdirSync(bin);
    const script = join(context.workspace, "real.sh");
    writeFileSync(script, '#!/bin/sh\necho "$@"\n');
    chmodSync(script, 0o755);
    symlinkSync(script, join(bin, "greet"));
    const on = { ...context, env: { PATH: `/nonexistent:${bin}:/usr/bin:/bin` } };
    const input = { command: "greet", args: ["*", "$HOME", "a b"] };
    const plan = await commandTool.plan(input, on);
    assert.equal(plan.program, script);
    assert.deepEqual(plan.argv, ["greet", "*", "$HOME", "a b"]);
    assert.equal(plan.cwd, context.workspace);
    assert.deepEqual(Object.keys(plan.digests), [script]);
    const outcome = await commandTool.run(input, executionOf(on, plan));
    assert.equal(outcome.kind === "process" && outcome.stdout.text, "* $HOME a b\n");
  });

  it("calls a program by the name it was asked for", async (t) => {
    const context = contextIn(scratch(t));
    symlinkSync("/bin/bash", join(context.workspace, "other-name"));
    const input = { command: "./other-name", args: ["-c", "echo $0"] };
    const outcome = await commandTool.run(input, executionOf(context, await commandTool.plan(input, context)));
    assert.equal(outcome.kind === "process" && outcome.stdout.text, "./other-name\n");
  });

  it("fingerprints scripts and what interpreters are given, and no mere data", async (t) => {
    const context = contextIn(scratch(t));
    for (const [name, text] of [
      ["data.log", "x"],
      ["job.py", "print(1)"],
      ["tool", "#!/bin/sh\n"],
    ] as const) {
      writeFileSync(join(context.workspace, name), text);
    }
    const digested = async (program: string, ...args: string[]) =>
      Object.keys((await commandTool.plan({ command: program, args }, context)).digests).map((path) =>
        path.slice(context.workspace.length + 1),
      );
    assert.deepEqual(await digested("cat", "data.log", "--", "job.py", "missing"), []);
    assert.deepEqual(await digested("cat", "tool"), ["tool"]);
    assert.deepEqual(await digested("sh", "-x", "job.py"), ["job.py"]);
    assert.deepEqual(await digested("env", "A=1", "--chdir=.", "./job.py"), ["job.py"]);
    assert.deepEqual(await digested("awk", "--file=job.py", "data.log"), ["job.py", "data.log"]);
  });

  it("changes its plan when a script changes", async (t) => {
    const context = contextIn(scratch(t));
    const script = join(context.workspace, "job.sh");
    const plan = () => commandTool.plan({ command: "sh", args: ["job.sh"] }, context);
    writeFileSync(script, "echo one");
    const before = await plan();
    writeFileSync(script, "echo two");
    assert.notDeepEqual(await plan(), before);
  });

  it("finds no folder and no file that may not be executed", async (t) => {
    const context = contextIn(scratch(t));
    writeFileSync(join(context.workspace, "plain"), "x");
    for (const word of ["./plain", "./", "/etc", "./missing"]) {
      await assert.rejects(commandTool.plan({ command: word }, context), { code: "BAD_ARGUMENTS" }, word);
    }
    await assert.rejects(commandTool.plan({ command: "ls", cwd: "plain" }, context), {
      message: /plain is not a folder/u,
    });
  });
});
