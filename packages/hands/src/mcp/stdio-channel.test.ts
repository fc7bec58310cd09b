import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { MOUNT_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { scratch } from "../scratch.fixture.ts";
import type { ServerChannel } from "./channel.ts";
import { openStdioChannel } from "./stdio-channel.ts";

/** Beginning of every server here: `on(message)` gets what comes in, `send(value)` writes a line. */
const PRELUDE = `
const send = (value) => process.stdout.write((typeof value === "string" ? value : JSON.stringify(value)) + "\\n");
const answer = (id, result) => send({ jsonrpc: "2.0", id, result });
let buffer = "";
process.stdin.setEncoding("utf8").on("data", (chunk) => {
  buffer += chunk;
  const lines = buffer.split("\\n");
  buffer = lines.pop();
  for (const line of lines) on(JSON.parse(line));
});
`;

/** A server whose script defines \`on\`, until the test is over. */
async function open(t: TestContext, script: string, env: { readonly [name: string]: string } = {}) {
  const workspace = scratch(t);
  const server = { name: "s", effects: new Map(), command: process.execPath, args: ["-e", PRELUDE + script], env };
  const channel = await openStdioChannel(server, { workspace, env: { PATH: process.env["PATH"] ?? "" } });
  t.after(() => channel.close());
  return { channel, workspace };
}

function ask(channel: ServerChannel, params: JsonObject = {}, signal = new AbortController().signal) {
  return channel.ask({ method: "tools/call", params, signal });
}

const ECHO = "const on = ({ id, params }) => id === undefined || answer(id, { params });";

describe("a channel to a program", () => {
  it("answers each request with the answer that has its id, in whatever order they come", async (t) => {
    const { channel } = await open(
      t,
      `const waiting = [];
       const on = ({ id, params }) => {
         waiting.push({ id, params });
         if (waiting.length === 3) for (const each of waiting.reverse()) answer(each.id, each.params);
       };`,
    );
    const answers = await Promise.all([1, 2, 3].map((n) => ask(channel, { n })));
    assert.deepEqual(answers, [{ n: 1 }, { n: 2 }, { n: 3 }]);
    assert.equal(channel.isOpen, true);
  });

  it("is started in the workspace, with the environment that it is given and no other", async (t) => {
    const { channel, workspace } = await open(
      t,
      "const on = ({ id }) => answer(id, { cwd: process.cwd(), env: Object.keys(process.env).sort() });",
      { MODE: "ro" },
    );
    const { cwd, env } = await ask(channel);
    assert.equal(cwd, workspace);
    assert.deepEqual(
      (env as string[]).filter((name) => !name.startsWith("_")),
      ["MODE", "PATH"],
    );
  });

  it("passes over lines that are no messages", async (t) => {
    const { channel } = await open(
      t,
      `send("Welcome to the server"); send("{"); send({ jsonrpc: "1.0" }); send("[]"); ${ECHO}`,
    );
    assert.deepEqual(await ask(channel, { a: "é😀" }), { params: { a: "é😀" } });
  });

  it("gives the server's own error with its code", async (t) => {
    const { channel } = await open(
      t,
      `const on = ({ id }) => send({ jsonrpc: "2.0", id, error: { code: -32602, message: "no such tool" } });`,
    );
    await assert.rejects(ask(channel), {
      code: "TOOL_FAILED",
      message: "The server s refuses: no such tool",
      detail: { rpc: -32_602 },
    });
    assert.equal(channel.isOpen, true);
  });

  it("says that an outcome is unknown when the server ends during a call, with what it wrote to stderr", async (t) => {
    const { channel } = await open(
      t,
      `const on = () => { process.stderr.write("out of\\nmemory\\n", () => process.exit(3)); };`,
    );
    await assert.rejects(ask(channel), (thrown: { code: string; message: string }) => {
      assert.equal(thrown.code, "OUTCOME_UNKNOWN");
      assert.match(thrown.message, /^The server s ended \(exit code 3: out of.*memory\); the call may have had/);
      return true;
    });
    assert.equal(channel.isOpen, false);
    await assert.rejects(ask(channel), { code: "TOOL_FAILED" });
  });

  it("says which program cannot be started, without leaving a call in doubt", async (t) => {
    const server = { name: "s", effects: new Map(), command: "/no/such/program", args: [], env: {} };
    await assert.rejects(openStdioChannel(server, { workspace: scratch(t), env: {} }), (thrown: Error) => {
      assert.equal((thrown as { code?: string }).code, "TOOL_FAILED");
      assert.match(thrown.message, /The server s cannot be started: .*ENOENT/);
      return true;
    });
  });

  it("tells the server when a call is stopped, and takes its late answer for no other call", async (t) => {
    const { channel } = await open(
      t,
      `let first;
       const on = ({ id, method, params }) => {
         if (method === "notifications/cancelled") { answer(first, { late: true }); answer(params.requestId + 1, params); }
         else first ??= id;
       };`,
    );
    const stop = new AbortController();
    const [stopped, next] = [ask(channel, {}, stop.signal), ask(channel)];
    stop.abort();
    await assert.rejects(stopped, { code: "OUTCOME_UNKNOWN" });
    assert.deepEqual(await next, { requestId: 1, reason: "The action was stopped." });
    await assert.rejects(ask(channel, {}, AbortSignal.abort()), { code: "OUTCOME_UNKNOWN" });
  });

  it("answers a ping, offers nothing else, and sees that the list of tools changed", async (t) => {
    const { channel } = await open(
      t,
      `const got = [];
       let asked;
       const on = (message) => {
         if (message.method === undefined) got.push(message); else asked = message.id;
         if (got.length === 2) answer(asked, { got });
       };
       send({ jsonrpc: "2.0", id: "p", method: "ping" });
       send({ jsonrpc: "2.0", id: "q", method: "sampling/createMessage", params: {} });
       send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });`,
    );
    assert.deepEqual(await ask(channel), {
      got: [
        { jsonrpc: "2.0", id: "p", result: {} },
        { jsonrpc: "2.0", id: "q", error: { code: -32_601, message: "This client offers no methods." } },
      ],
    });
    assert.deepEqual([channel.takeChange(), channel.takeChange()], [true, false]);
  });

  it("ends a server whose message is over the bound", async (t) => {
    const { channel } = await open(
      t,
      `const on = ({ id }) => answer(id, { text: "x".repeat(${MOUNT_LIMITS.messageBytes}) });`,
    );
    await assert.rejects(ask(channel), /sent a message of more than \d+ bytes/);
    assert.equal(channel.isOpen, false);
  });

  it("ends a server that floods it with messages that nothing had asked for", async (t) => {
    const { channel } = await open(
      t,
      `const on = () => { for (let n = 0; n < 5000; n += 1) send({ jsonrpc: "2.0", method: "notifications/progress" }); };`,
    );
    await assert.rejects(ask(channel), /messages in a second that nothing had asked for/);
  });

  it("ends what the server has started, also when the server does not end by itself", async (t) => {
    const { channel, workspace } = await open(
      t,
      `const { spawn } = require("node:child_process");
       const child = spawn("sleep", ["600"], { stdio: "ignore" });
       require("node:fs").writeFileSync("pid", String(child.pid));
       process.on("SIGTERM", () => undefined);
       setInterval(() => undefined, 1000);
       const on = ({ id }) => answer(id, {});`,
    );
    await ask(channel);
    const pid = Number(readFileSync(join(workspace, "pid"), "utf8"));
    assert.equal(isAlive(pid), true);
    await channel.close();
    while (isAlive(pid)) await sleep(20);
    await assert.rejects(ask(channel), /The server s was closed/);
  });
});

/** Whether a process is there and no zombie. */
function isAlive(pid: number): boolean {
  const path = `/proc/${pid}/stat`;
  try {
    return existsSync(path) && !/^\d+ \(.*\) Z/.test(readFileSync(path, "utf8"));
  } catch {
    return false;
  }
}
