import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { Model, ModelEvent, ModelReply, ModelRequest } from "@vidro/core";
import { calls, fakeOpenAi, hang, hangAfter, text, thinking } from "../../../../tests/support/fake-openai.ts";
import type { FakeOpenAi, FakeReply } from "../../../../tests/support/fake-openai.ts";
import { aiSdkModel } from "./ai-sdk.ts";
import { REQUEST, eventsOf, terminalOf } from "./model.contract.ts";
import { openCompatible } from "./open-model.ts";

const KEY = "sk-test-5b1c";

async function served(t: TestContext, ...replies: FakeReply[]): Promise<{ fake: FakeOpenAi; model: Model }> {
  const fake = await fakeOpenAi(...replies);
  t.after(() => fake.close());
  const load = () => openCompatible("fake-1", { url: fake.url, key: KEY });
  return { fake, model: aiSdkModel({ name: "test/fake-1", load, key: KEY }) };
}

function replyOf(events: readonly ModelEvent[]): ModelReply {
  const last = terminalOf(events);
  assert.equal(last.type, "replied", JSON.stringify(last));
  return last.reply;
}

test("words stream in order and the reply holds them with the server's own count of tokens", async (t) => {
  const { model } = await served(t, text("One", ", ", "two", "."));
  const events = await eventsOf(model);
  const deltas = events.flatMap((event) => (event.type === "delta" ? [event.text] : []));
  assert.deepEqual(deltas, ["One", ", ", "two", "."]);
  assert.deepEqual(replyOf(events), {
    model: "test/fake-1",
    text: "One, two.",
    calls: [],
    usage: { inputTokens: 11, outputTokens: 7 },
  });
});

test("a tool call arrives whole", async (t) => {
  const { model } = await served(t, calls({ id: "call_9", name: "read_folder", input: '{"dir_path":"src"}' }));
  const reply = replyOf(await eventsOf(model));
  assert.deepEqual(reply.calls, [{ id: "call_9", tool: "read_folder", input: { dir_path: "src" } }]);
});

test("F25: two tool calls are both in the reply, in their order", async (t) => {
  const first = { id: "call_1", name: "read_folder", input: '{"dir_path":"a"}' };
  const second = { id: "call_2", name: "read_folder", input: '{"dir_path":"b"}' };
  const { model } = await served(t, calls(first, second));
  const reply = replyOf(await eventsOf(model));
  assert.deepEqual(
    reply.calls.map((call) => call.id),
    ["call_1", "call_2"],
  );
});

