import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { Model, ModelEvent } from "@vidro/core";
import { cutAfter, fakeOpenAi, hang, status, text } from "../../../../tests/support/fake-openai.ts";
import type { FakeOpenAi, FakeReply } from "../../../../tests/support/fake-openai.ts";
import { aiSdkModel } from "./ai-sdk.ts";
import { chain } from "./chain.ts";
import { REQUEST, eventsOf, terminalOf } from "./model.contract.ts";
import { openCompatible } from "./open-model.ts";

async function link(t: TestContext, name: string, reply: FakeReply): Promise<{ model: Model; fake: FakeOpenAi }> {
  const fake = await fakeOpenAi(reply);
  t.after(() => fake.close());
  return { fake, model: aiSdkModel({ name, load: () => openCompatible(name, { url: fake.url }) }) };
}

function healsOf(events: readonly ModelEvent[]) {
  return events.flatMap((event) => (event.type === "healed" ? [event.heal] : []));
}

test("the first model that answers is the only one that is asked", async (t) => {
  const first = await link(t, "first", text("hello"));
  const second = await link(t, "second", text("unasked"));
  const events = await eventsOf(chain([first.model, second.model]));
  const last = terminalOf(events);
  assert.equal(last.type === "replied" && last.reply.model, "first");
  assert.deepEqual(healsOf(events), []);
  assert.equal(second.fake.requests.length, 0);
});

test("a model that fails is replaced by the next, and the switch is told", async (t) => {
  const first = await link(t, "first", status(500, "oh no"));
  const second = await link(t, "second", status(401, "who are you"));
  const third = await link(t, "third", text("here"));
  const events = await eventsOf(chain([first.model, second.model, third.model]));
  const last = terminalOf(events);
  assert.equal(last.type === "replied" && last.reply.model, "third");
  const [one, two] = healsOf(events);
  assert.deepEqual(one, {
    type: "heal.tried",
    healing: "switch_model",
    description: "first failed (first answered 500: oh no); second answers in its place.",
    severity: "medium",
    attempt: 1,
    delayMs: 0,
    metadata: { from: "first", to: "second", code: "MODEL_UNAVAILABLE" },
  });
  assert.deepEqual(two?.metadata, { from: "second", to: "third", code: "MODEL_KEY_REFUSED" });
  assert.equal(two.attempt, 2);
});

test("words of a model that broke off are not in the reply of the next", async (t) => {
  const first = await link(t, "first", cutAfter("half a"));
  const second = await link(t, "second", text("whole"));
  const last = terminalOf(await eventsOf(chain([first.model, second.model])));
  assert.equal(last.type === "replied" && last.reply.text, "whole");
});

test("when all fail, the fault is the last one's", async (t) => {
  const first = await link(t, "first", status(500, "oh no"));
  const second = await link(t, "second", status(429, "slow", { "retry-after": "2" }));
  const last = terminalOf(await eventsOf(chain([first.model, second.model])));
  assert.deepEqual(last.type === "failed" && last.fault, {
    code: "MODEL_RATE_LIMITED",
    message: "second answered 429: slow",
    retryAfterMs: 2000,
  });
});

test("an abort asks no other model", { timeout: 5000 }, async (t) => {
  const first = await link(t, "first", hang);
  const second = await link(t, "second", text("unasked"));
  const controller = new AbortController();
  const arrived = first.fake.next();
  const events = eventsOf(chain([first.model, second.model]), REQUEST, controller.signal);
  await arrived;
  controller.abort();
  assert.equal(terminalOf(await events).type, "failed");
  assert.equal(second.fake.requests.length, 0);
});

test("a chain is named by its links, and a chain of one is that one", async (t) => {
  const first = await link(t, "first", text("hello"));
  const second = await link(t, "second", text("hello"));
  assert.equal(chain([first.model, second.model]).name, "first,second");
  assert.equal(chain([first.model]), first.model);
});

test("a chain of none fails by name", async () => {
  const last = terminalOf(await eventsOf(chain([])));
  assert.equal(last.type === "failed" && last.fault.code, "MODEL_UNKNOWN");
});
