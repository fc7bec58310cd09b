import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { ProcessOutcome, ShellPlan } from "@vidro/core";
import { hostSandbox } from "../exec/sandbox.ts";
import { benchIn, scratch, workOn } from "../scratch.fixture.ts";
import { shell } from "./shell.ts";
import type { Bench } from "./tool.ts";

async function run(input: Parameters<typeof shell.plan>[0], bench: Bench): Promise<ProcessOutcome> {
  const outcome = await shell.run(input, workOn<ShellPlan>(bench, await shell.plan(input, bench)));
  assert.ok(outcome.kind === "process");
  return outcome;
}

describe("shell", () => {
  it("understands pipes, variables and the folder it is told", async (t) => {
    const bench = benchIn(scratch(t));
    mkdirSync(join(bench.workspace, "sub"));
    const outcome = await run({ command: "x=3; echo $x | tr 3 4; pwd", dir_path: "sub" }, bench);
    assert.equal(outcome.stdout.text, `4\n${bench.workspace}/sub\n`);
  });

  it("plans as the host's unless a sandbox holds it", async (t) => {
    const bench = benchIn(scratch(t));
    const sandboxed = { ...bench, sandbox: hostSandbox };
    const facts = async (input: Parameters<typeof shell.plan>[0], on: Bench) => {
      const plan = await shell.plan(input, on);
      return [plan.access, plan.sandboxed];
    };
    assert.deepEqual(await facts({ command: "ls" }, sandboxed), ["host", false]);
    assert.deepEqual(await facts({ command: "ls", access: "read" }, sandboxed), ["read", true]);
    assert.deepEqual(await facts({ command: "ls", access: "read" }, bench), ["read", false]);
  });

  it("does not run without the sandbox that its plan counts on", async (t) => {
    const bench = benchIn(scratch(t));
    const input = { command: "echo x > mark", access: "read" } as const;
    const plan = await shell.plan(input, { ...bench, sandbox: hostSandbox });
    await assert.rejects(shell.run(input, workOn<ShellPlan>(bench, plan)), { code: "PLAN_CHANGED" });
    assert.ok(!existsSync(join(bench.workspace, "mark")));
  });

  it("is held to its access by the sandbox", async (t) => {
    const bench = { ...benchIn(scratch(t)), sandbox: hostSandbox };
    const file = join(bench.workspace, "file");
    writeFileSync(file, "old");
    assert.notEqual((await run({ command: "echo new > file", access: "read" }, bench)).exitCode, 0);
    const outside = join(bench.workspace, "../outside");
    assert.equal(
      (await run({ command: `echo new > file; echo x > ${outside}`, access: "workspace" }, bench)).exitCode,
      0,
    );
    assert.equal((await run({ command: "cat file", access: "read" }, bench)).stdout.text, "new\n");
    assert.ok(!existsSync(outside), "a folder beside the workspace is its private /tmp");
  });

  it("ends a sandboxed tree when time is up", async (t) => {
    const bench = { ...benchIn(scratch(t)), sandbox: hostSandbox };
    const outcome = await run({ command: "setsid -f sleep 1010; sleep 1011", access: "read", timeout_ms: 200 }, bench);
    assert.equal(outcome.timedOut, true);
    assert.ok(outcome.durationMs < 3000, `${outcome.durationMs} ms`);
  });
});
