import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry, LiveEvent } from "@vidro/core";
import { voidsWords } from "@vidro/core/run";
import OpenAI from "openai";
import { chooseModel } from "../../packages/brain/src/models/choose.ts";
import { readConfig } from "@vidro/brain/config";
import { startAgentServer, readFrames } from "../support/agent-server.ts";
import type { AgentServer } from "../support/agent-server.ts";
import { callsAfter, CUT, fakeOpenAi, textWith } from "../support/fake-openai.ts";
import type { FakeReply } from "../support/fake-openai.ts";

/*
 * What is streamed of a reply is what is kept of it, over every wire: words of a reply that broke off are void, and lines
 * for the brain are no words.
 */

const PLAN = '{"type":"plan","steps":["look"]}';
const CALL = '{"type":"use_tool","name":"working_directory","args":{}}';

type Test = { after(done: () => Promise<void> | void): void };

/** A brain with a chain of two models behind one server, which gives these replies one after the other. */
async function brain(t: Test, ...replies: FakeReply[]): Promise<AgentServer> {
  const fake = await fakeOpenAi(...replies);
  t.after(() => fake.close());
  return startAgentServer(
    t,
    await chooseModel(readConfig({ env: { VIDRO_MODEL: "first,second", VIDRO_MODEL_URL: fake.url } })),
  );
}

type Item = { readonly entry: Entry } | { readonly live: LiveEvent };

/** Follows a run in its journal's own words, and gives what follows to who looks while it comes. */
async function journalOf(end: AgentServer, run: string, look: (item: Item) => void): Promise<void> {
  const response = await end.ask("GET", `/v1/runs/${run}/events?live=true`, {
    headers: { accept: "text/event-stream" },
  });
  for await (const { data } of readFrames(response)) {
    const { seq, at, event, live } = data as never as Entry & { readonly live?: LiveEvent };
    look(live === undefined ? { entry: { seq, at, event } } : { live });
  }
}

async function started(end: AgentServer): Promise<string> {
  const response = await end.ask("POST", "/v1/runs", { body: { task: "tell me" } });
  return ((await response.json()) as { id: string }).id;
}

/** The words of each reply as they were told live, those of a reply that broke off left out, beside what is kept. */
class Told {
  readonly replies: { readonly told: string; readonly kept: string }[] = [];
  words = "";

  look = (item: Item): void => {
    if ("live" in item) {
      if (item.live.type !== "model.delta") return;
      assert.equal(item.live.from, this.words.length);
      this.words += item.live.text;
      return;
    }
    const { event } = item.entry;
    if (event.type === "model.replied") this.replies.push({ told: this.words, kept: event.text });
    if (event.type === "model.replied" || voidsWords(event)) this.words = "";
  };
}

test("000-38 lines for the brain are never told as words, and all other words are told at once and join to what is kept", async (t) => {
  const open = Promise.withResolvers<void>();
  const seen = Promise.withResolvers<void>();
  const parts = ["I plan.\n", PLAN.slice(0, 8), `${PLAN.slice(8)}\n`, "Code:\n```js\n", "{ a: 1 }\n", "b()"];
  const end = await brain(
    t,
    textWith(open.promise, ...parts, seen.promise, "\n```\n", CALL),
    textWith("Here ", "it is."),
  );
  const told = new Told();
  await journalOf(end, await started(end), (item) => {
    told.look(item);
    open.resolve();
    if ("live" in item && told.words === "I plan.\nCode:\n```js\n{ a: 1 }\nb()") seen.resolve();
  });
  const code = "I plan.\nCode:\n```js\n{ a: 1 }\nb()\n```";
  assert.deepEqual(told.replies, [
    { told: code, kept: code },
    { told: "Here it is.", kept: "Here it is." },
  ]);
});

test("the words of a reply that broke off are void before the next model says a word", async (t) => {
  const open = Promise.withResolvers<void>();
  const seen = Promise.withResolvers<void>();
  const end = await brain(
    t,
    textWith(open.promise, "Half an ans", seen.promise, CUT),
    textWith("The whole ", "answer."),
  );
  const told = new Told();
  await journalOf(end, await started(end), (item) => {
    told.look(item);
    open.resolve();
    if (told.words.startsWith("Half")) seen.resolve();
  });
  assert.deepEqual(told.replies, [{ told: "The whole answer.", kept: "The whole answer." }]);
});

const client = ({ url, own }: AgentServer): OpenAI => new OpenAI({ baseURL: `${url}/v1`, apiKey: own, maxRetries: 0 });
const ask = (content = "tell me"): OpenAI.ChatCompletionCreateParamsNonStreaming => ({
  model: "bunny",
  messages: [{ role: "user", content }],
});

/** The content of a stream as it joins, told to who looks while it comes. */
async function joined(
  stream: AsyncIterable<OpenAI.ChatCompletionChunk>,
  look: (content: string) => void = () => undefined,
): Promise<string> {
  let content = "";
  for await (const { choices } of stream) {
    content += choices[0]?.delta.content ?? "";
    look(content);
  }
  return content;
}

const looks = (): FakeReply => callsAfter(["I look ", "first."], { id: "m1", name: "working_directory", input: "{}" });
const LOOKED = "I look first.\n\nIt is here.";

