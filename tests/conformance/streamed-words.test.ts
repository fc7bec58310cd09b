import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry, LiveEvent } from "@vidro/core";
import { voidsWords } from "@vidro/core";
import { chooseModel } from "../../packages/brain/src/models/choose.ts";
import { agentEnd, frames } from "../support/agent-end.ts";
import type { AgentEnd } from "../support/agent-end.ts";
import { CUT, fakeOpenAi, textWith } from "../support/fake-openai.ts";
import type { FakeReply } from "../support/fake-openai.ts";

/*
 * What is streamed of a reply is what is kept of it, over every wire: words of a reply that broke off are void, and lines
 * for the brain are no words.
 */

const PLAN = '{"type":"plan","steps":["look"]}';
const CALL = '{"type":"use_tool","name":"working_directory","args":{}}';

type Test = { after(done: () => Promise<void> | void): void };

/** A brain with a chain of two models behind one server, which gives these replies one after the other. */
async function brain(t: Test, ...replies: FakeReply[]): Promise<AgentEnd> {
  const fake = await fakeOpenAi(...replies);
  t.after(() => fake.close());
  return agentEnd(t, await chooseModel({ VIDRO_MODEL: "first,second", VIDRO_MODEL_URL: fake.url }));
}

type Item = { readonly entry: Entry } | { readonly live: LiveEvent };

/** Follows a run in its journal's own words, and gives what follows to who looks while it comes. */
async function journalOf(end: AgentEnd, run: string, look: (item: Item) => void): Promise<void> {
  const response = await end.ask("GET", `/v1/runs/${run}/events?live=true`, {
    headers: { accept: "text/event-stream" },
  });
  for await (const { data } of frames(response)) {
    const { seq, at, event, live } = data as never as Entry & { readonly live?: LiveEvent };
    look(live === undefined ? { entry: { seq, at, event } } : { live });
  }
}

async function started(end: AgentEnd): Promise<string> {
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
