import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { RUN_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import OpenAI from "openai";
import { calls, hang, text } from "../support/fake-openai.ts";
import { startFrontEndServer } from "../support/front-end-server.ts";
import type { FrontEndServer } from "../support/front-end-server.ts";

/* Functions that only the caller can carry out, in both forms of the wire, and questions that only a person answers. */

/** As the contract writes it. */
const SEARCH_WEB = {
  name: "search_web",
  description: "Realiza buscas na web",
  parameters: {
    type: "object",
    properties: { query: { type: "string", description: "Termo de busca" } },
    required: ["query"],
  },
};
const INPUT = '{"query":"vidro"}';
const search = calls({ id: "m1", name: "search_web", input: INPUT });
const ask = calls({ id: "q1", name: "ask", input: '{"question":"Which disk?","options":["a","b"]}' });

type Messages = OpenAI.ChatCompletionMessageParam[];
const user = (content: string): Messages[number] => ({ role: "user", content });
const TOOLS: OpenAI.ChatCompletionTool[] = [{ type: "function", function: SEARCH_WEB }];

async function offered(brain: FrontEndServer, request: number): Promise<readonly JsonObject[]> {
  const tools = brain.fake.requests[request]?.body["tools"] as readonly { function: JsonObject }[];
  return tools.map((tool) => tool.function);
}

async function thread(brain: FrontEndServer): Promise<string> {
  return (await brain.client.conversations.create()).id;
}

const complete = (brain: FrontEndServer, messages: Messages, model = "bunny"): Promise<OpenAI.ChatCompletion> =>
  brain.client.chat.completions.create({ model, messages, tools: TOOLS });

test("a function's strict goes to the model's server as it was given", async (t) => {
  const brain = await startFrontEndServer(t, text("It means glass."));
  const strict = { ...SEARCH_WEB, strict: true };
  const messages = [user("what does vidro mean?")];
  await brain.client.chat.completions.create({
    model: "bunny",
    messages,
    tools: [{ type: "function", function: strict }],
  });
  assert.deepEqual(
    (await offered(brain, 0)).find(({ name }) => name === "search_web"),
    strict,
  );
});

suite("the present form", () => {
  test("003-11 003-16 a function of the caller is offered as it was given, comes back as a call, and its result goes on with the same run", async (t) => {
    const brain = await startFrontEndServer(t, search, text("It means glass."));
    const messages: Messages = [user("what does vidro mean?")];
    const called = await complete(brain, messages);
    const [choice] = called.choices;
    assert.deepEqual(
      (await offered(brain, 0)).find(({ name }) => name === "search_web"),
      SEARCH_WEB,
    );
    assert.equal(choice?.finish_reason, "tool_calls");
    assert.equal(choice.message.content, null);
    const [call] = choice.message.tool_calls ?? [];
    assert.ok(call?.type === "function");
    assert.deepEqual(call.function, { name: "search_web", arguments: INPUT });
    messages.push(choice.message, { role: "tool", tool_call_id: call.id, content: "glass (pt)" });
    const answer = await complete(brain, messages);
    assert.equal(answer.choices[0]?.message.content, "It means glass.");
    assert.equal(answer.usage?.total_tokens, 18);
    assert.equal((await brain.runs.list({ limit: 9 })).length, 1);
    assert.match(JSON.stringify(brain.fake.requests[1]?.body["messages"]), /glass \(pt\)/);
    const repeated = await complete(brain, messages);
    assert.equal(repeated.choices[0]?.message.content, "It means glass.");
    assert.equal(brain.fake.requests.length, 2);
  });

  test("a call comes in a stream, too, and has an index there", async (t) => {
    const brain = await startFrontEndServer(t, search, text("It means ", "glass."));
    const request = { model: "bunny", messages: [user("what?")], tools: TOOLS, stream: true as const };
    const pieces = await Array.fromAsync(await brain.client.chat.completions.create(request));
    const [called, finished] = pieces.slice(-2).map(({ choices }) => choices[0]);
    const [call] = called?.delta.tool_calls ?? [];
    assert.equal(call?.index, 0);
    assert.equal(call.function?.arguments, INPUT);
    assert.equal(finished?.finish_reason, "tool_calls");
    const runner = brain.client.chat.completions.stream({
      ...request,
      messages: [
        ...request.messages,
        {
          role: "assistant",
          tool_calls: [{ id: call.id!, type: "function", function: { name: "search_web", arguments: INPUT } }],
        },
        { role: "tool", tool_call_id: call.id!, content: "glass" },
      ],
    });
    assert.equal(await runner.finalContent(), "It means glass.");
  });

  test("a result is taken once, from its owner, and only for a call that was made", async (t) => {
    const brain = await startFrontEndServer(t, search, text("ok"));
    const messages: Messages = [user("what?")];
    const { message } = (await complete(brain, messages)).choices[0]!;
    const id = message.tool_calls?.[0]?.id ?? "";
    const result = (content: string, tool_call_id = id): Messages => [
      ...messages,
      message,
      { role: "tool", tool_call_id, content },
    ];
    const bob = new OpenAI({ baseURL: brain.url, apiKey: await brain.token("bob", "runs"), maxRetries: 0 });
    await assert.rejects(bob.chat.completions.create({ model: "bunny", messages: result("x") }), OpenAI.NotFoundError);
    await assert.rejects(complete(brain, result("x", "call_nobody_made")), OpenAI.NotFoundError);
    await assert.rejects(complete(brain, result("x", id.replace(/q\d+/, "q1"))), OpenAI.NotFoundError);
    await complete(brain, result("one"));
    await assert.rejects(complete(brain, result("another")), OpenAI.ConflictError);
  });

  test("through the glass box a call is the result, and the way to it is shown", async (t) => {
    const brain = await startFrontEndServer(t, search);
    const answer = await brain.ask("POST", "/chat/completions", {
      body: { messages: [{ role: "user", content: "what?" }], functions: [SEARCH_WEB], stream: true },
      headers: { accept: "application/x-ndjson, application/json;q=0.1" },
    });
    const lines = answer.text.trim().split("\n");
    const events = lines.map((line) => JSON.parse(line) as { type: string; data?: OpenAI.ChatCompletion });
    assert.deepEqual([...new Set(events.slice(0, -1).map(({ type }) => type))], ["status"]);
    assert.deepEqual(events.at(-1)?.data?.choices[0]?.message.function_call, { name: "search_web", arguments: INPUT });
  });

  test("a result that comes when the run has gone on without it is refused", async (t) => {
    const first = await startFrontEndServer(t, search, text("I could not look it up."));
    const messages: Messages = [user("what?")];
    const { message } = (await complete(first, messages)).choices[0]!;
    const brain = await first.restarted(RUN_LIMITS.answerMs);
    const [head] = await brain.runs.list({ limit: 1 });
    await brain.runs.resume(head!.id);
    await Array.fromAsync(brain.runs.follow(head!.id));
    messages.push(message, { role: "tool", tool_call_id: message.tool_calls?.[0]?.id ?? "", content: "glass" });
    await assert.rejects(complete(brain, messages), { status: 409, message: /too late/ });
  });

  test("a call outlives the brain that made it", async (t) => {
    const first = await startFrontEndServer(t, search, text("It means glass."));
    const messages: Messages = [user("what?")];
    const { message } = (await complete(first, messages)).choices[0]!;
    messages.push(message, { role: "tool", tool_call_id: message.tool_calls?.[0]?.id ?? "", content: "glass" });
    const second = await first.restarted();
    assert.equal((await complete(second, messages)).choices[0]?.message.content, "It means glass.");
  });

  test("003-12 what is to be called reaches the model's server, and a tool that is not there is refused", async (t) => {
    const brain = await startFrontEndServer(t, text("ok"));
    const create = (choice: OpenAI.ChatCompletionToolChoiceOption): Promise<OpenAI.ChatCompletion> =>
      brain.client.chat.completions.create({
        model: "bunny+hands",
        messages: [user("hi")],
        tools: TOOLS,
        tool_choice: choice,
      });
    await create({ type: "function", function: { name: "search_web" } });
    await create({ type: "function", function: { name: "read_file" } });
    await create("none");
    await create("required");
    await create("auto");
    await assert.rejects(create({ type: "function", function: { name: "teleport" } }), OpenAI.UnprocessableEntityError);
    const named = (name: string): JsonObject => ({ type: "function", function: { name } });
    assert.deepEqual(
      brain.fake.requests.map(({ body }) => body["tool_choice"]),
      [named("search_web"), named("read_file"), undefined, "required", undefined],
    );
    const systems = brain.fake.requests.map(({ body }) => JSON.stringify((body["messages"] as JsonObject[])[0]));
    assert.match(systems[0]!, /Call the tool search_web/);
    assert.match(systems[3]!, /Call one of your tools/);
    assert.doesNotMatch(systems[4]!, /before you answer/);
    assert.equal(brain.fake.requests[2]?.body["tools"], undefined, "none: there is nothing to call");
  });

  test("003-12 a call that must be made is asked for until it is made, and no longer", async (t) => {
    const brain = await startFrontEndServer(t, search, text("It means glass."));
    const request = {
      model: "bunny",
      messages: [user("what?")],
      tools: TOOLS,
      tool_choice: "required",
    } satisfies OpenAI.ChatCompletionCreateParamsNonStreaming;
    const { message } = (await brain.client.chat.completions.create(request)).choices[0]!;
    const result = { role: "tool", tool_call_id: message.tool_calls?.[0]?.id ?? "", content: "glass" } as const;
    const second = await brain.restarted();
    await second.client.chat.completions.create({ ...request, messages: [...request.messages, message, result] });
    assert.deepEqual(
      brain.fake.requests.map(({ body }) => body["tool_choice"]),
      ["required", undefined],
    );
  });
});

suite("the earlier form", () => {
  const legacy = (messages: Messages): OpenAI.ChatCompletionCreateParamsNonStreaming => ({
    model: "bunny",
    messages,
    functions: [SEARCH_WEB],
    function_call: "auto",
  });

  test("003-10 003-11 003-12 a call comes as function_call with its arguments as text, and the function's message goes on", async (t) => {
    const brain = await startFrontEndServer(t, search, text("It means glass."));
    const messages: Messages = [user("what does vidro mean?")];
    const [choice] = (await brain.client.chat.completions.create(legacy(messages))).choices;
    assert.equal(choice?.finish_reason, "function_call");
    assert.deepEqual(choice.message.function_call, { name: "search_web", arguments: INPUT });
    messages.push(choice.message, { role: "function", name: "search_web", content: "glass" });
    const answer = await brain.client.chat.completions.create(legacy(messages));
    assert.equal(answer.choices[0]?.message.content, "It means glass.");
    assert.equal((await brain.runs.list({ limit: 9 })).length, 1);
  });

  test("003-09 003-10 a message of the role tool without an id goes on with what waits in its conversation", async (t) => {
    const brain = await startFrontEndServer(t, search, text("It means glass."));
    const path = `/conversations/${await thread(brain)}/messages`;
    const functions = [SEARCH_WEB];
    const first = await brain.ask("POST", path, {
      body: {
        model: "bunny",
        messages: [{ role: "user", content: "what?" }],
        functions,
        function_call: { name: "search_web" },
      },
    });
    assert.match(first.text, /"finish_reason":"function_call"/);
    const second = await brain.ask("POST", path, {
      body: { model: "bunny", messages: [{ role: "tool", content: "glass" }], functions },
    });
    assert.match(second.text, /It means glass\./);
  });

  test("003-12 function_call may be the bare name of the function, as the contract writes it", async (t) => {
    const brain = await startFrontEndServer(t, search, search);
    const say = async (body: JsonObject): Promise<{ status: number; text: string }> =>
      brain.ask("POST", `/conversations/${await thread(brain)}/messages`, {
        body: { model: "bunny", messages: [{ role: "user", content: "what?" }], ...body },
      });
    const named = await say({ functions: [SEARCH_WEB], function_call: "search_web" });
    assert.match(named.text, /"finish_reason":"function_call"/);
    const choice = { type: "function", function: { name: "search_web" } };
    assert.deepEqual(brain.fake.requests[0]?.body["tool_choice"], choice);
    for (const wrong of ["search the web", "teleport", ""]) {
      const refused = await say({ functions: [SEARCH_WEB], function_call: wrong });
      assert.equal(refused.status, 422, `${wrong}: ${refused.text}`);
    }
  });

  test("a stream of the earlier form has the call in its own form", async (t) => {
    const brain = await startFrontEndServer(t, search);
    const request = { ...legacy([user("what?")]), stream: true as const };
    const pieces = await Array.fromAsync(await brain.client.chat.completions.create(request));
    assert.deepEqual(pieces.at(-2)?.choices[0]?.delta, { function_call: { name: "search_web", arguments: INPUT } });
    assert.equal(pieces.at(-1)?.choices[0]?.finish_reason, "function_call");
  });
});

suite("questions", () => {
  const speak = (brain: FrontEndServer, id: string, content: string): ReturnType<FrontEndServer["ask"]> =>
    brain.ask("POST", `/conversations/${id}/messages`, {
      body: { messages: [{ role: "user", content }], tools: TOOLS as never },
    });

  test("what the model asks is the answer, and the next message answers it", async (t) => {
    const brain = await startFrontEndServer(t, ask, text("Disk a is full."));
    const id = await thread(brain);
    assert.match((await speak(brain, id, "how full?")).text, /Which disk\?\\n- a\\n- b/);
    assert.match((await speak(brain, id, "a")).text, /Disk a is full\./);
    assert.equal((await brain.runs.list({ limit: 9 })).length, 1);
    const read = (await brain.ask("GET", `/conversations/${id}`)).json as { messages: { content: string }[] };
    assert.deepEqual(
      read.messages.map(({ content }) => content),
      ["how full?", "Which disk?\n- a\n- b", "a", "Disk a is full."],
    );
  });

  test("the same holds for a caller that keeps the conversation", async (t) => {
    const brain = await startFrontEndServer(t, ask, text("Disk a is full."));
    const messages: Messages = [user("how full?")];
    messages.push((await complete(brain, messages, "bunny+hands")).choices[0]!.message, user("a"));
    assert.equal((await complete(brain, messages, "bunny+hands")).choices[0]?.message.content, "Disk a is full.");
    assert.equal((await brain.runs.list({ limit: 9 })).length, 1);
  });

  test("a message that comes again under its key finds its run, also when that run waits", async (t) => {
    const brain = await startFrontEndServer(t, search);
    const path = `/conversations/${await thread(brain)}/messages`;
    const request = {
      body: { messages: [{ role: "user", content: "what?" }], functions: [SEARCH_WEB], stream: true },
      headers: { "idempotency-key": "k1" },
    };
    const first = await brain.ask("POST", path, request);
    assert.match(first.text, /"finish_reason":"function_call"/);
    assert.equal((await brain.ask("POST", path, request)).headers.get("x-run-id"), first.headers.get("x-run-id"));
    assert.equal((await brain.runs.list({ limit: 9 })).length, 1);
  });

  test("a caller that goes on without the result ends the run that waits for it", async (t) => {
    const brain = await startFrontEndServer(t, search, text("Never mind."));
    const id = await thread(brain);
    await speak(brain, id, "what?");
    assert.match((await speak(brain, id, "forget it")).text, /Never mind\./);
    const heads = await brain.runs.list({ limit: 9 });
    assert.deepEqual(
      heads.map((head) => head.status),
      ["finished", "aborted"],
    );
    const read = (await brain.ask("GET", `/conversations/${id}`)).json as { messages: { content: string | null }[] };
    assert.deepEqual(
      read.messages.map(({ content }) => content),
      ["what?", null, "(This was stopped.)", "forget it", "Never mind."],
    );
  });

  test("a conversation in which a run is at work takes no other message", async (t) => {
    const brain = await startFrontEndServer(t, hang);
    const id = await thread(brain);
    const arrived = brain.fake.next();
    const first = speak(brain, id, "think hard");
    await arrived;
    const second = await speak(brain, id, "hurry");
    assert.equal(second.status, 409);
    const [head] = await brain.runs.list({ limit: 1 });
    await brain.runs.abort(head!.id, "test");
    assert.equal((await first).status, 409);
  });

  test("what is asked on this wire waits as long as on any other", async (t) => {
    const brain = await startFrontEndServer(t, text("ok"));
    await complete(brain, [user("hi")]);
    const [head] = await brain.runs.list({ limit: 1 });
    const [entry] = await brain.journal.read(head!.id, 0, 1);
    assert.ok(entry?.event.type === "run.started");
    assert.equal(entry.event.budget.answerMs, undefined);
  });
});