test("003-14 the words before a call of a tool are part of the answer: streamed, whole, through the glass and as it is stored", async (t) => {
  const here = (): FakeReply => textWith("It is ", "here.");
  const end = await brain(t, looks(), here(), looks(), here(), looks(), here());
  const chat = client(end);
  const { id } = await chat.conversations.create();
  const path = `/conversations/${id}/messages`;
  const stream = await chat.post<AsyncIterable<OpenAI.ChatCompletionChunk>>(path, {
    body: { ...ask("where?"), stream: true },
    stream: true,
  });
  assert.equal(await joined(stream), LOOKED);
  const whole = await chat.post<OpenAI.ChatCompletion>(path, { body: ask("where now?") });
  assert.equal(whole.choices[0]?.message.content, LOOKED);
  const stored = await chat.get<{ messages: OpenAI.ChatCompletionMessage[] }>(`/conversations/${id}`);
  assert.deepEqual(
    stored.messages.flatMap(({ role, content }) => (role === "assistant" ? [content] : [])),
    [null, LOOKED, null, LOOKED],
  );
  const glass = await end.ask("POST", "/v1/chat/completions", {
    body: ask() as never,
    headers: { accept: "application/x-ndjson" },
  });
  const last = JSON.parse((await glass.text()).trim().split("\n").at(-1)!) as { data: OpenAI.ChatCompletion };
  assert.equal(last.data.choices[0]?.message.content, LOOKED);
});

test("003-16 the words before a call that the caller carries out are the content beside it, streamed and whole", async (t) => {
  const asks = (): FakeReply => callsAfter(["I ask ", "you."], { id: "m1", name: "locate", input: "{}" });
  const end = await brain(t, asks(), asks());
  const chat = client(end).chat.completions;
  const tools = [{ type: "function", function: { name: "locate", parameters: { type: "object" } } }] as const;
  const whole = await chat.create({ ...ask("where?"), tools: [...tools] });
  assert.equal(whole.choices[0]?.message.content, "I ask you.");
  assert.equal(whole.choices[0].finish_reason, "tool_calls");
  assert.equal(
    await joined(await chat.create({ ...ask("where now?"), tools: [...tools], stream: true })),
    "I ask you.",
  );
});

test("a client that cannot take words back gets an error where the next model says others, and the same request again the answer", async (t) => {
  const [open, seen, again] = [0, 1, 2].map(() => Promise.withResolvers<void>());
  const end = await brain(
    t,
    textWith(open!.promise, "Half an ans", seen!.promise, CUT),
    textWith("Other", " words", again!.promise, " follow."),
  );
  const chat = client(end).chat.completions;
  const { data: stream, response } = await chat.create({ ...ask(), stream: true }).withResponse();
  open!.resolve();
  await assert.rejects(
    joined(stream, (content) => {
      assert.ok("Half an ans".startsWith(content), content);
      if (content !== "") seen!.resolve();
    }),
    { code: "MODEL_CUT", type: "server_error" },
  );
  const repeated = await chat.create({ ...ask(), stream: true }).withResponse();
  assert.equal(repeated.response.headers.get("x-run-id"), response.headers.get("x-run-id"));
  again!.resolve();
  assert.equal(await joined(repeated.data), "Other words follow.");
});

test("where the next model says the same and more, the stream goes on as if nothing had been", async (t) => {
  const [open, seen] = [0, 1].map(() => Promise.withResolvers<void>());
  const end = await brain(
    t,
    textWith(open!.promise, "Half an ans", seen!.promise, CUT),
    textWith("Half", " an answer", " is none."),
  );
  const stream = await client(end).chat.completions.create({ ...ask(), stream: true });
  open!.resolve();
  assert.equal(await joined(stream, (content) => content !== "" && seen!.resolve()), "Half an answer is none.");
});

/** What is left of the tokens, and the end. */
async function generated(
  end: AgentServer,
  look: (tokens: string) => void,
): Promise<{ tokens: string; result: unknown; notes: unknown[] }> {
  const body = { session_id: await end.session(), prompt: "tell me" };
  const response = await end.ask("POST", "/agent/generate", { body });
  look("");
  let [tokens, fresh] = ["", ""];
  const notes: unknown[] = [];
  for await (const { data } of readFrames(response)) {
    if (data["type"] === "token") fresh += data["text"] as string;
    else if (typeof data["seq"] === "number") {
      if (data["voids"] === "token") notes.push(data["note"]);
      tokens += data["voids"] === "token" ? "" : fresh;
      fresh = "";
    }
    look(fresh);
    if (data["type"] === "done") return { tokens, result: data["result"], notes };
  }
  return { tokens, result: undefined, notes };
}

test("000-29 000-36 the tokens that are not void join to the result: not those before a tool, of a cut reply, or for the brain", async (t) => {
  const [open, seen] = [0, 1].map(() => Promise.withResolvers<void>());
  const end = await brain(
    t,
    textWith(open!.promise, "I look.\n", `${PLAN}\n`, CALL),
    textWith("Half an ans", seen!.promise, CUT),
    textWith("The whole\n\n", "answer: {}\n{}"),
  );
  const { tokens, result, notes } = await generated(end, (fresh) => {
    open!.resolve();
    if (fresh.startsWith("Half")) seen!.resolve();
  });
  assert.equal(tokens, "The whole\n\nanswer: {}\n{}");
  assert.equal(result, tokens);
  assert.match(notes.join("\n"), /^I look\.\n.*second answers in its place\.$/);
});

test("000-29 a reply whose words are not the answer is told again where the answer is a result of its own", async (t) => {
  const open = Promise.withResolvers<void>();
  const end = await brain(t, textWith(open.promise, "So:\n", '{"type":"done","result":"42"}'));
  const told = await generated(end, () => open.resolve());
  assert.deepEqual(told, { tokens: "", result: "42", notes: ["So:"] });
});
