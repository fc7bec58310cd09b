import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { JsonObject } from "@vidro/core";
import OpenAI from "openai";
import { calls, callsAfter, cutAfter, cutShort, hang, text } from "../support/fake-openai.ts";
import { startFrontEndServer } from "../support/front-end-server.ts";
import type { FrontEndServer } from "../support/front-end-server.ts";

/* The responses wire: one more view of the runs that chat completions show. */

type Event = OpenAI.Responses.ResponseStreamEvent;
const LOOK_UP: OpenAI.Responses.FunctionTool = {
  type: "function",
  name: "look_up",
  parameters: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
  strict: false,
};
const INPUT = '{"word":"vidro"}';
const lookUp = calls({ id: "m1", name: "look_up", input: INPUT });

function callIn({ output }: OpenAI.Responses.Response): OpenAI.Responses.ResponseFunctionToolCall {
  const call = output.at(-1);
  assert.ok(call?.type === "function_call", JSON.stringify(output));
  return call;
}

const outputOf = ({ call_id }: { call_id: string }, output: string) =>
  ({ type: "function_call_output", call_id, output }) as const;

/** The conversation that the model saw, without its system text. */
function seen(brain: FrontEndServer, request: number): readonly JsonObject[] {
  return (brain.fake.requests[request]!.body["messages"] as readonly JsonObject[]).slice(1);
}

suite("a whole response", () => {
  test("a response has its text, its usage and what it was asked with, and can be read, listed and deleted", async (t) => {
    const brain = await startFrontEndServer(t, text("Glass", "."));
    const { responses } = brain.client;
    const made = await responses.create({
      model: "bunny",
      instructions: "Be short.",
      input: [
        { role: "user", content: "hello" },
        { role: "assistant", content: "Hello!" },
        { role: "user", content: [{ type: "input_text", text: "What does vidro mean?" }] },
      ],
      metadata: { project: "x" },
      temperature: 0.5,
    });
    assert.equal(made.output_text, "Glass.");
    assert.deepEqual([made.status, made.model, made.instructions], ["completed", "bunny", "Be short."]);
    assert.deepEqual([made.metadata, made.temperature, made.usage?.total_tokens], [{ project: "x" }, 0.5, 18]);
    assert.match(JSON.stringify(brain.fake.requests[0]!.body), /Be short\.[^]*Hello![^]*What does vidro mean/);
    const { output_text: _text, ...whole } = made;
    assert.deepEqual(await responses.retrieve(made.id), { ...whole, output_text: "Glass." });
    const { data } = await responses.inputItems.list(made.id, { order: "asc" });
    const said = data.map((item) => (item.type === "message" ? (item.content[0] as { text: string }).text : item.type));
    assert.deepEqual(said, ["hello", "Hello!", "What does vidro mean?"]);
    const [newest] = (await responses.inputItems.list(made.id, { limit: 1 })).data;
    assert.deepEqual(newest, data.at(-1));
    await responses.delete(made.id);
    await assert.rejects(responses.retrieve(made.id), OpenAI.NotFoundError);
    const bob = new OpenAI({ baseURL: brain.url, apiKey: await brain.token("bob", "runs"), maxRetries: 0 });
    const other = await responses.create({ model: "bunny", input: "hi" });
    await assert.rejects(bob.responses.retrieve(other.id), OpenAI.NotFoundError);
  });

  test("a response that is not stored is gone, and one that is cut short says so", async (t) => {
    const brain = await startFrontEndServer(t, cutShort("one two"));
    const { responses } = brain.client;
    const made = await responses.create({ model: "bunny", input: "count", store: false, max_output_tokens: 2 });
    assert.deepEqual([made.status, made.incomplete_details?.reason], ["incomplete", "max_output_tokens"]);
    assert.equal(brain.fake.requests[0]?.body["max_tokens"], 2);
    await assert.rejects(responses.retrieve(made.id), OpenAI.NotFoundError);
    const next = responses.create({ model: "bunny", input: "go on", previous_response_id: made.id });
    await assert.rejects(next, OpenAI.NotFoundError);
  });

  test("a request that cannot be answered names its field, and a failed run is an error", async (t) => {
    const brain = await startFrontEndServer(t, text("ok"));
    const ask = async (more: JsonObject): Promise<readonly unknown[]> => {
      const { status, json } = await brain.ask("POST", "/responses", {
        body: { model: "bunny", input: "hi", ...more },
      });
      return [status, (json as { error?: { param?: unknown } }).error?.param];
    };
    assert.deepEqual(await ask({ input: [] }), [422, "input"]);
    assert.deepEqual(await ask({ input: [{ role: "robot", content: "x" }] }), [422, "input.0.role"]);
    assert.deepEqual(await ask({ input: [{ type: "computer_call" }] }), [422, "input.0.type"]);
    assert.deepEqual(await ask({ input: [{ type: "item_reference", id: "msg_of_another" }] }), [404, "input.0"]);
    assert.deepEqual(await ask({ tools: [{ type: "file_search", vector_store_ids: ["v"] }] }), [422, "tools.0"]);
    assert.deepEqual(await ask({ tool_choice: { type: "web_search" } }), [422, "tool_choice"]);
    assert.deepEqual(await ask({ conversation: "a", previous_response_id: "b" }), [422, "previous_response_id"]);
    assert.deepEqual((await ask({ model: "gpt-5" }))[0], 404);
    assert.equal(brain.fake.requests.length, 0);
    brain.fake.reply(text(""));
    const found = await brain.ask("POST", "/responses", {
      body: { model: "bunny", input: "hi", tools: [{ type: "web_search" }, { ...LOOK_UP } as unknown as JsonObject] },
    });
    assert.equal(found.headers.get("x-vidro-left-out"), "web_search");
    const { tools } = found.json as { tools: readonly { type: string }[] };
    assert.deepEqual(
      tools.map(({ type }) => type),
      ["function"],
    );
  });
});

