import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Json, JsonObject } from "@vidro/core";
import { CHAT_PARAMETERS, RESPONSE_PARAMETERS } from "../../packages/brain/src/north/openai/parameters.ts";
import type { ParameterTreatment } from "../../packages/brain/src/north/openai/parameters.ts";
import { calls, text } from "../support/fake-openai.ts";
import { startFrontEndServer } from "../support/front-end-server.ts";
import type { FrontEndServer } from "../support/front-end-server.ts";

/* Every parameter that the vendor documents is passed on, acted on or refused by name; an answer has its form. */

const RESOURCES = join(dirname(fileURLToPath(import.meta.resolve("openai"))), "resources");

/** The parameters that an interface of the vendor's own client declares. */
function documented(file: string, name: string): readonly string[] {
  const source = readFileSync(join(RESOURCES, file), "utf8");
  const from = source.indexOf(`export interface ${name} {`);
  assert.ok(from >= 0, name);
  const body = source.slice(from, source.indexOf("\n}", from));
  return [...body.matchAll(/^ {4}(\w+)\??:/gm)].map(([, field = ""]) => field);
}

/** A value of each parameter that asks for something. */
const VALUES: { readonly [name: string]: Json } = {
  access_programs: { cyber: "standard" },
  audio: { voice: "alloy", format: "wav" },
  context_management: [{ type: "compaction" }],
  image: { context_compression: "enabled" },
  logit_bias: { "50256": -100 },
  logprobs: true,
  moderation: { model: "m" },
  prediction: { type: "content", content: "x" },
  prompt: { id: "pmpt_1" },
  prompt_cache_options: { mode: "explicit" },
  top_logprobs: 2,
  web_search_options: {},
};

interface Endpoint {
  readonly path: string;
  readonly table: { readonly [name: string]: ParameterTreatment };
  readonly least: JsonObject;
  readonly vendor: readonly string[];
}

const ENDPOINTS: readonly Endpoint[] = [
  {
    path: "/chat/completions",
    table: CHAT_PARAMETERS,
    least: { model: "bunny", messages: [{ role: "user", content: "hello" }] },
    vendor: documented("chat/completions/completions.d.ts", "ChatCompletionCreateParamsBase"),
  },
  {
    path: "/responses",
    table: RESPONSE_PARAMETERS,
    least: { model: "bunny", input: "hello" },
    vendor: documented("responses/responses.d.ts", "ResponseCreateParamsBase"),
  },
];

type FaultBody = { readonly error?: { readonly param: string; readonly message: string } };

test("each documented parameter of both endpoints has its place in the table, and what is refused is refused by name", async (t) => {
  const brain = await startFrontEndServer(t, text("ok"));
  for (const { path, table, least, vendor } of ENDPOINTS) {
    assert.ok(vendor.length > 30, path);
    assert.deepEqual(
      vendor.filter((name) => !Object.hasOwn(table, name)),
      [],
      `${path} has no place for`,
    );
    for (const [name, treatment] of [...Object.entries(table), ["no_such_parameter", { refused: "" }] as const]) {
      if (typeof treatment === "string") continue;
      const { status, json } = await brain.ask("POST", path, { body: { ...least, [name]: VALUES[name] ?? "x" } });
      assert.deepEqual([status, (json as FaultBody).error?.param], [422, name], `${path} ${name}`);
      assert.match((json as FaultBody).error?.message ?? "", new RegExp(name));
    }
  }
  assert.equal(brain.fake.requests.length, 0);
});

test("what is passed on reaches the model's server, and values that cannot be met are refused", async (t) => {
  const brain = await startFrontEndServer(t, text("ok"));
  const ask = (path: string, body: JsonObject): ReturnType<FrontEndServer["ask"]> => brain.ask("POST", path, { body });
  const [chat, responses] = ENDPOINTS as [Endpoint, Endpoint];
  const passed = { frequency_penalty: 0.5, presence_penalty: -0.5, seed: 7, reasoning_effort: "low", verbosity: "low" };
  const hints = { user: "ana", prompt_cache_key: "k", safety_identifier: "s", metadata: { a: "b" } };
  assert.equal((await ask(chat.path, { ...chat.least, ...passed, ...hints })).status, 200);
  const body = brain.fake.requests[0]!.body;
  assert.deepEqual(Object.fromEntries(Object.keys(passed).map((name) => [name, body[name]])), passed);
  const text2 = { verbosity: "high" };
  const more = { temperature: 0.1, top_p: 0.2, reasoning: { effort: "high" }, text: text2, max_output_tokens: 5 };
  assert.equal((await ask(responses.path, { ...responses.least, ...more, ...hints })).status, 200);
  const { temperature, top_p, reasoning_effort, verbosity, max_tokens } = brain.fake.requests[1]!.body;
  assert.deepEqual([temperature, top_p, reasoning_effort, verbosity, max_tokens], [0.1, 0.2, "high", "high", 5]);
  const refusals: readonly (readonly [Endpoint, JsonObject, string])[] = [
    [chat, { reasoning_effort: "huge" }, "reasoning_effort"],
    [chat, { modalities: ["text", "audio"] }, "modalities"],
    [chat, { response_format: { type: "yaml" } }, "response_format"],
    [chat, { stream_options: { include_obfuscation: true } }, "stream_options.include_obfuscation"],
    [responses, { truncation: "disabled" }, "truncation"],
    [responses, { include: ["message.output_text.logprobs"] }, "include"],
    [responses, { reasoning: { summary: "concise" } }, "reasoning.summary"],
    [responses, { background: true, store: false }, "store"],
    [responses, { text: { format: { type: "json_schema" } } }, "text.format"],
  ];
  for (const [{ path, least }, wish, param] of refusals) {
    const { status, json } = await ask(path, { ...least, ...wish });
    assert.deepEqual([status, (json as FaultBody).error?.param], [422, param], JSON.stringify(wish));
  }
  assert.equal(brain.fake.requests.length, 2);
});

