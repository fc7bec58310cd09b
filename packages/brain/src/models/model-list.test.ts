import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { fakeOpenAi, json, status } from "../../../../tests/support/fake-openai.ts";
import type { FakeReply } from "../../../../tests/support/fake-openai.ts";
import { readConfig } from "../config.ts";
import type { Environment } from "../config.ts";
import { KNOWN_MODELS } from "./catalogue.ts";
import { chooseModel } from "./choose.ts";
import { modelFacts } from "./model-facts.ts";
import { describeModel, listModels } from "./model-list.ts";

async function server(t: TestContext, ...replies: readonly FakeReply[]) {
  const fake = await fakeOpenAi(...replies);
  t.after(() => fake.close());
  return fake;
}

/** Settings under which no server of the tester's machine is looked at. */
async function settings(env: Environment) {
  const gone = await fakeOpenAi();
  await gone.close();
  const { origin } = new URL(gone.url);
  return readConfig({
    env: { OLLAMA_HOST: origin, LMSTUDIO_HOST: origin, VLLM_HOST: origin, FAZAI_GEMMA_SOCK: "/nowhere/w.sock", ...env },
  });
}

test("the list has each known model once, offline last, and what a model without its key needs", async () => {
  const rows = await listModels(await settings({ OPENAI_API_KEY: "k" }));
  assert.equal(rows.at(-1)?.name, "offline");
  assert.equal(rows.length, Object.keys(KNOWN_MODELS).length + 1);
  assert.equal(new Set(rows.map(({ name }) => name)).size, rows.length);
  for (const { name, needs } of rows) {
    if (name.startsWith("openai/")) assert.equal(needs, undefined, name);
    if (name.startsWith("anthropic/")) assert.match(needs ?? "", /ANTHROPIC_API_KEY/, name);
  }
});

test("a server that lists nothing, or refuses, adds no rows and fails nothing", async (t) => {
  const none = (await listModels(await settings({}))).length;
  for (const reply of [json({ data: [] }), status(401, "no"), json("rubbish")]) {
    const fake = await server(t, reply);
    assert.equal((await listModels(await settings({ VIDRO_MODEL_URL: fake.url }))).length, none);
  }
});

test("the models of VIDRO_MODEL_URL come first, under the names that --model takes", async (t) => {
  const fake = await server(t, json({ data: [{ id: "qwen" }, { id: "org/llama" }] }));
  const rows = await listModels(await settings({ VIDRO_MODEL_URL: fake.url, VIDRO_MODEL_KEY: "k" }));
  assert.deepEqual(
    rows.slice(0, 2).map(({ name, url }) => [name, url]),
    [
      ["qwen", fake.url],
      ["org/llama", fake.url],
    ],
  );
});

test("the key of VIDRO_MODEL_URL goes to that server, and to no other", async (t) => {
  const [general, other] = [await server(t, ...tries()), await server(t, ...tries())];
  const config = await settings({
    VIDRO_MODEL_URL: general.url,
    VIDRO_MODEL_KEY: "hunter2-hunter2",
    OLLAMA_HOST: new URL(other.url).origin,
  });
  await describeModel(config, "ollama/llama3");
  assert.ok(other.requests.length > 0);
  for (const { headers } of other.requests) assert.equal(headers["authorization"], undefined);
  await describeModel(config, "qwen");
  assert.ok(general.requests.length > 0);
  for (const { headers } of general.requests) assert.equal(headers["authorization"], "Bearer hunter2-hunter2");
});

/** As many refusals as the ways to ask for a window. */
function tries(): readonly FakeReply[] {
  return Array.from({ length: 8 }, () => status(404, "no"));
}

test("facts come from the settings, then model_facts, then the server, then the catalogue", async () => {
  const [id = "", known = {}] = Object.entries(KNOWN_MODELS).find(([, { window }]) => window !== undefined) ?? [];
  const facts = JSON.stringify({ [id]: { window: 2222 } });
  const plain = await settings({});
  assert.equal(modelFacts(id, plain).window, known.window);
  assert.equal(modelFacts(id, plain, { window: 1111 }).window, 1111);
  assert.equal(modelFacts(id, await settings({ VIDRO_MODEL_FACTS: facts }), { window: 1111 }).window, 2222);
  const all = await settings({ VIDRO_MODEL_FACTS: facts, VIDRO_MODEL_WINDOW: "3333" });
  assert.equal(modelFacts(id, all, { window: 1111 }).window, 3333);
});

test("names of JavaScript's own are models of which nothing is known", async () => {
  const config = await settings({ VIDRO_MODEL_FACTS: '{"a":{"window":5000}}' });
  for (const name of ["constructor", "__proto__", "toString", "hasOwnProperty", ""])
    assert.deepEqual(modelFacts(name, config), {}, name);
});

test("an unknown model is refused with a guess that can be used", async () => {
  const table: readonly (readonly [name: string, guess: RegExp | undefined])[] = [
    ["gpt-5", /Did you mean openai\/gpt-5\?/],
    ["o3-mini", /openai\/o3-mini/],
    ["Claude-Opus", /anthropic\/Claude-Opus/],
    ["gemini-pro", /google\/gemini-pro/],
    ["opnai/gpt-5", /openai\/gpt-5/],
    ["ofline", /Did you mean offline\?/],
    ["xyzzy-nothing-like-it", undefined],
  ];
  for (const [name, guess] of table)
    await assert.rejects(chooseModel(await settings({}), name), (thrown: Error & { code?: string }) => {
      assert.equal(thrown.code, "MODEL_UNKNOWN");
      if (guess === undefined) assert.doesNotMatch(thrown.message, /Did you mean/);
      else assert.match(thrown.message, guess);
      return true;
    });
});

test("a name of commas alone is no model", async () => {
  for (const name of [",", " , ,"]) {
    await assert.rejects(chooseModel(await settings({}), name), { code: "MODEL_UNKNOWN" });
    await assert.rejects(chooseModel(await settings({ VIDRO_MODEL: name })), { code: "MODEL_UNKNOWN" });
  }
});