suite("a conversation", () => {
  test("a response goes on from another one, which may be gone on from twice", async (t) => {
    const brain = await startFrontEndServer(t, text("Glass."), text("Portuguese."), text("Five."));
    const { responses } = brain.client;
    const first = await responses.create({ model: "bunny", instructions: "Old words.", input: "What is vidro?" });
    const go = (input: string): Promise<OpenAI.Responses.Response> =>
      responses.create({ model: "bunny", input, previous_response_id: first.id });
    const second = await go("In which language?");
    assert.deepEqual([second.output_text, second.previous_response_id], ["Portuguese.", first.id]);
    assert.deepEqual(
      seen(brain, 1).map(({ content }) => content),
      ["What is vidro?", "Glass.", "In which language?"],
    );
    assert.doesNotMatch(JSON.stringify(brain.fake.requests[1]!.body), /Old words/);
    assert.equal((await go("How many letters?")).output_text, "Five.");
    assert.equal(seen(brain, 2).length, 3);
    const [third, one, two] = await brain.runs.list({ limit: 9 });
    assert.deepEqual([third!.thread, one!.thread], [two!.thread, two!.thread]);
  });

  test("003-20 a conversation is shared by responses and chat messages", async (t) => {
    const brain = await startFrontEndServer(t, text("Glass."), text("Portuguese."));
    const conversation = (await brain.client.conversations.create()).id;
    const made = await brain.client.responses.create({ model: "bunny", conversation, input: "What is vidro?" });
    assert.deepEqual(made.conversation, { id: conversation });
    const body = { messages: [{ role: "user", content: "In which language?" }] };
    await brain.ask("POST", `/conversations/${conversation}/messages`, { body });
    assert.match(JSON.stringify(seen(brain, 1)), /What is vidro[^]*Glass[^]*In which language/);
    const { json } = await brain.ask("GET", `/conversations/${conversation}`);
    assert.equal((json as { messages: unknown[] }).messages.length, 4);
  });

  test("a question ends a response in words and as a field, and the next input answers it", async (t) => {
    const ask = calls({ id: "q", name: "ask", input: '{"question":"Which disk?","options":["a","b"]}' });
    const brain = await startFrontEndServer(t, ask, text("Disk a is full."));
    const asked = await brain.client.responses.create({ model: "bunny", input: "how full?" });
    assert.match(asked.output_text, /Which disk\?\n- a\n- b/);
    const { question } = asked as unknown as { question: { options: string[]; answer_path: string } };
    assert.deepEqual(question.options, ["a", "b"]);
    const answered = await brain.client.responses.create({
      model: "bunny",
      input: "a",
      previous_response_id: asked.id,
    });
    assert.equal(answered.output_text, "Disk a is full.");
    assert.equal((await brain.runs.list({ limit: 9 })).length, 1);
  });
});

