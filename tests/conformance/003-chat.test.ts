import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import type { JsonObject } from "@vidro/core";
import OpenAI from "openai";
import { calls, hangAfter, status, text, thinking } from "../support/fake-openai.ts";
import type { FakeRequest } from "../support/fake-openai.ts";
import { startFrontEndServer } from "../support/front-end-server.ts";

/* The chat of contract 003, spoken by the official client: whole answers, streams, and what goes wrong. */

type Params = OpenAI.ChatCompletionCreateParamsNonStreaming;
const user = (content: string): Params["messages"][number] => ({ role: "user", content });
const bunny = (content: string): Params => ({ model: "bunny", messages: [user(content)] });
const read = (path: string): ReturnType<typeof calls> =>
  calls({ id: "m1", name: "read_file", input: JSON.stringify({ file_path: path }) });

const rolesOf = ({ body }: FakeRequest): readonly unknown[] =>
  (body["messages"] as readonly JsonObject[]).map(({ role }) => role);

suite("a whole answer", () => {
  test("003-08 003-14 an agent works with its tools and answers with what the model really used", async (t) => {
    const brain = await startFrontEndServer(t, read("notes.txt"), text("The notes say ", "hello."));
    writeFileSync(join(brain.workspace, "notes.txt"), "hello");
    const { data, response } = await brain.client.chat.completions.create(bunny("read my notes")).withResponse();
    const { id, created, ...rest } = data;
    assert.match(id, /^chatcmpl-/);
    assert.ok(Math.abs(created - Date.now() / 1000) < 60);
    assert.deepEqual(rest, {
      object: "chat.completion",
      model: "bunny",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "The notes say hello.", refusal: null },
          logprobs: null,
          finish_reason: "stop",
        },
      ],
      usage: { prompt_tokens: 22, completion_tokens: 14, total_tokens: 36 },
    });
    const head = await brain.runs.find(String(response.headers.get("x-run-id")), "ana");
    assert.equal(head.status, "finished");
    assert.match(JSON.stringify(brain.fake.requests[1]?.body), /hello/);
  });

  test("003-09 every role of a conversation that the caller keeps reaches the model in its place", async (t) => {
    const brain = await startFrontEndServer(t, text("Rio."));
    await brain.client.chat.completions.create({
      model: "bunny",
      messages: [
        { role: "system", content: "Answer with one word." },
        user("where is it warm?"),
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "w1", type: "function", function: { name: "weather", arguments: '{"city":"Rio"}' } }],
        },
        { role: "tool", tool_call_id: "w1", content: "31 °C" },
        { role: "assistant", content: "In Rio it is." },
        {
          role: "user",
          content: [
            { type: "text", text: "say " },
            { type: "text", text: "it again" },
          ],
        },
      ],
    });
    const [request] = brain.fake.requests;
    assert.deepEqual(rolesOf(request!), ["system", "user", "assistant", "tool", "assistant", "user"]);
    const [system, , called, result, , last] = request!.body["messages"] as readonly JsonObject[];
    assert.match(JSON.stringify(system?.["content"]), /^"You are bunny.*\\n\\nAnswer with one word\./);
    assert.match(JSON.stringify(called?.["tool_calls"]), /weather/);
    assert.equal(result?.["content"], "31 °C");
    assert.equal(last?.["content"], "say it again");
  });

  test("models are agents, and one that is not there is 404", async (t) => {
    const { client } = await startFrontEndServer(t);
    const ids = (await Array.fromAsync(client.models.list())).map(({ id }) => id);
    assert.deepEqual(ids, ["bunny", "scout"]);
    assert.equal((await client.models.retrieve("scout")).owned_by, "vidro");
    const unknown = client.chat.completions.create({ ...bunny("hello"), model: "gpt-5" });
    await assert.rejects(unknown, OpenAI.NotFoundError);
  });

  test("what a request cannot have is refused with the field that asks for it", async (t) => {
    const brain = await startFrontEndServer(t, text("ok"));
    const ask = async (more: JsonObject): Promise<readonly unknown[]> => {
      const body = { model: "bunny", messages: [{ role: "user", content: "hello" }], ...more };
      const { status: code, json } = await brain.ask("POST", "/chat/completions", { body });
      return [code, (json as { error?: { param?: unknown } }).error?.param];
    };
    const picture = [{ role: "user", content: [{ type: "image_url", image_url: { url: "https://a.example/b.png" } }] }];
    const big = { type: "object", description: "x".repeat(40_000) };
    assert.deepEqual(await ask({ n: 2 }), [400, "n"]);
    assert.deepEqual(await ask({ messages: picture }), [422, "messages.0.content.0.image_url"]);
    assert.deepEqual(await ask({ messages: [{ role: "system", content: "be kind" }] }), [422, "messages"]);
    assert.deepEqual(await ask({ messages: [{ role: "robot", content: "hello" }] }), [422, "messages.0.role"]);
    assert.deepEqual(await ask({ functions: [{ name: "a" }, { name: "a" }] }), [422, "functions.1"]);
    assert.deepEqual(await ask({ tools: [{ type: "teleport" }] }), [422, "tools.0"]);
    assert.deepEqual(await ask({ functions: [{ name: "big", parameters: big }] }), [413, "functions.0"]);
    assert.deepEqual(await ask({ temperature: 0.1, top_p: 1, max_tokens: 9, stop: ["."], n: 1, provider: "any" }), [
      200,
      undefined,
    ]);
    assert.equal(brain.fake.requests.length, 1);
  });

  test("a run that fails is an error with the status of its fault", async (t) => {
    const brain = await startFrontEndServer(t, status(401, "who are you"));
    await assert.rejects(brain.client.chat.completions.create(bunny("hello")), (error: unknown) => {
      assert.ok(error instanceof OpenAI.APIError);
      assert.deepEqual([error.status, error.code, error.type], [424, "MODEL_KEY_REFUSED", "server_error"]);
      return true;
    });
  });

  test("what was healed on the way is summed up in a header", async (t) => {
    const brain = await startFrontEndServer(t, status(500, "oh no"), text("ok"));
    const { response } = await brain.client.chat.completions.create(bunny("hello")).withResponse();
    assert.match(String(response.headers.get("x-aon-report")), /^count=\d+;healed=.*retry_with_backoff/);
  });

  test("a request that comes again under its key gets the first one's answer", async (t) => {
    const brain = await startFrontEndServer(t, text("once"), text("twice"));
    const headers = { "idempotency-key": "k1" };
    const first = await brain.client.chat.completions.create(bunny("hello"), { headers });
    const second = await brain.client.chat.completions.create(bunny("hello"), { headers });
    assert.deepEqual(second, first);
    const streamed = { ...bunny("hello"), stream: true } as const;
    const other = { headers: { "idempotency-key": "k2" } };
    const once = await Array.fromAsync(await brain.client.chat.completions.create(streamed, other));
    const again = await Array.fromAsync(await brain.client.chat.completions.create(streamed, other));
    assert.equal(again[0]?.id, once[0]?.id);
    assert.equal((await brain.runs.list({ limit: 9 })).length, 2);
  });
});

