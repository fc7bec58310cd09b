import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import os from "node:os";
import { describe, it } from "node:test";
import type { FactsPlan, ValueOutcome } from "@vidro/core";
import { isObject } from "@vidro/core";
import { contextIn, scratch, executionOf } from "../scratch.fixture.ts";
import { osInfoTool } from "./os-info.ts";
import { processesTool } from "./processes.ts";
import type { HandContext, ToolInput, ToolInputSchema, HandTool } from "./tool.ts";

async function facts<S extends ToolInputSchema>(
  tool: HandTool<S, FactsPlan>,
  input: ToolInput<S>,
  context: HandContext,
): Promise<ValueOutcome> {
  const outcome = await tool.run(input, executionOf(context, await tool.plan(input, context)));
  assert.ok(outcome.kind === "value");
  return outcome;
}

describe("os_info", () => {
  it("tells the machine's facts in words and as data", async (t) => {
    const context = contextIn(scratch(t));
    const { text, data } = await facts(osInfoTool, {}, context);
    assert.ok(isObject(data));
    assert.equal(data["hostname"], os.hostname());
    assert.equal(data["workspace"], context.workspace);
    assert.ok(Number(data["memory_available_mib"]) <= Number(data["memory_total_mib"]));
    assert.ok(Number(data["disk_total_mib"]) > 0);
    assert.match(text, /^hostname: .+\nsystem: .+$/mu);
  });
});

describe("processes", () => {
  it("lists by the order and number asked for", async (t) => {
    const context = contextIn(scratch(t));
    const { data, text } = await facts(processesTool, { limit: 3, sort_by: "pid" }, context);
    assert.ok(isObject(data) && Array.isArray(data["processes"]));
    const pids = data["processes"].map((row) => (isObject(row) ? Number(row["pid"]) : 0));
    assert.equal(pids.length, 3);
    assert.deepEqual(
      pids,
      pids.toSorted((a, b) => a - b),
    );
    assert.match(text, /\[3 of \d+ shown, \d+ in all\]$/u);
  });

  it("takes a pattern as plain text", async (t) => {
    const context = contextIn(scratch(t));
    const child = spawn("/bin/sleep", ["1012.5"], { stdio: "ignore" });
    t.after(() => child.kill("SIGKILL"));
    await once(child, "spawn");
    const { data } = await facts(processesTool, { name_pattern: "SLEEP 1012.5" }, context);
    assert.ok(isObject(data));
    assert.equal(data["total"], 1);
    const none = await facts(processesTool, { name_pattern: "sleep.1012.5" }, context);
    assert.ok(isObject(none.data));
    assert.equal(none.data["total"], 0);
  });
});