suite("functions", () => {
  test("a call comes back, and its output goes on with the same run, by reference, by id and whole", async (t) => {
    const brain = await startFrontEndServer(t, lookUp, text("It means glass."));
    const { responses } = brain.client;
    const request = { model: "bunny", tools: [LOOK_UP] };
    for (const [index, how] of (["previous", "whole", "reference"] as const).entries()) {
      if (index > 0) brain.fake.reply(lookUp, text("It means glass."));
      const user = { role: "user", content: `what does vidro mean? ${how}` } as const;
      const first = await responses.create({ ...request, input: [user] });
      // The reply before serves until the next one is taken.
      const called = first.output_text === "" ? first : await responses.create({ ...request, input: [user, user] });
      const call = callIn(called);
      assert.deepEqual([call.name, call.arguments], ["look_up", INPUT]);
      const result = outputOf(call, "glass (pt)");
      const next =
        how === "previous"
          ? { previous_response_id: called.id, input: [result] }
          : { input: [user, how === "whole" ? call : { type: "item_reference" as const, id: call.id! }, result] };
      const answer = await responses.create({ ...request, ...next });
      assert.equal(answer.output_text, "It means glass.");
      assert.match(JSON.stringify(brain.fake.requests.at(-1)!.body["messages"]), /glass \(pt\)/);
      const shown = await responses.retrieve(called.id);
      assert.deepEqual(callIn(shown), call);
    }
  });

  test("a call without its output is not gone over", async (t) => {
    const brain = await startFrontEndServer(t, lookUp);
    const { responses } = brain.client;
    const made = await responses.create({ model: "bunny", tools: [LOOK_UP], input: "what?" });
    const next = responses.create({ model: "bunny", input: "never mind", previous_response_id: made.id });
    await assert.rejects(next, { status: 422, message: /no output/ });
  });

  test("functions of a namespace and custom tools come back as they were brought", async (t) => {
    const brain = await startFrontEndServer(
      t,
      calls({ id: "m", name: "files__read", input: "{}" }),
      calls({ id: "n", name: "apply_patch", input: '{"input":"*** Begin Patch"}' }),
      text("done"),
    );
    const tools: OpenAI.Responses.Tool[] = [
      {
        type: "namespace",
        name: "files",
        description: "",
        tools: [{ type: "function", name: "read", parameters: {} }],
      },
      { type: "custom", name: "apply_patch" },
    ];
    const { responses } = brain.client;
    const first = await responses.create({ model: "bunny", tools, input: "read" });
    const call = callIn(first);
    assert.deepEqual([call.name, call.namespace], ["read", "files"]);
    const second = await responses.create({
      model: "bunny",
      tools,
      previous_response_id: first.id,
      input: [outputOf(call, "x")],
    });
    const patch = second.output.at(-1);
    assert.ok(patch?.type === "custom_tool_call");
    assert.deepEqual([patch.name, patch.input], ["apply_patch", "*** Begin Patch"]);
    const third = await responses.create({
      model: "bunny",
      tools,
      previous_response_id: second.id,
      input: [{ type: "custom_tool_call_output", call_id: patch.call_id, output: "patched" }],
    });
    assert.equal(third.output_text, "done");
  });
});