suite("a stream", () => {
  test("003-14 pieces come as the model says them: role first, usage last when it is asked for", async (t) => {
    const brain = await startFrontEndServer(t, thinking("hm", "Let me look."));
    const stream = await brain.client.chat.completions.create({
      ...bunny("hello"),
      stream: true,
      stream_options: { include_usage: true },
    });
    const pieces = await Array.fromAsync(stream);
    const told = pieces.map(({ choices: [choice], usage }) => [
      choice?.delta,
      choice?.finish_reason,
      usage?.total_tokens,
    ]);
    assert.deepEqual(told[0], [{ role: "assistant", content: "" }, null, undefined]);
    assert.deepEqual(told.slice(-2), [
      [{}, "stop", undefined],
      [undefined, undefined, 18],
    ]);
    // How the words are cut is up to what looks for secrets in them.
    assert.equal(pieces.map(({ choices: [choice] }) => choice?.delta.content ?? "").join(""), "Let me look.");
    assert.ok(pieces.every(({ object, id }) => object === "chat.completion.chunk" && id === pieces[0]?.id));
  });

  test("003-08 the words come before the answer is complete, and the stream ends with [DONE]", async (t) => {
    const brain = await startFrontEndServer(t, hangAfter("so ", "far"), text("done"));
    const stream = await brain.client.chat.completions.create({ ...bunny("hello"), stream: true });
    const said: string[] = [];
    for await (const { choices } of stream) {
      said.push(choices[0]?.delta.content ?? "");
      if (said.join("") === "so far") break;
    }
    const [head] = await brain.runs.list({ limit: 1 });
    assert.equal(head?.status, "running");
    const { text: raw, headers } = await brain.ask("POST", "/chat/completions", {
      body: { model: "bunny", messages: [{ role: "user", content: "again" }], stream: true },
    });
    assert.match(String(headers.get("content-type")), /^text\/event-stream/);
    assert.ok(raw.endsWith("data: [DONE]\n\n"));
  });

  test("steps on the way stand apart, and lines for the brain are not shown", async (t) => {
    const plan = '{"type":"plan","steps":["look"]}\n{"type":"use_tool","name":"working_directory","args":{}}';
    const brain = await startFrontEndServer(
      t,
      text("I look.\n", plan),
      text('{"type":"done",', '"result":"It is here."}'),
    );
    const stream = await brain.client.chat.completions.create({ ...bunny("where?"), stream: true });
    const said = (await Array.fromAsync(stream)).map(({ choices }) => choices[0]?.delta.content ?? "").join("");
    assert.equal(said, "I look.\n\nIt is here.");
  });

  test("a run that fails ends its glass box with an error", async (t) => {
    const brain = await startFrontEndServer(t, status(401, "who are you"));
    const answer = await brain.ask("POST", "/chat/completions", {
      body: { messages: [{ role: "user", content: "hello" }] },
      headers: { accept: "application/x-ndjson" },
    });
    const last = JSON.parse(answer.text.trim().split("\n").at(-1) ?? "") as JsonObject;
    assert.deepEqual([last["type"], last["code"]], ["error", "MODEL_KEY_REFUSED"]);
  });

  test("a run that fails ends its stream with an error", async (t) => {
    const brain = await startFrontEndServer(t, status(401, "who are you"));
    const stream = await brain.client.chat.completions.create({ ...bunny("hello"), stream: true });
    await assert.rejects(Array.fromAsync(stream), { code: "MODEL_KEY_REFUSED", type: "server_error" });
  });

  test("a client that reads late gets all of it", async (t) => {
    const words = Array.from({ length: 20_000 }, (_, index) => `${index} `);
    const brain = await startFrontEndServer(t, text(...words));
    const stream = await brain.client.chat.completions.create({ ...bunny("say much"), stream: true });
    const [head] = await brain.runs.list({ limit: 1 });
    await Array.fromAsync(brain.runs.follow(head!.id));
    const said = (await Array.fromAsync(stream)).map(({ choices }) => choices[0]?.delta.content ?? "").join("");
    assert.equal(said, words.join("").trim());
  });

  test("a client that goes away does not stop the run", async (t) => {
    const brain = await startFrontEndServer(t, read("none.txt"), text("finished anyway"));
    const stream = await brain.client.chat.completions.create({ ...bunny("go on without me"), stream: true });
    stream.controller.abort();
    const [head] = await brain.runs.list({ limit: 1 });
    const entries = await Array.fromAsync(brain.runs.follow(head!.id));
    const last = entries.at(-1);
    assert.ok(last !== undefined && "entry" in last);
    assert.deepEqual(last.entry.event, { type: "run.finished", result: "finished anyway" });
  });

  test("003-08 the same route is a glass box for clients that accept NDJSON", async (t) => {
    const brain = await startFrontEndServer(t, read("none.txt"), text("There is no such file."));
    const answer = await brain.ask("POST", "/chat/completions", {
      body: { model: "bunny", messages: [{ role: "user", content: "read none.txt" }] },
      headers: { accept: "application/x-ndjson" },
    });
    assert.equal(answer.headers.get("content-type"), "application/x-ndjson");
    const lines = answer.text.trim().split("\n");
    const events = lines.map((line) => JSON.parse(line) as { type: string; data?: OpenAI.ChatCompletion });
    assert.equal(events[0]?.type, "status");
    assert.equal(events.filter(({ type }) => type === "result" || type === "error").length, 1);
    const { data } = events.at(-1)!;
    assert.equal(data?.choices[0]?.message.content, "There is no such file.");
    assert.equal(data.usage?.total_tokens, 36);
  });
});