test("input that is no JSON object is passed on as it was said", async (t) => {
  const deep = `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
  const rows = ['{"dir_path":', "[1]", '"words"', "null", deep];
  const { model } = await served(
    t,
    calls(...rows.map((input, index) => ({ id: `c${index}`, name: "read_folder", input }))),
  );
  const reply = replyOf(await eventsOf(model));
  assert.deepEqual(
    reply.calls.map((call) => call.input),
    rows,
  );
});

test("a call without any input has an empty one", async (t) => {
  const { model } = await served(t, calls({ id: "c", name: "read_folder", input: "" }));
  assert.deepEqual(replyOf(await eventsOf(model)).calls, [{ id: "c", tool: "read_folder", input: {} }]);
});

test("thoughts are no part of the words", async (t) => {
  const { model } = await served(t, thinking("hm, let me see", "Yes."));
  assert.equal(replyOf(await eventsOf(model)).text, "Yes.");
});

test("the conversation, the tools and their results have the server's own shape on the wire", async (t) => {
  const { fake, model } = await served(t, text("ok"));
  const action = { id: "act_1", tool: "read_folder", input: { dir_path: "." }, callId: "call_7" };
  const request: ModelRequest = {
    ...REQUEST,
    turns: [
      { role: "user", text: "look" },
      { role: "assistant", text: "I look.", action },
      { role: "tool", callId: "call_7", tool: "read_folder", text: "a.txt", failed: false },
      { role: "assistant", text: "" },
      { role: "user", text: "and?" },
    ],
  };
  await eventsOf(model, request);
  const [sent] = fake.requests;
  assert.equal(sent?.path, "/v1/chat/completions");
  assert.equal(sent.body["model"], "fake-1");
  assert.equal(sent.body["stream"], true);
  assert.deepEqual(sent.body["messages"], [
    { role: "system", content: "You are brief." },
    { role: "user", content: "look" },
    {
      role: "assistant",
      content: "I look.",
      tool_calls: [
        { id: "call_7", type: "function", function: { name: "read_folder", arguments: '{"dir_path":"."}' } },
      ],
    },
    { role: "tool", tool_call_id: "call_7", content: "a.txt" },
    { role: "user", content: "and?" },
  ]);
  const [tool] = REQUEST.tools;
  assert.ok(tool);
  const { name, description, parameters } = tool;
  assert.deepEqual(sent.body["tools"], [{ type: "function", function: { name, description, parameters } }]);
});

test("a request without tools sends no list of tools", async (t) => {
  const { fake, model } = await served(t, text("ok"));
  await eventsOf(model, { ...REQUEST, tools: [] });
  assert.ok(!("tools" in (fake.requests[0]?.body ?? {})));
});

test("the key travels in its header and nowhere else", async (t) => {
  const { fake, model } = await served(t, text("ok"));
  await eventsOf(model);
  const [sent] = fake.requests;
  const { authorization, ...headers } = sent?.headers ?? {};
  assert.equal(authorization, `Bearer ${KEY}`);
  assert.ok(!JSON.stringify([headers, sent?.body, sent?.path]).includes(KEY));
});

for (const [when, reply] of [
  ["before the first word", hang],
  ["in the middle of the words", hangAfter("so")],
] as const) {
  test(`an abort ${when} ends the call at once and closes the connection`, { timeout: 5000 }, async (t) => {
    const { fake, model } = await served(t, reply);
    const controller = new AbortController();
    const arrived = fake.next();
    const events = eventsOf(model, REQUEST, controller.signal);
    const request = await arrived;
    controller.abort();
    const last = terminalOf(await events);
    assert.equal(last.type === "failed" && last.fault.code, "MODEL_CUT");
    assert.equal(await request.over, "cut");
  });
}

test("a listener that leaves closes the connection", { timeout: 5000 }, async (t) => {
  const { fake, model } = await served(t, hangAfter("so"));
  for await (const event of model.call(REQUEST, new AbortController().signal)) {
    assert.deepEqual(event, { type: "delta", text: "so" });
    break;
  }
  assert.equal(await fake.requests[0]?.over, "cut");
});

test("the vendor's package is loaded once, at the first call", async (t) => {
  const fake = await fakeOpenAi(text("ok"));
  t.after(() => fake.close());
  let loads = 0;
  const load = () => {
    loads += 1;
    return openCompatible("fake-1", { url: fake.url });
  };
  const model = aiSdkModel({ name: "test/fake-1", load });
  assert.equal(loads, 0);
  await Promise.all([eventsOf(model), eventsOf(model)]);
  assert.equal(loads, 1);
});

test("a reply goes back in its own parts to the model that made it, and in words to another", async (t) => {
  const { fake, model } = await served(t, thinking("first", "then"), text("ok"));
  const { parts } = replyOf(await eventsOf(model));
  assert.ok(parts !== undefined);
  const call = { id: "", tool: "read_folder", input: { dir_path: "." }, callId: "c1" };
  for (const from of ["test/fake-1", "other/model"]) {
    const turn = { role: "assistant", text: "then", action: call, parts: { from, ...parts } } as const;
    await eventsOf(model, { ...REQUEST, turns: [...REQUEST.turns, turn] });
  }
  const sent = fake.requests.slice(1).map(({ body }) => (body["messages"] as { reasoning_content?: string }[]).at(-1));
  assert.deepEqual(
    sent.map((message) => message?.reasoning_content),
    ["first", undefined],
  );
});

test("results of several calls of one reply are sent one after the other", async (t) => {
  const { fake, model } = await served(t, text("ok"));
  const items = ["c1", "c2"].map((callId) => ({ kind: "call", callId, tool: "read_folder", input: {} }) as const);
  const results = ["c2", "c1"].map(
    (callId) => ({ role: "tool", callId, tool: "read_folder", text: callId, failed: false }) as const,
  );
  const turns = [...REQUEST.turns, { role: "assistant", text: "", parts: { from: "x", items } } as const, ...results];
  await eventsOf(model, { ...REQUEST, turns });
  const messages = fake.requests[0]?.body["messages"] as { tool_calls?: { id: string }[]; tool_call_id?: string }[];
  assert.deepEqual(
    messages.at(-3)?.tool_calls?.map(({ id }) => id),
    ["c1", "c2"],
  );
  assert.deepEqual(
    messages.slice(-2).map(({ tool_call_id: id }) => id),
    ["c2", "c1"],
  );
});