suite("a stream", () => {
  const eventsOf = async (
    brain: FrontEndServer,
    more: Partial<OpenAI.Responses.ResponseCreateParamsStreaming> = {},
  ): Promise<readonly Event[]> =>
    Array.fromAsync(
      await brain.client.responses.create({ model: "bunny", input: "what?", ...more, stream: true as const }),
    );

  test("text and a call come as the events of the wire, in order and numbered", async (t) => {
    const brain = await startFrontEndServer(
      t,
      callsAfter(["Let me ", "see."], { id: "m", name: "look_up", input: INPUT }),
      text("It means ", "glass."),
    );
    const events = await eventsOf(brain, { tools: [LOOK_UP] });
    assert.deepEqual(
      events.map(({ sequence_number }) => sequence_number),
      [...events.keys()],
    );
    const types = events.map(({ type }) => type.replace(/^response\./, ""));
    assert.deepEqual(
      types.filter((type, index) => type !== types[index - 1]),
      [
        "created in_progress",
        "output_item.added content_part.added output_text.delta",
        "output_text.done content_part.done output_item.done",
        "output_item.added function_call_arguments.delta function_call_arguments.done output_item.done",
        "completed",
      ]
        .join(" ")
        .split(" "),
    );
    const said = events.flatMap((event) => (event.type === "response.output_text.delta" ? [event.delta] : []));
    assert.equal(said.join(""), "Let me see.");
    const last = events.at(-1);
    assert.ok(last?.type === "response.completed");
    const { output_text: _text, ...stored } = await brain.client.responses.retrieve(last.response.id);
    assert.deepEqual(last.response, stored);
    const replayed = await Array.fromAsync(await brain.client.responses.retrieve(last.response.id, { stream: true }));
    assert.deepEqual((replayed.at(-1) as typeof last).response, stored);
    const runner = brain.client.responses.stream({
      model: "bunny",
      tools: [LOOK_UP],
      previous_response_id: last.response.id,
      input: [outputOf(callIn(last.response), "glass")],
    });
    assert.equal((await runner.finalResponse()).output_text, "It means glass.");
  });

  test("a response that is cut short or fails ends with that event", async (t) => {
    const brain = await startFrontEndServer(t, cutShort("one two"), cutAfter("Gla"), text("Something else."));
    const cut = (await eventsOf(brain)).at(-1);
    assert.ok(cut?.type === "response.incomplete");
    const failed = (await eventsOf(brain, { input: "again?" })).at(-1);
    assert.ok(failed?.type === "response.failed");
    assert.equal(failed.response.error?.code, "MODEL_CUT");
  });
});

test("a response in the background is read until it is over, and can be cancelled", async (t) => {
  const brain = await startFrontEndServer(t, text("done"), hang);
  const { responses } = brain.client;
  const begun = await responses.create({ model: "bunny", input: "work", background: true });
  const [head] = await brain.runs.list({ limit: 1 });
  await Array.fromAsync(brain.runs.follow(head!.id));
  const over = await responses.retrieve(begun.id);
  assert.deepEqual([over.status, over.output_text, over.background], ["completed", "done", true]);
  assert.equal((await responses.cancel(begun.id)).status, "completed");
  const asked = brain.fake.next();
  const second = await responses.create({ model: "bunny", input: "more work", background: true });
  assert.equal(second.status, "in_progress");
  await asked;
  const next = responses.create({ model: "bunny", input: "and?", previous_response_id: second.id });
  await assert.rejects(next, OpenAI.ConflictError);
  assert.equal((await responses.cancel(second.id)).status, "cancelled");
  assert.equal((await responses.retrieve(second.id)).status, "cancelled");
  assert.equal((await brain.runs.list({ limit: 1 }))[0]!.status, "aborted");
});
