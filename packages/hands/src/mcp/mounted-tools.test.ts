import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import type { OrderPlan } from "@vidro/core";
import { printable } from "@vidro/core/text";
import { readProcessStat } from "../exec/proc.ts";
import { contextIn, executionOf, scratch } from "../scratch.fixture.ts";
import type { HandTool } from "../tools/tool.ts";
import { mountServers } from "./mounted-tools.ts";

/** A server on stdio: its file says its tools, and what a call does. Each start adds its pid to a file beside it. */
const SERVER = `
  const { appendFileSync, readFileSync } = require("node:fs");
  const file = process.argv[1];
  appendFileSync(file + ".starts", process.pid + "\\n");
  const said = () => JSON.parse(readFileSync(file, "utf8"));
  const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === "tools/call") send({ method: "notifications/tools/list_changed" });
    if (method === "initialize")
      send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s" } } });
    else if (method === "tools/list") send({ id, result: { tools: said().tools } });
    else if (method === "tools/call" && params.name === "exit") process.exit(0);
    else if (method === "tools/call") send({ id, result: { content: [{ type: "text", text: JSON.stringify(params) }] } });
    else if (id !== undefined) send({ id, error: { code: -32601, message: "no" } });
  });
`;

const tool = (name: string, more: object = {}): object => ({
  name,
  description: "d",
  inputSchema: { type: "object", properties: {} },
  ...more,
});

/** A hand's mounts of one server with these tools. */
async function mount(t: TestContext, tools: readonly object[], effects: { readonly [tool: string]: string } = {}) {
  const folder = scratch(t);
  const context = contextIn(folder);
  const file = join(folder, "tools.json");
  const define = (now: readonly object[]): void => writeFileSync(file, JSON.stringify({ tools: now }));
  define(tools);
  const args = ["-e", SERVER, file];
  const mcpServers = { s: { command: process.execPath, args, effects } };
  writeFileSync(join(folder, "mcp.json"), JSON.stringify({ mcpServers }));
  const notes: string[] = [];
  const open = () =>
    mountServers({
      ...context,
      file: join(folder, "mcp.json"),
      variables: {},
      version: "1",
      note: (text: string) => void notes.push(text),
    });
  const mounted = await open();
  t.after(() => mounted.close());
  const starts = (): readonly number[] => readFileSync(`${file}.starts`, "utf8").trim().split("\n").map(Number);
  const named = (name: string): HandTool => {
    const found = mounted.tools.find((one) => one.name === name);
    assert.ok(found !== undefined, `${name} is among ${mounted.tools.map((one) => one.name).join(", ")}`);
    return found;
  };
  const planOf = async (name: string): Promise<OrderPlan> => (await named(name).plan({}, context)) as OrderPlan;
  const run = async (name: string, plan: OrderPlan) => named(name).run({}, executionOf(context, plan));
  return {
    tools: mounted.tools,
    close: () => mounted.close(),
    define,
    notes,
    starts,
    named,
    planOf,
    run,
    open,
    context,
  };
}

