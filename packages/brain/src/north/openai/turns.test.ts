import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChatMessage } from "./schema.ts";
import { messageTurns } from "./turns.ts";

const call = (id: string, name: string, input = "{}") => ({ id, function: { name, arguments: input } });

test("calls that were made together become pairs of a call and its answer, one after the other", () => {
  const messages: ChatMessage[] = [
    { role: "user", content: "compare" },
    {
      role: "assistant",
      content: "I look at both.",
      tool_calls: [call("a", "read", '{"path":"a"}'), call("b", "read")],
    },
    { role: "tool", tool_call_id: "b", content: "B" },
    { role: "tool", tool_call_id: "a", content: "A" },
  ];
  assert.deepEqual(messageTurns(messages), [
    { role: "user", text: "compare" },
    { role: "assistant", text: "I look at both.", action: { id: "", tool: "read", input: { path: "a" }, callId: "a" } },
    { role: "tool", callId: "a", tool: "read", text: "A", failed: false },
    { role: "assistant", text: "", action: { id: "", tool: "read", input: {}, callId: "b" } },
    { role: "tool", callId: "b", tool: "read", text: "B", failed: false },
  ]);
});

test("an answer without an id belongs to the last call before it", () => {
  const messages: ChatMessage[] = [
    { role: "assistant", function_call: { name: "read", arguments: "not json" } },
    { role: "function", name: "read", content: "A" },
  ];
  assert.deepEqual(messageTurns(messages), [
    { role: "assistant", text: "", action: { id: "", tool: "read", input: {}, callId: "call_0" } },
    { role: "tool", callId: "call_0", tool: "read", text: "A", failed: false },
  ]);
});

test("a call without a result and a result without a call are left out", () => {
  const messages: ChatMessage[] = [
    { role: "assistant", content: "I would look.", tool_calls: [call("a", "read")] },
    { role: "tool", tool_call_id: "z", content: "Z" },
    { role: "assistant", content: "" },
    { role: "user", content: null },
  ];
  assert.deepEqual(messageTurns(messages), [
    { role: "assistant", text: "I would look." },
    { role: "user", text: "" },
  ]);
});
