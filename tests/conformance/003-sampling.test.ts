import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@vidro/core";
import { chooseModel } from "../../packages/brain/src/models/choose.ts";
import { readConfig } from "@vidro/brain/config";
import { startAgentServer } from "../support/agent-server.ts";
import type { AgentServer } from "../support/agent-server.ts";
import { calls, cutShort, fakeOpenAi, text } from "../support/fake-openai.ts";
import type { FakeOpenAi, FakeReply } from "../support/fake-openai.ts";
import { startFrontEndServer } from "../support/front-end-server.ts";

/* How a model draws its words: said by a caller, kept in the journal, and seen by the model's server. */

/** What a request says about drawing. */
function drawn({ body }: FakeOpenAi["requests"][number]): JsonObject {
  const { temperature, top_p, max_tokens, stop, repeat_penalty } = body;
  return { temperature, top_p, max_tokens, stop, repeat_penalty };
}

test("003-08 temperature, top_p, max_tokens and stop of a chat reach the model's server at every step", async (t) => {
  const looking = calls({ id: "c", name: "read_folder", input: '{"dir_path":"."}' });
  const brain = await startFrontEndServer(t, looking, text("ok"));
  await brain.client.chat.completions.create({
    model: "bunny",
    messages: [{ role: "user", content: "what is here?" }],
    temperature: 0.25,
    top_p: 0.5,
    max_completion_tokens: 64_000,
    stop: ["END", "FIM"],
  });
  const all = { temperature: 0.25, top_p: 0.5, max_tokens: 64_000, stop: ["END", "FIM"], repeat_penalty: undefined };
  assert.deepEqual(brain.fake.requests.map(drawn), [all, all]);
  const [head] = await brain.runs.list({ limit: 1 });
  const [entry] = await brain.journal.read(head!.id, 0, 1);
  assert.ok(entry?.event.type === "run.started");
  const sampling = { temperature: 0.25, topP: 0.5, maxTokens: 64_000, stop: ["END", "FIM"] };
  assert.deepEqual(entry.event.sampling, sampling);
});

test("003-08 a chat that says nothing of it leaves the model to itself, and what is out of range is refused", async (t) => {
  const brain = await startFrontEndServer(t, text("ok"));
  const say = (more: JsonObject): Promise<{ readonly status: number; readonly text: string }> =>
    brain.ask("POST", "/chat/completions", { body: { messages: [{ role: "user", content: "hi" }], ...more } });
  assert.equal((await say({ temperature: null, stop: null })).status, 200);
  assert.deepEqual(Object.values(drawn(brain.fake.requests[0]!)), Array(5).fill(undefined));
  const refused = await say({ temperature: 9 });
  assert.deepEqual([refused.status, /temperature/.test(refused.text)], [422, true]);
});

test("003-08 an answer that is as long as it may be says so, plain and streamed", async (t) => {
  const brain = await startFrontEndServer(t, cutShort("one two"), cutShort("one two"));
  const asked = { model: "bunny", messages: [{ role: "user" as const, content: "count" }], max_tokens: 2 };
  const plain = await brain.client.chat.completions.create(asked);
  assert.deepEqual([plain.choices[0]?.finish_reason, plain.choices[0]?.message.content], ["length", "one two"]);
  const ends: (string | null)[] = [];
  for await (const { choices } of await brain.client.chat.completions.create({ ...asked, stream: true }))
    ends.push(...choices.map((choice) => choice.finish_reason).filter((reason) => reason !== null));
  assert.deepEqual(ends, ["length"]);
});

/** A brain behind the agent's wire whose model is a server. */
async function agent(
  t: { after(done: () => Promise<void> | void): void },
  ...replies: FakeReply[]
): Promise<{ readonly end: AgentServer; readonly fake: FakeOpenAi }> {
  const fake = await fakeOpenAi(...replies);
  t.after(() => fake.close());
  return {
    fake,
    end: await startAgentServer(
      t,
      await chooseModel(readConfig({ env: { VIDRO_MODEL: "fake", VIDRO_MODEL_URL: fake.url } })),
    ),
  };
}

async function sessionWith(end: AgentServer, params: JsonObject): Promise<string> {
  const begun = await end.ask("POST", "/agent/sessions", { body: { params } });
  assert.equal(begun.status, 200);
  return ((await begun.json()) as { session_id: string }).session_id;
}

test("000-25 the params of a session are moved into their ranges and apply to each of its runs", async (t) => {
  const { end, fake } = await agent(t, text("ok"));
  for (const [params, expected] of [
    [
      { temperature: 7, top_p: -1, max_tokens: 100_000, repeat_penalty: 9 },
      { temperature: 2, top_p: 0, max_tokens: 4096, repeat_penalty: 2 },
    ],
    [
      { temperature: "-3", top_p: 3, max_tokens: 0, repeat_penalty: 0, seed: 1 },
      { temperature: 0, top_p: 1, max_tokens: 1, repeat_penalty: 0.5 },
    ],
  ] as const) {
    const session = await sessionWith(end, params);
    for (const prompt of ["one", "two"])
      await (await end.ask("POST", "/agent/generate", { body: { session_id: session, prompt } })).text();
    const all = { ...expected, stop: undefined };
    assert.deepEqual(fake.requests.slice(-2).map(drawn), [all, all]);
  }
  const hot = await end.ask("POST", "/agent/sessions", { body: { params: { temperature: "hot" } } });
  assert.equal(hot.status, 422);
});

test("003-08 what a message says goes before what its conversation began with", async (t) => {
  const { end, fake } = await agent(t, text("ok"));
  const session = await sessionWith(end, { temperature: 0.1, top_p: 0.2 });
  const body = { messages: [{ role: "user", content: "hi" }], temperature: 0.9 };
  const answer = await end.ask("POST", `/v1/conversations/${session}/messages`, { body });
  assert.equal(answer.status, 200);
  const { temperature, top_p } = drawn(fake.requests.at(-1)!);
  assert.deepEqual([temperature, top_p], [0.9, 0.2]);
});
