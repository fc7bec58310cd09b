import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { ProcessOutcome, ShellPlan } from "@vidro/core";
import { findHostSandbox } from "../exec/sandbox.ts";
import { contextIn, scratch, executionOf } from "../scratch.fixture.ts";
import { shellTool } from "./shell.ts";
import type { HandContext } from "./tool.ts";

async function run(input: Parameters<typeof shellTool.plan>[0], context: HandContext): Promise<ProcessOutcome> {
  const outcome = await shellTool.run(input, executionOf<ShellPlan>(context, await shellTool.plan(input, context)));
  assert.ok(outcome.kind === "process");
  return outcome;
}

describe("shell", () => {
  it("understands pipes, variables and the folder it is told", async (t) => {
    const context = contextIn(scratch(t));
    mkdirSync(join(context.workspace, "sub"));
    const outcome = await run({ command: "x=3; echo $x | tr 3 4; pwd", dir_path: "sub" }, context);
    assert.equal(outcome.stdout.text, `4\n${context.workspace}/sub\n`);
  });

  it("plans as the host's unless a sandbox holds it", async (t) => {
    const context = contextIn(scratch(t));
    const sandboxed = { ...context, sandbox: findHostSandbox };
    const facts = async (input: Parameters<typeof shellTool.plan>[0], on: HandContext) => {
      const plan = await shellTool.plan(input, on);
      return [plan.access, plan.sandboxed];
    };
    assert.deepEqual(await facts({ command: "ls" }, sandboxed), ["host", false]);
    assert.deepEqual(await facts({ command: "ls", access: "read" }, sandboxed), ["read", true]);
    assert.deepEqual(await facts({ command: "ls", access: "read" }, context), ["read", false]);
  });

  it("does not run without the sandbox that its plan counts on", async (t) => {
    const context = contextIn(scratch(t));
    const input = { command: "echo x > mark", access: "read" } as const;
    const plan = await shellTool.plan(input, { ...context, sandbox: findHostSandbox });
    await assert.rejects(shellTool.run(input, executionOf<ShellPlan>(context, plan)), { code: "PLAN_CHANGED" });
    assert.ok(!existsSync(join(context.workspace, "mark")));
  });

  it("is held to its access by the sandbox", async (t) => {
    const context = { ...contextIn(scratch(t)), sandbox: findHostSandbox };
    const file = join(context.workspace, "file");
    writeFileSync(file, "old");
    assert.notEqual((await run({ command: "echo new > file", access: "read" }, context)).exitCode, 0);
    const outside = join(context.workspace, "../outside");
    assert.equal(
      (await run({ command: `echo new > file; echo x > ${outside}`, access: "workspace" }, context)).exitCode,
      0,
    );
    assert.equal((await run({ command: "cat file", access: "read" }, context)).stdout.text, "new\n");
    assert.ok(!existsSync(outside), "a folder beside the workspace is its private /tmp");
  });

  it("ends a sandboxed tree when time is up", async (t) => {
    const context = { ...contextIn(scratch(t)), sandbox: findHostSandbox };
    const outcome = await run(
      { command: "setsid -f sleep 1010; sleep 1011", access: "read", timeout_ms: 200 },
      context,
    );
    assert.equal(outcome.timedOut, true);
    assert.ok(outcome.durationMs < 3000, `${outcome.durationMs} ms`);
  });
});