suite("the form of an answer", () => {
  const schema = {
    type: "object",
    properties: { name: { type: "string" }, legs: { type: "integer", minimum: 0 } },
    required: ["name", "legs"],
    additionalProperties: false,
  };
  const asChat = { response_format: { type: "json_schema", json_schema: { name: "animal", schema } } };
  const asResponse = { text: { format: { type: "json_schema", name: "animal", schema } } };
  const good = '{"name":"rabbit","legs":4}';

  const both = (brain: FrontEndServer, index: number): ReturnType<FrontEndServer["ask"]> => {
    const { path, least } = ENDPOINTS[index]!;
    return brain.ask("POST", path, { body: { ...least, ...(index === 0 ? asChat : asResponse) } });
  };

  test("an answer that fits its schema is given, and the model's server is told the schema", async (t) => {
    const brain = await startFrontEndServer(t, text(good));
    for (const index of [0, 1]) {
      assert.match((await both(brain, index)).text, /rabbit/);
      const { response_format: format, messages } = brain.fake.requests[index]!.body;
      assert.deepEqual((format as { json_schema: { schema: unknown } }).json_schema.schema, schema);
      assert.match(JSON.stringify(messages), /fits this JSON Schema/);
    }
  });

  test("an answer that does not fit is asked for once more with what is wrong, and then it is an error by name", async (t) => {
    const brain = await startFrontEndServer(t, text('{"name":"rabbit"}'), text(good));
    const answer = await both(brain, 1);
    assert.match(answer.text, /legs/);
    assert.equal(brain.fake.requests.length, 2);
    assert.match(JSON.stringify(brain.fake.requests[1]!.body["messages"]), /does not fit[^]*legs/);
    const { usage } = answer.json as { usage: { total_tokens: number } };
    assert.equal(usage.total_tokens, 36, "both calls are counted");
    const worse = await startFrontEndServer(t, text("four legs"));
    for (const index of [0, 1]) {
      const { status, json } = await both(worse, index);
      assert.equal(status, 502);
      assert.equal((json as { error: { code: string } }).error.code, "ANSWER_UNFIT");
    }
    assert.equal(worse.fake.requests.length, 4);
  });

  test("nothing of an answer that does not fit is streamed", async (t) => {
    const brain = await startFrontEndServer(t, text("no ", "JSON"), text('{"a":', "1}"));
    const { path, least } = ENDPOINTS[0]!;
    const body = { ...least, stream: true, response_format: { type: "json_object" } };
    const { text: stream } = await brain.ask("POST", path, { body });
    assert.doesNotMatch(stream, /no JSON|"no /);
    assert.match(stream, /\{\\"a\\":1\}/);
  });

  test("a call is no answer, and an answer in JSON is no action line", async (t) => {
    const brain = await startFrontEndServer(t, calls({ id: "m", name: "look", input: "{}" }), text('{"type":"plan"}'));
    const body = {
      model: "bunny",
      input: "hello",
      text: { format: { type: "json_object" } },
      tools: [{ type: "function", name: "look", parameters: {} }],
    };
    const first = (await brain.ask("POST", "/responses", { body })).json as {
      id: string;
      output: { call_id: string }[];
    };
    const output = { type: "function_call_output", call_id: first.output[0]!.call_id, output: "x" };
    const next = { ...body, previous_response_id: first.id, input: [output] };
    assert.match((await brain.ask("POST", "/responses", { body: next })).text, /\{\\"type\\":\\"plan\\"\}/);
  });

  test("a schema that cannot be used, or whose pattern never ends, is refused and ends nothing", async (t) => {
    const brain = await startFrontEndServer(t, text(JSON.stringify(`${"a".repeat(40)}b`)));
    const ask = (bad: JsonObject): ReturnType<FrontEndServer["ask"]> => {
      const format = { type: "json_schema", name: "x", schema: bad };
      return brain.ask("POST", "/responses", { body: { model: "bunny", input: "hello", text: { format } } });
    };
    for (const bad of [
      { type: "string", pattern: "^(a+)+$" },
      { $ref: "https://example.com/x" },
      { type: "nothing" },
    ]) {
      const { status, json } = await ask(bad);
      assert.deepEqual([status, (json as { error: { code: string } }).error.code], [422, "BAD_ARGUMENTS"]);
    }
  });
});
