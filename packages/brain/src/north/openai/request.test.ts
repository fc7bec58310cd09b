import assert from "node:assert/strict";
import { test } from "node:test";
import { CHAT_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { readConversation, readRequest } from "./request.ts";
import type { ChatMessage } from "./schema.ts";
import { toolName } from "./tool-names.ts";

const HELLO: JsonObject = { role: "user", content: "hello" };
const request = (more: JsonObject = {}) => readRequest({ messages: [HELLO], ...more });
const tool = (name: string): JsonObject => ({ type: "function", function: { name } });

void test("the last message of the user is the task, and what stands before it is history", () => {
  const messages: ChatMessage[] = [
    { role: "system", content: "Be brief." },
    { role: "user", content: "one" },
    { role: "assistant", content: "1" },
    { role: "developer", content: [{ type: "text", text: "No jokes." }] },
    { role: "user", content: "two" },
  ];
  assert.deepEqual(readConversation(messages), {
    system: "Be brief.\n\nNo jokes.",
    earlier: [
      { role: "user", text: "one" },
      { role: "assistant", text: "1" },
    ],
    task: "two",
    returned: undefined,
  });
});

void test("turns that the client did not send again stand before those that it sent", () => {
  const before = [{ role: "user", text: "zero" }] as const;
  const { earlier } = readConversation(
    [
      { role: "user", content: "one" },
      { role: "user", content: "two" },
    ],
    before,
  );
  assert.deepEqual(
    earlier.map(({ text }) => text),
    ["zero", "one"],
  );
});

void test("a request without a message of the user is refused, unless it ends with a result", () => {
  for (const messages of [[{ role: "system", content: "x" }], [{ role: "assistant", content: "x" }]] as ChatMessage[][])
    assert.throws(() => readConversation(messages), { code: "BAD_ARGUMENTS", detail: { path: "/messages" } });
  const { task, returned } = readConversation([{ role: "tool", tool_call_id: "call_1", content: "42" }]);
  assert.equal(task, "");
  assert.deepEqual(returned, { callId: "call_1", call: undefined, text: "42", conversation: [] });
});

void test("a result belongs to the call that its id names, with the arguments that the conversation has", () => {
  const calls = [
    { id: "a", function: { name: "first", arguments: "{}" } },
    { id: "b", function: { name: "second", arguments: '{"x":1}' } },
  ];
  const { returned, task } = readConversation([
    { role: "user", content: "go" },
    { role: "assistant", tool_calls: calls },
    { role: "tool", tool_call_id: "b", content: "done" },
  ]);
  assert.equal(task, "go");
  assert.deepEqual(returned?.call, { id: "b", name: "second", arguments: '{"x":1}' });
  assert.equal(returned.conversation.length, 3, "the call without a result is left out");
});

void test("a result of the earlier form has a name and no id; one that no call made is known by its name alone", () => {
  const asked: ChatMessage = { role: "assistant", function_call: { name: "look", arguments: "{}" } };
  const [known, other] = ["look", "other tool"].map((name) =>
    readConversation([{ role: "user", content: "go" }, asked, { role: "function", name, content: "seen" }]),
  );
  assert.equal(known?.returned?.callId, undefined);
  assert.equal(known?.returned?.call?.name, "look");
  assert.deepEqual(other?.returned?.call, { name: toolName("other tool"), arguments: "" });
});

void test("a message after the result is a new message and returns nothing", () => {
  const { returned, task } = readConversation([
    { role: "user", content: "go" },
    { role: "assistant", tool_calls: [{ id: "a", function: { name: "f", arguments: "{}" } }] },
    { role: "tool", tool_call_id: "a", content: "done" },
    { role: "user", content: "and now?" },
  ]);
  assert.equal(returned, undefined);
  assert.equal(task, "and now?");
});

void test("defaults: no stream, no usage, no thinking, no tools, nothing for the model", () => {
  const { stream, includeUsage, includeVoided, includeReasoning, callerTools, choice, sampling, form } = request();
  assert.deepEqual(
    [stream, includeUsage, includeVoided, includeReasoning, callerTools, choice, sampling, form],
    [false, false, false, false, [], undefined, undefined, "tools"],
  );
  const nulls = request({ stream: null, stream_options: null, tools: null, temperature: null, n: null, seed: null });
  assert.equal(nulls.sampling, undefined);
});

void test("flags of a stream are read one by one", () => {
  const read = request({ stream: true, stream_options: { include_usage: true }, include_reasoning: true });
  assert.deepEqual([read.stream, read.includeUsage, read.includeVoided], [true, true, false]);
  assert.equal(read.includeReasoning, true);
  assert.equal(request({ stream_options: { include_voided: true } }).includeVoided, true);
});

void test("parameters of the model are passed on, and the newer name of a bound goes before the older", () => {
  assert.deepEqual(
    request({ temperature: 0, top_p: 1, seed: 0, frequency_penalty: -2, presence_penalty: 0, max_tokens: 5 }).sampling,
    { temperature: 0, topP: 1, seed: 0, frequencyPenalty: -2, presencePenalty: 0, maxTokens: 5 },
  );
  assert.equal(request({ max_tokens: 5, max_completion_tokens: 7 }).sampling?.maxTokens, 7);
});

void test("several answers and answers that are no text are refused where the request asks for them", () => {
  assert.throws(() => request({ n: 2 }), { code: "BAD_REQUEST", detail: { path: "/n" } });
  request({ n: 1, modalities: ["text"] });
  assert.throws(() => request({ modalities: ["text", "audio"] }), {
    code: "BAD_ARGUMENTS",
    detail: { path: "/modalities" },
  });
});

void test("functions of the earlier form, functions and custom tools become tools of the caller", () => {
  const { callerTools } = request({
    functions: [{ name: "old", parameters: { type: "object" } }],
    tools: [tool("new"), { type: "custom", custom: { name: "free", description: "takes text" } }],
  });
  assert.deepEqual(
    callerTools.map(({ name, caller, called }) => [name, caller, called?.custom]),
    [
      ["old", true, undefined],
      ["new", true, undefined],
      ["free", true, true],
    ],
  );
  assert.deepEqual(callerTools[2]?.parameters["required"], ["input"]);
});

void test("a tool of another type, one without its part, and two of one name are refused at their place", () => {
  for (const wrong of [{ type: "web_search" }, { type: "function" }, { type: "custom", function: { name: "f" } }])
    assert.throws(() => request({ tools: [tool("a"), wrong] }), {
      code: "BAD_ARGUMENTS",
      detail: { path: "/tools/1" },
    });
  assert.throws(() => request({ functions: [{ name: "a" }], tools: [tool("b"), tool("a")] }), {
    detail: { path: "/tools/1" },
  });
});

void test("a schema beyond the bound is refused by its size, and one at the bound is taken", () => {
  const sized = (chars: number): JsonObject => {
    const empty = JSON.stringify({ type: "object", title: "" }).length;
    return { type: "object", title: "x".repeat(chars - empty) };
  };
  request({ functions: [{ name: "a", parameters: sized(CHAT_LIMITS.schemaChars) }] });
  assert.throws(() => request({ functions: [{ name: "a", parameters: sized(CHAT_LIMITS.schemaChars + 1) }] }), {
    code: "PAYLOAD_TOO_LARGE",
    detail: { path: "/functions/0" },
  });
});

void test("what is to be called is read in each of its forms", () => {
  const tools = [tool("a"), tool("b c")];
  for (const [more, choice] of [
    [{ tool_choice: "auto" }, undefined],
    [{ tool_choice: "none" }, "none"],
    [{ tool_choice: "required" }, "required"],
    [{ tool_choice: { type: "function", function: { name: "a" } } }, { tool: "a" }],
    [{ tool_choice: { type: "custom", custom: { name: "a" } } }, { tool: "a" }],
    [{ tool_choice: { type: "function", name: "b c" } }, { tool: toolName("b c") }],
    [{ function_call: "a" }, { tool: "a" }],
    [{ function_call: { name: "a" } }, { tool: "a" }],
    [{ function_call: "none" }, "none"],
  ] as const)
    assert.deepEqual(request({ tools, ...more }).choice, choice, JSON.stringify(more));
});

void test("a choice without a usable name is refused by name, whatever it holds instead", () => {
  for (const choice of [
    "a",
    { type: "function" },
    { type: "function", name: "" },
    { type: "function", name: { deep: 1 } },
    { type: "function", name: 5 },
    { type: "function", function: null },
    { type: "custom", custom: { name: ["a"] } },
  ] as const)
    assert.throws(
      () => request({ tools: [tool("a")], tool_choice: choice as JsonObject }),
      { code: "BAD_ARGUMENTS", detail: { path: "/tool_choice" } },
      JSON.stringify(choice),
    );
  assert.throws(() => request({ function_call: {} }), { detail: { path: "/function_call" } });
});

void test("of allowed tools only those are offered, and one of them is called where that is required", () => {
  const tools = [tool("a"), tool("b"), tool("c")];
  const allowed = (mode: string): JsonObject => ({
    type: "allowed_tools",
    allowed_tools: { mode, tools: [tool("c"), { type: "function", name: "a" }] },
  });
  const auto = request({ tools, tool_choice: allowed("auto") });
  assert.deepEqual(
    auto.callerTools.map(({ name }) => name),
    ["a", "c"],
  );
  assert.equal(auto.choice, undefined);
  assert.equal(request({ tools, tool_choice: allowed("required") }).choice, "required");
});

void test("an allowed tool that is none of the offered, or is no tool at all, is refused by name", () => {
  for (const wrong of [
    null,
    "a",
    7,
    [],
    {},
    { name: null },
    { name: { deep: 1 } },
    { function: { name: 5 } },
    tool("z"),
  ])
    assert.throws(
      () =>
        request({
          tools: [tool("a")],
          tool_choice: { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [wrong] } } as JsonObject,
        }),
      { code: "BAD_ARGUMENTS", detail: { path: "/tool_choice" } },
      JSON.stringify(wrong),
    );
});

void test("the answer has the form of calls that the request has", () => {
  assert.equal(request({ functions: [{ name: "a" }] }).form, "functions");
  assert.equal(request({ functions: [{ name: "a" }], tools: [tool("b")] }).form, "tools");
  const returned = readRequest({ messages: [HELLO, { role: "function", name: "a", content: "1" }] });
  assert.equal(returned.form, "functions");
});