describe("the tools of a mounted server", () => {
  it("have the effects that the host declares and else may write, whatever a server calls them", async (t) => {
    const names = ["read", "write", "constructor", "__proto__", "toString", "hasOwnProperty", "valueOf"];
    const { tools } = await mount(
      t,
      names.map((name) => tool(name, { annotations: { readOnlyHint: true } })),
      { read: "read" },
    );
    assert.deepEqual(
      tools.map(({ name, effect, idempotent }) => [name, effect, idempotent]),
      names.map((name) => [`s__${name}`, name === "read" ? "read" : "write", name === "read"]),
    );
  });

  it("are left out with a note where a model could not call them, or could be misled", async (t) => {
    const hidden = { inputSchema: { type: "object", properties: { x: { description: "\u200b\u2066hidden" } } } };
    const { tools, notes } = await mount(t, [
      tool("fine"),
      tool("a.b"),
      tool("a_b"),
      tool("x".repeat(100)),
      tool("hidden", hidden),
    ]);
    assert.deepEqual(
      tools.map(({ name }) => name),
      ["s__fine", "s__a_b"],
    );
    assert.equal(notes.length, 3);
    assert.match(notes.join("\n"), /another tool has its name/);
    assert.match(notes.join("\n"), /no model takes its name/);
    assert.match(notes.join("\n"), /cannot be seen/);
  });

  it("are described on one line, in the server's name", async (t) => {
    const { named } = await mount(t, [tool("t", { description: "one\ntwo\u001b[2J\u202ethree" })]);
    const { description } = named("s__t");
    assert.match(description, /^Of the MCP server s, which says of it: one two/);
    assert.equal(description, printable(description).replaceAll("\n", " "));
  });

  it("run as they were planned, and not when their definition has changed since", async (t) => {
    const { planOf, run, define } = await mount(t, [tool("t")]);
    const plan = await planOf("s__t");
    assert.equal(plan.changed, undefined);
    const outcome = await run("s__t", plan);
    assert.ok(outcome.kind === "value" && outcome.text.includes('"name":"t"'));
    define([tool("t", { description: "another" })]);
    await assert.rejects(run("s__t", plan), { code: "PLAN_CHANGED" });
    const next = await planOf("s__t");
    assert.equal(next.changed, true);
    assert.notEqual(next.definition, plan.definition);
    // A person has seen the change and said yes: from now on it is the one that is known.
    await run("s__t", next);
    assert.equal((await planOf("s__t")).changed, undefined);
  });

  it("are known again by their definitions at the next start, and a change meanwhile is told", async (t) => {
    const { planOf, open, define, context, close } = await mount(t, [tool("t"), tool("u")]);
    assert.equal((await planOf("s__t")).changed, undefined);
    await close();
    define([tool("t", { inputSchema: { type: "object", properties: { more: {} } } }), tool("u")]);
    const again = await open();
    t.after(() => again.close());
    const changed = await Promise.all(
      again.tools.map(async (one) => ((await one.plan({}, context)) as OrderPlan).changed),
    );
    assert.deepEqual(changed, [true, undefined]);
  });

  it("that a server no longer has are a failure that says so", async (t) => {
    const { planOf, run, define } = await mount(t, [tool("t"), tool("u")]);
    const plan = await planOf("s__t");
    await run("s__t", plan);
    define([tool("u")]);
    await assert.rejects(planOf("s__t"), { code: "TOOL_FAILED", message: /no longer has the tool t/ });
  });
});

describe("a server that has ended", () => {
  it("is started once by calls that come at once, and all that was started is ended at the close", async (t) => {
    const { planOf, run, starts, close } = await mount(t, [tool("t"), tool("exit")]);
    const plan = await planOf("s__t");
    await assert.rejects(run("s__exit", await planOf("s__exit")), { code: "OUTCOME_UNKNOWN" });
    const outcomes = await Promise.all([1, 2, 3, 4].map(() => run("s__t", plan)));
    assert.equal(outcomes.length, 4);
    assert.equal(starts().length, 2);
    await close();
    for (const pid of starts()) assert.equal(readProcessStat(pid), undefined, `${pid} has ended`);
  });

  it("and cannot be started leaves the hand without its tools, and says why", async (t) => {
    const folder = scratch(t);
    const context = contextIn(folder);
    const file = join(folder, "mcp.json");
    writeFileSync(file, JSON.stringify({ mcpServers: { gone: { command: "/nonexistent/server" } } }));
    const notes: string[] = [];
    const note = (text: string): void => void notes.push(text);
    const mounted = await mountServers({ ...context, file, variables: {}, version: "1", note });
    assert.deepEqual(mounted.tools, []);
    assert.match(notes.join(), /gone/);
    await mounted.close();
  });
});
