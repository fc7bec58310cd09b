import assert from "node:assert/strict";
import { test } from "node:test";
import { readAon } from "@vidro/aon";
import type { AonEvent } from "@vidro/aon";
import type { JsonObject } from "@vidro/core";
import { chooseModel } from "../../packages/brain/src/models/choose.ts";
import { readConfig } from "@vidro/brain/config";
import { startAgentServer, readFrameData } from "../support/agent-server.ts";
import type { AgentServer } from "../support/agent-server.ts";
import { fakeOpenAi, status, text } from "../support/fake-openai.ts";
import type { FakeOpenAi, FakeReply } from "../support/fake-openai.ts";

/*
 * The healing of this brain that can get stuck is that of its model: every model of the chain was asked as often as it
 * may be, and each failed. A store that is down cannot hold a question, so no question is asked about that.
 */

const GLASS = { accept: "application/x-ndjson" };
const INTERACTIVE = { ...GLASS, "x-crystal-mode": "interactive" };
const DOWN = status(503, "loading", { "retry-after": "0" });
/** As often as one step is tried. */
const ALL_DOWN: readonly FakeReply[] = Array(4).fill(DOWN);

type Test = { after(done: () => Promise<void> | void): void };

async function brain(
  t: Test,
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

type Asked = Extract<AonEvent, { type: "interactive_healing_request" }>;

/** The types of all events of an answer; `reply` is called for each healing that asks. */
async function watch(response: Response, reply: (asked: Asked) => Promise<unknown>): Promise<string[]> {
  const types: string[] = [];
  for await (const event of readAon(response)) {
    types.push(event.type);
    if (event.type === "interactive_healing_request") await reply(event);
  }
  return types;
}

const answer = (end: AgentServer, body: JsonObject, token?: string): Promise<Response> =>
  end.ask("POST", "/agent/answer", { body, ...(token === undefined ? {} : { token }) });

test("001-31 a healing that is stuck asks its owner, and goes on or fails as the answer says", async (t) => {
  for (const [said, last] of [
    ["retry", "result"],
    ["escalate", "error"],
  ] as const) {
    const { end } = await brain(t, ...ALL_DOWN, text("Here I am."));
    const body = { session_id: await end.session(), prompt: "greet" };
    const response = await end.ask("POST", "/agent/generate", { body, headers: INTERACTIVE });
    const stranger = await end.token("bo");
    const types = await watch(response, async ({ healing_id: id, options, timeout_ms, description }) => {
      assert.deepEqual(options, ["retry", "escalate"]);
      assert.ok(timeout_ms > 29_000 && timeout_ms <= 30_000);
      assert.match(description, /Shall the model be asked again\?$/);
      assert.equal((await answer(end, { healing_id: id, answer: said }, stranger)).status, 404);
      assert.equal((await answer(end, { healing_id: id, answer: "maybe" })).status, 422);
      assert.equal((await answer(end, { healing_id: "heal_none_q1", answer: said })).status, 404);
      assert.equal((await answer(end, { healing_id: "nonsense", answer: said })).status, 404);
      assert.deepEqual(await (await answer(end, { healing_id: id, answer: said })).json(), { ok: true });
      assert.equal((await answer(end, { healing_id: id, answer: said })).status, 200, "the same answer again");
      const other = options.find((option) => option !== said) ?? "";
      assert.equal((await answer(end, { healing_id: id, answer: other })).status, 409);
    });
    assert.equal(types.filter((type) => type === "interactive_healing_request").length, 1);
    assert.equal(types.at(-1), last);
  }
});

test("001-31 a chat through the glass box asks as well, and the question is open to the session's other wires", async (t) => {
  const { end } = await brain(t, ...ALL_DOWN, text("Here I am."));
  const session = await end.session();
  const body = { messages: [{ role: "user", content: "greet" }] };
  const response = await end.ask("POST", `/v1/conversations/${session}/messages`, { body, headers: INTERACTIVE });
  const run = response.headers.get("x-run-id") ?? "";
  const types = await watch(response, async () => {
    const seen = await end.ask("GET", `/agent/runs/${run}/events`);
    await readFrameData(seen, (data) => {
      if (data["type"] !== "ask") return undefined;
      assert.deepEqual([data["about"], data["options"]], ["healing", ["retry", "escalate"]]);
      return answer(end, { session_id: session, question_id: data["question_id"] ?? "", answer: "retry" });
    });
  });
  assert.deepEqual([types.at(0), types.at(-1)], ["status", "result"]);
});

test("001-31 without the header, or without the glass box, no question is asked and the run fails", async (t) => {
  for (const headers of [GLASS, { accept: "application/json", "x-crystal-mode": "interactive" }]) {
    const { end, fake } = await brain(t, DOWN);
    const body = { session_id: await end.session(), prompt: "greet" };
    const response = await end.ask("POST", "/agent/generate", { body, headers });
    const words = await response.text();
    assert.match(words, /MODEL_/);
    assert.doesNotMatch(words, /interactive_healing_request/);
    assert.equal(fake.requests.length, ALL_DOWN.length);
  }
});
