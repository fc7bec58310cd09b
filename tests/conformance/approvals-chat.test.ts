import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { JsonObject, ModelReply } from "@vidro/core";
import type OpenAI from "openai";
import { startAgentServer } from "../support/agent-server.ts";
import { calls, text } from "../support/fake-openai.ts";
import { startFrontEndServer } from "../support/front-end-server.ts";
import type { FrontEndServer } from "../support/front-end-server.ts";
import { scriptedModel } from "../support/scenario.ts";

/* An approval ends the turn of a conversation with a question in words, and the next message answers it. */

const COMMAND = "echo done >> effects.txt";
const shell = (command: string): string => JSON.stringify({ command, access: "host" });
const act = calls({ id: "m1", name: "shell", input: shell(COMMAND) });

type Messages = OpenAI.ChatCompletionMessageParam[];
type Completion = OpenAI.ChatCompletion & { question?: JsonObject };
const commandOf = (question: unknown): unknown => (question as { plan: JsonObject }).plan["command"];
const user = (content: string): Messages[number] => ({ role: "user", content });
const effects = ({ workspace }: { workspace: string }): string => {
  const path = join(workspace, "effects.txt");
  return existsSync(path) ? readFileSync(path, "utf8") : "";
};

async function say(brain: FrontEndServer, thread: string, content: string): Promise<Completion> {
  const path = `/conversations/${thread}/messages`;
  const {
    status,
    json,
    text: body,
  } = await brain.ask("POST", path, { body: { messages: [{ role: "user", content }] } });
  assert.equal(status, 200, body);
  return json as Completion;
}

const contentOf = ({ choices }: Completion): string => choices[0]?.message.content ?? "";

test("003 an approval ends the turn with the question, the run and the plan, and yes goes on with the same run", async (t) => {
  const brain = await startFrontEndServer(t, act, text("It is done."));
  const { id } = await brain.client.conversations.create();
  const asked = await say(brain, id, "make the effect");
  const [head] = await brain.runs.list({ limit: 9 });
  assert.ok(contentOf(asked).includes(COMMAND) && contentOf(asked).includes(head!.id), contentOf(asked));
  assert.equal(asked.choices[0]?.finish_reason, "stop");
  const { question_id: question, run_id: run, options, about } = asked.question ?? {};
  assert.deepEqual([run, options, about], [head!.id, ["yes", "no", "yes for this run", "yes, changed"], "approval"]);
  assert.equal(commandOf(asked.question), COMMAND);
  assert.ok(contentOf(asked).includes(question as string));
  const again = await say(brain, id, "what would it do?");
  assert.equal(contentOf(again), contentOf(asked), "words that are no answer get the question again");
  assert.equal(effects(brain), "");
  assert.equal(contentOf(await say(brain, id, "Sim!")), "It is done.");
  assert.equal(effects(brain), "done\n");
  assert.equal((await brain.runs.list({ limit: 9 })).length, 1);
  const read = (await brain.ask("GET", `/conversations/${id}`)).json as { messages: { content: string }[] };
  const said = read.messages.map(({ content }) => content);
  assert.ok(said.includes(contentOf(asked)) && said.includes("yes"));
});

test("003 a no in the next message refuses it, and its reason reaches the model", async (t) => {
  const brain = await startFrontEndServer(t, act, text("Then not."));
  const { id } = await brain.client.conversations.create();
  await say(brain, id, "make the effect");
  assert.equal(contentOf(await say(brain, id, "no, because it is Monday")), "Then not.");
  assert.equal(effects(brain), "");
  assert.match(JSON.stringify(brain.fake.requests[1]?.body["messages"]), /because it is Monday/);
});

test("chat completions: the question comes in a stream, too, and a caller that keeps the conversation answers it", async (t) => {
  const brain = await startFrontEndServer(t, act, text("It is done."));
  const request = { model: "bunny", messages: [user("make the effect")], stream: true as const };
  const pieces = await Array.fromAsync(await brain.client.chat.completions.create(request));
  const content = pieces.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
  const last = pieces.at(-1) as (typeof pieces)[number] & { question?: JsonObject };
  assert.equal(last.choices[0]?.finish_reason, "stop");
  assert.equal(commandOf(last.question), COMMAND);
  assert.ok(content.includes(COMMAND));
  const messages: Messages = [user("make the effect"), { role: "assistant", content }, user("YES")];
  const done = await brain.client.chat.completions.create({ model: "bunny", messages });
  assert.equal(contentOf(done), "It is done.");
  assert.equal(effects(brain), "done\n");
});

const said = (words: string): ModelReply => ({
  model: "scripted",
  text: words,
  calls: [],
  usage: { inputTokens: 1, outputTokens: 1 },
});

/** How a client of 000 asks for the answer as a whole. */
const WHOLE = {
  "the black box": { headers: { accept: "application/json" }, body: {} },
  "stream: false": { headers: {}, body: { stream: false } },
} as const;

for (const [way, { headers, body }] of Object.entries(WHOLE))
  test(`000 ${way} ends with the question as well, and the next message of the session answers it`, async (t) => {
    const order = said(JSON.stringify({ type: "shell", command: COMMAND }));
    const end = await startAgentServer(t, scriptedModel([order, said("It is done.")]));
    const session = await end.session();
    const generate = async (prompt: string): Promise<JsonObject> => {
      const sent = { ...body, session_id: session, prompt };
      const answer = await end.ask("POST", "/agent/generate", { body: sent, headers });
      const json = (await answer.json()) as JsonObject;
      assert.equal(answer.status, 200, JSON.stringify(json));
      return json;
    };
    const asked = await generate("make the effect");
    assert.equal(commandOf(asked["question"]), COMMAND);
    assert.ok((asked["result"] as string).includes(COMMAND));
    assert.equal((await generate("hm"))["result"], asked["result"]);
    const done = await generate("sí");
    assert.deepEqual([done["result"], done["run_id"]], ["It is done.", asked["run_id"]]);
    assert.equal(effects(end), "done\n");
  });
