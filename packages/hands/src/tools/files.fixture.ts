import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { HAND_LIMITS } from "@vidro/core";
import type { FilePlan, ValueOutcome } from "@vidro/core";
import { BackgroundProcesses } from "../background/background-processes.ts";
import { policyOf } from "../scratch.fixture.ts";
import type { HandContext, ToolInput, ToolInputSchema, HandTool, ToolExecution } from "./tool.ts";

/** A workspace with a few files, a folder outside of it, and a hand's state inside; gone when the test ends. */
export interface Scratch {
  readonly context: HandContext;
  /** A folder whose name begins like the workspace's. */
  readonly outside: string;
  /** The absolute path of a name in the workspace. */
  readonly at: (name: string) => string;
  /** The text of a file in the workspace. */
  readonly text: (name: string) => string;
  /** The names in a folder of the workspace, so that a temporary file left behind is seen. */
  readonly names: (folder?: string) => string[];
  /** Plans and runs a tool. */
  readonly use: <S extends ToolInputSchema>(tool: HandTool<S, FilePlan>, input: ToolInput<S>) => Promise<ValueOutcome>;
  /** Runs a tool under a plan that was made before. */
  readonly run: <S extends ToolInputSchema>(
    tool: HandTool<S, FilePlan>,
    input: ToolInput<S>,
    plan: FilePlan,
  ) => Promise<ValueOutcome>;
}

/** Makes a scratch workspace with the given files. */
export function scratch(t: TestContext, files: { readonly [name: string]: string | Uint8Array } = {}): Scratch {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "vidro-files-")));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const workspace = join(root, "work");
  const outside = join(root, "work-evil");
  const state = join(workspace, ".state");
  const judge: HandContext["judge"] = (plan) => policyOf("allow").judge(plan);
  const context: HandContext = {
    workspace,
    state,
    reserved: () => [state],
    memoryBytes: () => HAND_LIMITS.treeBytes,
    privateHosts: () => [],
    sandbox: async () => undefined,
    secrets: () => undefined,
    background: new BackgroundProcesses(() => state),
    env: {},
    judge,
  };
  for (const folder of [workspace, outside, context.state]) mkdirSync(folder);
  writeFileSync(join(context.state, "ledger.db"), "needle in the state");
  writeFileSync(join(outside, "secret.txt"), "secret");
  const at = (name: string) => join(workspace, name);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), content);
  }
  const run: Scratch["run"] = async (tool, input, plan) => {
    const outcome = await tool.run(input, executionOf(plan, context));
    if (outcome.kind !== "value") throw new Error(`${tool.name} gave a ${outcome.kind} outcome`);
    return outcome;
  };
  return {
    context,
    outside,
    at,
    text: (name) => readFileSync(at(name), "utf8"),
    names: (folder = ".") => readdirSync(at(folder)).sort(),
    use: async (tool, input) => await run(tool, input, await tool.plan(input, context)),
    run,
  };
}

/** A context for executing a plan without an output listener. */
export function executionOf(
  plan: FilePlan,
  context: HandContext,
  signal = new AbortController().signal,
): ToolExecution<FilePlan> {
  return {
    plan,
    context,
    action: "act_1",
    run: "run_1",
    spool: join(context.state, "spool"),
    signal,
    output: () => undefined,
  };
}
