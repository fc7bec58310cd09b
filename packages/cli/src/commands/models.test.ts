import assert from "node:assert/strict";
import { test } from "node:test";
import { FAULTS } from "@vidro/core";
import { calls, fakeOpenAi, json, status, text } from "../../../../tests/support/fake-openai.ts";
import type { FakeAnswer } from "../../../../tests/support/fake-openai.ts";
import { lines, Stage } from "../stage.fixture.ts";

/* vidro models: which there are, what is known of one, and whether it works. */

test("models list names known models with window, prices and what is needed, and the models of a server", async (t) => {
  await using stage = await Stage.set({ VIDRO_MODEL: "", ANTHROPIC_API_KEY: "sk-ant-x" });
  const { code, stdout } = await stage.run("models", "list");
  assert.equal(code, 0);
  assert.match(stdout, /^anthropic\/claude-opus-5-5 +1,000,000 +128,000 +4 \/ 20 \/ 0\.2 +tools images thinking$/m);
  assert.match(stdout, /^google\/gemini-4-argon .* GOOGLE_GENERATIVE_AI_API_KEY or GEMINI_API_KEY$/m);
  const model = await fakeOpenAi(json({ data: [{ id: "local-a" }, { id: "an-embedder" }] }));
  t.after(() => model.close());
  await using served = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  const rows = lines((await served.run("models", "list", "--json")).stdout);
  assert.ok(
    rows.some(({ name, url, needs }) => name === "local-a" && url === model.url && needs === null),
    JSON.stringify(rows[0]),
  );
  assert.ok(rows.some(({ name, needs }) => name === "openai/gpt-6.1-sol" && needs === "OPENAI_API_KEY"));
});

test("models show tells each fact with its origin: settings, model_facts, catalogue; a model without a key is refused", async () => {
  const facts = JSON.stringify({ "claude-opus-5-5": { answer: 5000 } });
  await using stage = await Stage.set({
    VIDRO_MODEL: "",
    ANTHROPIC_API_KEY: "sk-ant-x",
    VIDRO_MODEL_WINDOW: "90000",
    VIDRO_MODEL_FACTS: facts,
  });
  const { stdout } = await stage.run("models", "show", "anthropic/claude-opus-5-5");
  assert.match(stdout, /^ {2}window {4}90,000 {2}settings$/m);
  assert.match(stdout, /^ {2}answer {4}5,000 {2}model_facts$/m);
  assert.match(stdout, /^ {2}prices {4}\$4 \/ 20 \/ 0\.2 {2}catalogue$/m);
  const refused = await stage.run("models", "show", "openai/gpt-6.1-sol");
  assert.equal(refused.code, FAULTS.MODEL_KEY_MISSING.exit);
  assert.match(refused.stderr, /OPENAI_API_KEY/);
});

/** A model that calls the tool, and answers with the word of its result; without tools it writes the call. */
const working: FakeAnswer = (response, { body }) => {
  const messages = JSON.stringify(body["messages"]);
  const [, word] = /(kestrel-\w{4})/.exec(messages) ?? [];
  if (word !== undefined) return text(word)(response);
  if (body["tools"] === undefined) return text('{"type":"use_tool","name":"word_of_the_day","args":{}}')(response);
  calls({ id: "c1", name: "word_of_the_day", input: "{}" })(response);
};

test("models test calls the model: one that works, one without native tools, one that calls none, one that refuses", async (t) => {
  const cases: readonly (readonly [FakeAnswer, number, RegExp])[] = [
    [working, 0, /^local: works · calls tools natively · shows no thinking · .*\n.* tokens/],
    [
      (response, request) =>
        request.body["tools"] === undefined
          ? working(response, request)
          : status(400, "this model does not support tools")(response),
      0,
      /^local: works · calls tools in text/m,
    ],
    [text("a word"), FAULTS.MODEL_RUBBISH.exit, /^local: answers · calls no tool/],
    [status(401, "wrong key"), FAULTS.MODEL_KEY_REFUSED.exit, /wrong key[^]*next:/],
  ];
  for (const [answer, exit, told] of cases) {
    const model = await fakeOpenAi(answer);
    t.after(() => model.close());
    await using stage = await Stage.set({ VIDRO_MODEL: "local", VIDRO_MODEL_URL: model.url });
    const { code, stdout, stderr } = await stage.run("models", "test");
    assert.equal(code, exit, stdout + stderr);
    assert.match(stdout + stderr, told);
  }
});
