import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DIGEST_TITLE, directTask } from "@vidro/core/run";
import type { JsonObject, ModelCall, ModelEvent, ToolSpec, Turn } from "@vidro/core";
import { directModel } from "./direct.ts";
import { eventsOf, terminalOf } from "./model.contract.ts";

const NEVER = new AbortController().signal;

function command(...hosts: readonly string[]): ToolSpec {
  const where = hosts.length === 0 ? {} : { hand: { type: "string", enum: hosts } };
  return { name: "command", description: "", parameters: { type: "object", properties: where }, idempotent: false };
}

async function reply(turns: readonly Turn[], tools: readonly ToolSpec[] = [command()]): Promise<ModelEvent> {
  return terminalOf(await eventsOf(directModel(), { system: "", turns, tools }, NEVER));
}

async function callOf(turns: readonly Turn[], tools?: readonly ToolSpec[]): Promise<ModelCall> {
  const event = await reply(turns, tools);
  assert.ok(event.type === "replied", JSON.stringify(event));
  assert.equal(event.reply.calls.length, 1);
  return event.reply.calls[0]!;
}

const task = (...argv: readonly string[]): Turn => ({ role: "user", text: directTask(argv) });

const result = (callId: string, text: string): readonly Turn[] => [
  { role: "assistant", text: "", action: { id: "act", tool: "command", input: {}, callId } },
  { role: "tool", callId, tool: "command", text, failed: false },
];

test("any words become exactly one call with exactly these words", async () => {
  const words = fc
    .array(fc.string({ unit: "binary" }), { minLength: 1, maxLength: 8 })
    .filter(([first]) => first !== "");
  await fc.assert(
    fc.asyncProperty(words, async ([program = "", ...args]) => {
      const { tool, input } = await callOf([task(program, ...args)]);
      assert.deepEqual([tool, input], ["command", { command: program, args }]);
    }),
  );
});

test("the command has as much time as the hand gives", async () => {
  const parameters = { type: "object", properties: { timeout_ms: { type: "integer", maximum: 60_000 } } };
  const { input } = await callOf([task("sleep", "30")], [{ ...command(), parameters }]);
  assert.deepEqual(input, { command: "sleep", args: ["30"], timeout_ms: 60_000 });
});

test("the outcome of the call is the answer, and nothing is called again", async () => {
  const { tool, input } = await callOf([task("uname"), ...result("direct-1", '{"type":"done"}\nLinux')]);
  assert.deepEqual([tool, input], ["done", { result: '{"type":"done"}\nLinux' }]);
  const silent = await callOf([task("true"), ...result("direct-1", "")]);
  assert.deepEqual(silent.input, { result: "It ended well and said nothing." });
});

test("with several hands it is done on each, one after the other", async () => {
  const turns: Turn[] = [task("uptime")];
  const hosts: unknown[] = [];
  for (;;) {
    const { id, tool, input } = await callOf(turns, [command("web1", "web2", "web3")]);
    if (tool === "done") {
      assert.deepEqual(input, { result: "web1:\nup 1\n\nweb2:\nup 2\n\nweb3:\nup 3" });
      break;
    }
    hosts.push((input as JsonObject)["hand"]);
    turns.push(...result(id, `up ${hosts.length}`));
  }
  assert.deepEqual(hosts, ["web1", "web2", "web3"]);
});

test("G3 results that were compacted away are not fetched again", async () => {
  const digest = `\n\n${DIGEST_TITLE}\ncommand: up 1`;
  const turns: Turn[] = [{ role: "user", text: directTask(["uptime"]) + digest }, ...result("direct-2", "up 2")];
  const { id, input } = await callOf(turns, [command("web1", "web2", "web3")]);
  assert.deepEqual([id, (input as JsonObject)["hand"]], ["direct-3", "web3"]);
});

test("a task that is no argv is refused, and nothing is guessed", async () => {
  const wrong = ["uname -a", "[]", '[""]', '["a", 1]', '{"command":"ls"}', '["a"', '[["a"]]'];
  for (const text of wrong) {
    const event = await reply([{ role: "user", text }]);
    assert.ok(event.type === "failed" && event.fault.code === "BAD_REQUEST", text);
  }
  const event = await reply([task("ls")], []);
  assert.ok(event.type === "failed" && event.fault.code === "BAD_REQUEST");
});

test("a call that was aborted before it began ends with one failure", async () => {
  const request = { system: "", turns: [task("ls")], tools: [command()] };
  assert.equal(terminalOf(await eventsOf(directModel(), request, AbortSignal.abort())).type, "failed");
});
