import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@vidro/core";
import { fakeOpenAi, status, text } from "../../../../tests/support/fake-openai.ts";
import type { FakeReply } from "../../../../tests/support/fake-openai.ts";
import { scriptedWorker } from "../../../../tests/support/scripted-worker.ts";
import { chooseModel } from "./choose.ts";
import { readConfig } from "../config.ts";
import { REQUEST, eventsOf, modelContract, terminalOf } from "./model.contract.ts";
import { PROVIDERS } from "./providers.ts";

const KEY = "key-for-tests";

/** Providers whose packages are installed on demand; `more-providers.test.ts` calls them. */
const INSTALLED = new Set(["mistral", "azure", "bedrock", "vertex"]);

/** The providers whose models are called by HTTP. */
const BY_HTTP = PROVIDERS.filter(({ single, name }) => single !== true && !INSTALLED.has(name));

const sse =
  (...events: readonly object[]): FakeReply =>
  (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
  };

const message = { id: "m", type: "message", role: "assistant", model: "m", content: [], stop_reason: null };

/** A small good answer in the language of each provider, and how a choice and a way of drawing are said in it. */
interface Wire {
  readonly reply: FakeReply;
  readonly path: string;
  readonly said: JsonObject;
}

const CHAT: Wire = {
  reply: text("hel", "lo"),
  path: "/v1/chat/completions",
  said: {
    temperature: 0.5,
    top_p: 0.25,
    max_tokens: 99,
    stop: ["END"],
    repeat_penalty: 1.5,
    tool_choice: { type: "function", function: { name: "read_folder" } },
  },
};

