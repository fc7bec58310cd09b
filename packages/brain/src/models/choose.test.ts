import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { Fault } from "@vidro/core";
import type { FaultCode } from "@vidro/core";
import { fakeOpenAi, hang, json, status, text } from "../../../../tests/support/fake-openai.ts";
import type { FakeReply } from "../../../../tests/support/fake-openai.ts";
import { ollamaUrl } from "./address.ts";
import { chooseModel, describeChoice } from "./choose.ts";
import { readConfig } from "../config.ts";
import type { Environment } from "../config.ts";
import { eventsOf, terminalOf } from "./model.contract.ts";

/** An address without a server, so that one on the tester's own machine changes nothing. */
async function nowhere(): Promise<string> {
  const gone = await fakeOpenAi();
  await gone.close();
  return new URL(gone.url).host;
}

async function server(t: TestContext, ...replies: FakeReply[]) {
  const fake = await fakeOpenAi(...replies);
  t.after(() => fake.close());
  return fake;
}

async function refusal(env: Environment, code: FaultCode): Promise<string> {
  const thrown: unknown = await Promise.try(() => chooseModel(readConfig({ env }))).then(
    (model) => assert.fail(`${model.name} was chosen`),
    (fault: unknown) => fault,
  );
  assert.ok(thrown instanceof Fault, String(thrown));
  assert.equal(thrown.code, code, thrown.message);
  return thrown.message;
}

test("with nothing in the environment and no server on the machine the model is offline", async () => {
  const choice = await describeChoice(readConfig({ env: { OLLAMA_HOST: await nowhere() } }));
  assert.equal(choice.name, "offline");
  assert.match(choice.because, /no key/);
});

