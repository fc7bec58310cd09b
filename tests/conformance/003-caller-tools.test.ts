import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@vidro/core";
import type OpenAI from "openai";
import { calls, text } from "../support/fake-openai.ts";
import { startFrontEndServer } from "../support/front-end-server.ts";
import type { FrontEndServer } from "../support/front-end-server.ts";

/* A caller that brings its own tools: which names they may have, and what else its agent has. */

const HELLO: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "hello" }];
const tool = (name: string): OpenAI.ChatCompletionTool => ({
  type: "function",
  function: { name, description: "theirs", parameters: { type: "object", properties: { x: { type: "string" } } } },
});

/** The names of the tools that a request offered to the model, and its system text. */
function seenBy(
  brain: FrontEndServer,
  request: number,
): { readonly names: readonly string[]; readonly system: string } {
  const { tools = [], messages } = brain.fake.requests[request]!.body as unknown as {
    tools?: readonly { function: { name: string } }[];
    messages: readonly { content: string }[];
  };
  return { names: tools.map((each) => each.function.name), system: messages[0]!.content };
}

test("a caller with its own tools gets an agent without hands, control tools or a folder, unless the model id asks for them", async (t) => {
  const brain = await startFrontEndServer(t, text("ok"));
  const { client } = brain;
  const system: OpenAI.ChatCompletionMessageParam = { role: "system", content: "You write code." };
  await client.chat.completions.create({ model: "bunny", messages: [system, ...HELLO], tools: [tool("edit")] });
  await client.chat.completions.create({ model: "bunny+hands", messages: [system, ...HELLO], tools: [tool("edit")] });
  await client.chat.completions.create({ model: "bunny", messages: [system, ...HELLO] });
  await client.responses.create({
    model: "bunny",
    instructions: "You write code.",
    input: "hello",
    tools: [{ type: "function", name: "edit", parameters: {}, strict: false }],
  });
  const [own, both, hands, response] = [0, 1, 2, 3].map((index) => seenBy(brain, index));
  assert.deepEqual(own!.names, ["edit"]);
  assert.deepEqual(response!.names, ["edit"]);
  for (const { system: words } of [own!, response!]) {
    assert.ok(words.startsWith("You write code."), words);
    assert.doesNotMatch(words, new RegExp(`bunny|${brain.workspace}`));
  }
  for (const name of ["read_file", "plan", "ask"]) {
    assert.ok(both!.names.includes(name), name);
    assert.ok(hands!.names.includes(name), name);
  }
  assert.ok(both!.names.includes("edit"));
  assert.match(both!.system, new RegExp(`bunny[^]*You write code[^]*${brain.workspace}`));
});

test("a conversation that names tools or hands has them beside the caller's, and one that names none has not", async (t) => {
  const brain = await startFrontEndServer(t, text("ok"));
  const tools = [{ type: "function" as const, name: "edit", parameters: {}, strict: false }];
  const plain = (await brain.client.conversations.create()).id;
  const { json } = await brain.ask("POST", "/conversations", { body: { tools_enabled: ["read_file"] } });
  for (const conversation of [plain, (json as { id: string }).id])
    await brain.client.responses.create({ model: "bunny", conversation, input: "hello", tools });
  assert.deepEqual(seenBy(brain, 0).names, ["edit"]);
  assert.deepEqual(seenBy(brain, 1).names.slice(0, 2), ["read_file", "edit"]);
});

test("any name of a function is taken, comes back as it was given, and goes before a tool of ours", async (t) => {
  const names = ["plan", "ask", "done", "use_tool", "shell", "read_file", "a".repeat(128), "mcp.files/read", "ação é"];
  const brain = await startFrontEndServer(t);
  brain.fake.reply((response, { body }) => {
    const offered = body["tools"] as readonly { function: { name: string; description: string } }[];
    const theirs = offered.filter((each) => each.function.description === "theirs").map((each) => each.function.name);
    assert.match(theirs.join(), /^[\w-]{1,64}$/);
    assert.equal(offered.filter((each) => each.function.name === theirs[0]).length, 1);
    calls({ id: "m", name: theirs[0]!, input: '{"x":"1"}' })(response);
  });
  for (const model of ["bunny", "bunny+hands"])
    for (const name of names) {
      const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: `${model} ${name}` }];
      const answer = await brain.client.chat.completions.create({ model, messages, tools: [tool(name)] });
      const [call] = answer.choices[0]?.message.tool_calls ?? [];
      assert.ok(call?.type === "function", `${model} ${name}`);
      assert.deepEqual(call.function, { name, arguments: '{"x":"1"}' });
    }
});

test("a custom tool takes text and comes back as a custom call", async (t) => {
  const patch = "*** Begin Patch\n*** End Patch";
  const brain = await startFrontEndServer(
    t,
    calls({ id: "m", name: "apply_patch", input: JSON.stringify({ input: patch }) }),
    text("done"),
  );
  const tools: OpenAI.ChatCompletionTool[] = [{ type: "custom", custom: { name: "apply_patch" } }];
  const { message } = (await brain.client.chat.completions.create({ model: "bunny", messages: HELLO, tools }))
    .choices[0]!;
  const [call] = message.tool_calls ?? [];
  assert.ok(call?.type === "custom");
  assert.deepEqual(call.custom, { name: "apply_patch", input: patch });
  const result = { role: "tool", tool_call_id: call.id, content: "patched" } as const;
  const answer = await brain.client.chat.completions.create({
    model: "bunny",
    messages: [...HELLO, message, result],
    tools,
  });
  assert.equal(answer.choices[0]?.message.content, "done");
  const sent = brain.fake.requests[1]!.body["messages"] as readonly JsonObject[];
  assert.match(JSON.stringify(sent.at(-1)), /patched/);
});

test("allowed tools are the only ones that are offered", async (t) => {
  const brain = await startFrontEndServer(t, text("ok"));
  const create = (name: string): Promise<unknown> =>
    brain.client.chat.completions.create({
      model: "bunny",
      messages: HELLO,
      tools: [tool("one"), tool("two")],
      tool_choice: {
        type: "allowed_tools",
        allowed_tools: { mode: "required", tools: [{ type: "function", function: { name } }] },
      },
    });
  await create("two");
  assert.deepEqual(seenBy(brain, 0).names, ["two"]);
  assert.equal(brain.fake.requests[0]?.body["tool_choice"], "required");
  await assert.rejects(create("three"), { status: 422, param: "tool_choice" });
});