const WIRES: { readonly [provider: string]: Wire } = {
  openai: CHAT,
  ollama: CHAT,
  groq: CHAT,
  openrouter: CHAT,
  deepseek: CHAT,
  lmstudio: CHAT,
  vllm: CHAT,
  anthropic: {
    path: "/v1/messages",
    said: {
      temperature: 0.5,
      top_p: 0.25,
      max_tokens: 99,
      stop_sequences: ["END"],
      tool_choice: { type: "tool", name: "read_folder", disable_parallel_tool_use: true },
    },
    reply: sse(
      { type: "message_start", message: { ...message, usage: { input_tokens: 11, output_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hel" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "lo" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 7 } },
      { type: "message_stop" },
    ),
  },
  "openai-responses": {
    path: "/v1/responses",
    said: {
      temperature: 0.5,
      top_p: 0.25,
      max_output_tokens: 99,
      store: false,
      parallel_tool_calls: false,
      tool_choice: { type: "function", name: "read_folder" },
    },
    reply: sse(
      { type: "response.created", response: { id: "r", created_at: 1, model: "m" } },
      { type: "response.output_item.added", output_index: 0, item: { type: "message", id: "i" } },
      { type: "response.output_text.delta", item_id: "i", delta: "hel" },
      { type: "response.output_text.delta", item_id: "i", delta: "lo" },
      { type: "response.output_item.done", output_index: 0, item: { type: "message", id: "i" } },
      { type: "response.completed", response: { usage: { input_tokens: 11, output_tokens: 7 } } },
    ),
  },
  google: {
    path: "/v1beta/models/m:streamGenerateContent?alt=sse",
    said: {
      generationConfig: { temperature: 0.5, topP: 0.25, maxOutputTokens: 99, stopSequences: ["END"] },
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["read_folder"] } },
    },
    reply: sse({
      candidates: [{ index: 0, content: { role: "model", parts: [{ text: "hello" }] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 },
    }),
  },
};

/** The wire of a provider; xai has that of Responses, whose thinking models take no temperature. */
function wireOf(name: string): Wire | undefined {
  if (name !== "xai") return WIRES[name];
  const responses = WIRES["openai-responses"];
  return responses && { ...responses, said: { max_output_tokens: 99, store: false, parallel_tool_calls: false } };
}

async function open(provider: (typeof PROVIDERS)[number], reply: FakeReply | undefined) {
  assert.ok(reply, `${provider.name} has a row in WIRES`);
  const fake = await fakeOpenAi(reply);
  const keys = Object.fromEntries(provider.keys.map((name) => [name, KEY]));
  const env = { VIDRO_MODEL: `${provider.name}/m`, [provider.address]: new URL(fake.url).origin, ...keys };
  return { fake, model: await chooseModel(readConfig({ env })), close: () => fake.close() };
}

test("000-62 no provider is without its row in the tests of the contract", () => {
  assert.deepEqual([...Object.keys(WIRES), "xai"].toSorted(), BY_HTTP.map(({ name }) => name).toSorted());
});

for (const provider of BY_HTTP) {
  const wire = wireOf(provider.name);
  modelContract(provider.name, () => open(provider, wire?.reply));

  test(`${provider.name} is asked at its own path and its count of tokens is taken`, async (t) => {
    const { fake, model, close } = await open(provider, wire?.reply);
    t.after(close);
    const last = terminalOf(await eventsOf(model));
    assert.ok(last.type === "replied", JSON.stringify(last));
    const { inputTokens, outputTokens } = last.reply.usage;
    assert.deepEqual([inputTokens, outputTokens], [11, 7]);
    assert.equal(last.reply.text, "hello");
    assert.equal(fake.requests[0]?.path, wire?.path);
    assert.ok(!JSON.stringify([fake.requests[0]?.body, fake.requests[0]?.path]).includes(KEY));
  });

  test(`${provider.name} is told what to call and how to draw its words`, async (t) => {
    const { fake, model, close } = await open(provider, wire?.reply);
    t.after(close);
    const sampling = { temperature: 0.5, topP: 0.25, maxTokens: 99, stop: ["END"], repeatPenalty: 1.5 };
    await eventsOf(model, { ...REQUEST, choice: { tool: "read_folder" }, sampling });
    const { body } = fake.requests[0]!;
    assert.deepEqual(Object.fromEntries(Object.keys(wire?.said ?? {}).map((name) => [name, body[name]])), wire?.said);
    if (wire !== CHAT) assert.doesNotMatch(JSON.stringify(body), /repeat/);
  });

  test(`${provider.name} takes the calls and results of a run and refuses by name`, async (t) => {
    const { fake, model, close } = await open(provider, status(401, "who are you"));
    t.after(close);
    const action = { id: "act_1", tool: "read_folder", input: { dir_path: "here" }, callId: "call_1" };
    const turns = [
      ...REQUEST.turns,
      { role: "assistant", text: "I look.", action },
      { role: "tool", callId: "call_1", tool: "read_folder", text: "it broke", failed: true },
    ] as const;
    const last = terminalOf(await eventsOf(model, { ...REQUEST, turns }));
    assert.equal(last.type === "failed" && last.fault.code, "MODEL_KEY_REFUSED");
    const sent = JSON.stringify(fake.requests[0]?.body);
    for (const word of ["You are brief.", "list the files", "I look.", "read_folder", "here", "it broke"]) {
      assert.ok(sent.includes(word), `${word} is in ${sent}`);
    }
  });
}

for (const flavour of ["json", "text"] as const) {
  modelContract(`a worker that streams ${flavour}`, async () => {
    const worker = await scriptedWorker({ flavour, answer: ["hel", "lo"] });
    const env = { VIDRO_MODEL: "worker", FAZAI_GEMMA_SOCK: worker.socket };
    return { model: await chooseModel(readConfig({ env })), close: () => worker.close() };
  });
}

modelContract("a chain", async () => {
  const broken = await fakeOpenAi(status(500, "oh no"));
  const sound = await fakeOpenAi(text("hel", "lo"));
  const env = { OPENAI_BASE_URL: broken.url, OLLAMA_HOST: new URL(sound.url).host, VIDRO_MODEL: "openai/a,ollama/b" };
  const close = async () => {
    await Promise.all([broken.close(), sound.close()]);
  };
  return { model: await chooseModel(readConfig({ env })), close };
});

modelContract("offline", async () => ({
  model: await chooseModel(readConfig({ env: { VIDRO_MODEL: "offline" } })),
  close: async () => undefined,
}));