for (const [env, name] of [
  [{ ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k" }, "anthropic/claude-sonnet-5"],
  [{ ANTHROPIC_API_KEY: " ", OPENAI_API_KEY: "k" }, "openai/gpt-5.6"],
  [{ GOOGLE_GENERATIVE_AI_API_KEY: "k" }, "google/gemini-flash-latest"],
  [{ GEMINI_API_KEY: "k" }, "google/gemini-flash-latest"],
  [{ VIDRO_MODEL: "openai/gpt-4.1", OPENAI_API_KEY: "k" }, "openai/gpt-4.1"],
  [{ VIDRO_MODEL: "openai/gpt-4.1", VIDRO_MODEL_KEY: "k" }, "openai/gpt-4.1"],
  [{ VIDRO_MODEL: "anthropic", ANTHROPIC_API_KEY: "k" }, "anthropic/claude-sonnet-5"],
  [{ VIDRO_MODEL: "ollama/hf.co/some/thing:q4" }, "ollama/hf.co/some/thing:q4"],
  [{ VIDRO_MODEL: "qwen", VIDRO_MODEL_URL: "http://127.0.0.1:9" }, "qwen"],
  [{ VIDRO_MODEL: "openai/gpt-5", VIDRO_MODEL_URL: "http://127.0.0.1:9" }, "openai/gpt-5"],
  [{ VIDRO_MODEL: "offline", ANTHROPIC_API_KEY: "k" }, "offline"],
  [{ VIDRO_MODEL: "ollama/a, ollama/b,,offline" }, "ollama/a,ollama/b,offline"],
] satisfies [Environment, string][]) {
  test(`${JSON.stringify(env)} means ${name}`, async () => {
    assert.equal((await chooseModel(readConfig({ env }))).name, name);
  });
}

test("the choice says which variable made it", async () => {
  assert.equal((await describeChoice(readConfig({ env: { GEMINI_API_KEY: "k" } }))).because, "GEMINI_API_KEY is set");
  assert.equal((await describeChoice(readConfig({ env: { VIDRO_MODEL: "ollama/a" } }))).because, "VIDRO_MODEL says so");
});

test("an address alone means the first model that its server lists", async (t) => {
  const fake = await server(
    t,
    json({ data: [{ id: "text-embed-3" }, { id: "llama-x" }, { id: "other" }] }),
    text("hello"),
  );
  const model = await chooseModel(
    readConfig({ env: { VIDRO_MODEL_URL: `${fake.url}/`, VIDRO_MODEL_KEY: "k-1", ANTHROPIC_API_KEY: "k" } }),
  );
  assert.equal(model.name, "llama-x");
  assert.equal(model.because, `it is the first that ${fake.url} lists`);
  assert.equal(terminalOf(await eventsOf(model)).type, "replied");
  assert.deepEqual(
    fake.requests.map((request) => request.path),
    ["/v1/models", "/v1/chat/completions"],
  );
  assert.deepEqual(
    fake.requests.map((request) => request.headers.authorization),
    ["Bearer k-1", "Bearer k-1"],
  );
  assert.equal(fake.requests[1]?.body["model"], "llama-x");
});

test("an address where no models are listed fails by name and never falls back in silence", async (t) => {
  const closed = await server(t, status(401, "who are you"));
  const bare = await server(t, json({ data: [] }));
  const page = await server(t, (response) => response.end("<html>"));
  assert.match(await refusal({ VIDRO_MODEL_URL: closed.url }, "MODEL_REFUSED"), /401/);
  assert.match(await refusal({ VIDRO_MODEL_URL: bare.url }, "MODEL_UNKNOWN"), /VIDRO_MODEL/);
  await refusal({ VIDRO_MODEL_URL: page.url }, "MODEL_UNAVAILABLE");
  await refusal({ VIDRO_MODEL_URL: `http://${await nowhere()}` }, "MODEL_UNAVAILABLE");
});

test("an Ollama server that answers is used with the first model it has", async (t) => {
  const fake = await server(t, json({ models: [{ name: "qwen3:8b" }, { name: "llama3" }] }), text("hello"));
  const model = await chooseModel(readConfig({ env: { OLLAMA_HOST: new URL(fake.url).host } }));
  assert.equal(model.name, "ollama/qwen3:8b");
  assert.match(model.because, /ollama has at http:\/\/127\.0\.0\.1/);
  assert.equal(terminalOf(await eventsOf(model)).type, "replied");
  assert.deepEqual(
    fake.requests.map((request) => request.path),
    ["/api/tags", "/v1/chat/completions"],
  );
});

test("an Ollama server that hangs is not waited for", async (t) => {
  const fake = await server(t, hang);
  const began = performance.now();
  assert.equal((await chooseModel(readConfig({ env: { OLLAMA_HOST: new URL(fake.url).host } }))).name, "offline");
  assert.ok(performance.now() - began < 20_000, "it would hang for ever");
});

test("OLLAMA_HOST is read as Ollama reads it", () => {
  assert.equal(ollamaUrl(undefined), "http://127.0.0.1:11434/v1");
  assert.equal(ollamaUrl("0.0.0.0"), "http://127.0.0.1:11434/v1");
  assert.equal(ollamaUrl("0.0.0.0:80"), "http://127.0.0.1/v1");
  assert.equal(ollamaUrl(":1234"), "http://127.0.0.1:1234/v1");
  assert.equal(ollamaUrl("box:1234"), "http://box:1234/v1");
  assert.equal(ollamaUrl("[::1]"), "http://[::1]:11434/v1");
  assert.equal(ollamaUrl("https://box.example/"), "https://box.example/v1");
  assert.throws(() => ollamaUrl("no such host"), Fault);
});

test("openai at another address speaks chat completions, also without a key", async (t) => {
  const fake = await server(t, text("hello"));
  const model = await chooseModel(readConfig({ env: { VIDRO_MODEL: "openai/gpt-5", OPENAI_BASE_URL: fake.url } }));
  assert.equal(terminalOf(await eventsOf(model)).type, "replied");
  assert.equal(fake.requests[0]?.path, "/v1/chat/completions");
  assert.equal(fake.requests[0].headers.authorization, undefined);
});

test("an unknown model name is answered with the possible names and the nearest guess", async () => {
  const words = await refusal({ VIDRO_MODEL: "antropic/claude" }, "MODEL_UNKNOWN");
  for (const form of ["offline", "anthropic/<model>", "openai/<model>", "ollama/<model>", "VIDRO_MODEL_URL"]) {
    assert.ok(words.includes(form), words);
  }
  assert.match(words, /Did you mean anthropic\/claude\?/);
  assert.match(await refusal({ VIDRO_MODEL: "gpt-5" }, "MODEL_UNKNOWN"), /Did you mean openai\/gpt-5\?/);
  assert.match(await refusal({ VIDRO_MODEL: "ofline" }, "MODEL_UNKNOWN"), /Did you mean offline\?/);
  assert.doesNotMatch(await refusal({ VIDRO_MODEL: "something-else" }, "MODEL_UNKNOWN"), /Did you mean/);
});

test("a vendor without its key is refused with the name of the key", async () => {
  assert.match(await refusal({ VIDRO_MODEL: "anthropic/claude-x" }, "MODEL_KEY_MISSING"), /set ANTHROPIC_API_KEY/);
  await refusal({ VIDRO_MODEL: "offline,google/gemini-x" }, "MODEL_KEY_MISSING");
});

test("a setting that makes no sense is refused before anything is called", async () => {
  await refusal({ VIDRO_MODEL: "x", VIDRO_MODEL_URL: "not an address" }, "BAD_REQUEST");
  const words = await refusal({ VIDRO_MODEL: "x", VIDRO_MODEL_URL: "http://me:hunter2@box/v1" }, "BAD_REQUEST");
  assert.ok(!words.includes("hunter2"));
  await refusal({ VIDRO_MODEL: "ollama/x", VIDRO_MODEL_TIMEOUT_MS: "soon" }, "BAD_REQUEST");
});

test("VIDRO_MODEL_TIMEOUT_MS bounds the silence", async (t) => {
  const fake = await server(t, hang);
  const env = { VIDRO_MODEL: "x", VIDRO_MODEL_URL: fake.url, VIDRO_MODEL_TIMEOUT_MS: "60" };
  const last = terminalOf(await eventsOf(await chooseModel(readConfig({ env }))));
  assert.equal(last.type === "failed" && last.fault.code, "MODEL_TIMEOUT");
});
