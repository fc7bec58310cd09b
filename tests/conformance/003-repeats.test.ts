import assert from "node:assert/strict";
import { suite, test } from "node:test";
import OpenAI from "openai";
import { calls, text } from "../support/fake-openai.ts";
import type { FakeReply } from "../support/fake-openai.ts";
import { startFrontEndServer } from "../support/front-end-server.ts";
import type { FrontEndServer } from "../support/front-end-server.ts";

/* What clients of the chat wire send again by themselves, without a key, and what they must not. */

const MINUTE_MS = 60_000;
const SAID = { role: "user", content: "count the files" } as const;
const TOOL: OpenAI.ChatCompletionTool = {
  type: "function",
  function: { name: "weather", parameters: { type: "object" } },
};

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAYAAACddGYaAAAAEklEQVR4nGP8z8AARIgAAAkAAP8BBgEBlHQ0VgAAAABJRU5ErkJggg==";

/** A reply that waits until it is let go. */
function held(then: FakeReply): { readonly reply: FakeReply; readonly go: () => void } {
  const gate = Promise.withResolvers<void>();
  return { reply: (response) => void gate.promise.then(() => then(response)), go: gate.resolve };
}

/** Resolves when the next request follows a run. */
function nextFollow({ runs }: FrontEndServer): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const follow = runs.follow.bind(runs);
  runs.follow = (...args) => {
    resolve();
    return follow(...args);
  };
  return promise;
}

async function countOf(brain: FrontEndServer): Promise<number> {
  return (await brain.runs.list({ limit: 9 })).length;
}

suite("the same conversation again", () => {
  for (const stream of [false, true])
    test(`attaches to the run that it began while that is open${stream ? ", as a stream, too" : ""}`, async (t) => {
      const { reply, go } = held(text("Three."));
      const brain = await startFrontEndServer(t, reply, text("Four."));
      const asked = brain.fake.next();
      const impatient = new AbortController();
      const earlier = [
        { role: "system", content: "Be short." },
        { role: "user", content: "hi" },
        { role: "assistant", content: "Hello." },
      ] as const;
      const request = { model: "bunny", messages: [...earlier, SAID], stream };
      const first = brain.client.chat.completions.create(request, { signal: impatient.signal, maxRetries: 0 });
      await asked;
      impatient.abort();
      await Promise.resolve(first).catch((thrown: unknown) => assert.ok(thrown instanceof OpenAI.APIUserAbortError));
      const followed = nextFollow(brain);
      const again = fetch(`${brain.url}/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${brain.client.apiKey}`, "content-type": "application/json" },
        body: JSON.stringify(request),
      });
      // A stream begins when it follows the run; an answer alone begins when the run is over.
      await (stream ? again : followed);
      const other = brain.client.chat.completions.create({ model: "bunny", messages: [SAID] });
      assert.equal((await other).choices[0]?.message.content, "Four.");
      go();
      assert.match(await (await again).text(), /Three/);
      assert.equal(await countOf(brain), 2);
      assert.equal(brain.fake.requests.length, 2);
      const run = (await again).headers.get("x-run-id");
      assert.ok((await brain.runs.list({ limit: 9 })).some(({ id }) => id === run));
    });

  test("in a stored conversation attaches as well, instead of finding it busy", async (t) => {
    const { reply, go } = held(text("Three."));
    const brain = await startFrontEndServer(t, reply);
    const { id } = await brain.client.conversations.create();
    const say = (content: string): ReturnType<FrontEndServer["ask"]> =>
      brain.ask("POST", `/conversations/${id}/messages`, { body: { messages: [{ role: "user", content }] } });
    const asked = brain.fake.next();
    const first = say(SAID.content);
    await asked;
    const followed = nextFollow(brain);
    const again = say(SAID.content);
    await followed;
    const busy = await say("something else");
    assert.deepEqual([busy.status, busy.headers.get("x-should-retry")], [409, "false"]);
    go();
    assert.match((await first).text, /Three\./);
    assert.match((await again).text, /Three\./);
    assert.equal(await countOf(brain), 1);
  });

  test("in a stored conversation attaches also where a secret in it is not kept", async (t) => {
    const { reply, go } = held(text("Three."));
    const brain = await startFrontEndServer(t, reply);
    const { id } = await brain.client.conversations.create();
    const content = `log in with the key sk-ant-api03-${"a1B2c3D4".repeat(8)}`;
    const say = (): ReturnType<FrontEndServer["ask"]> =>
      brain.ask("POST", `/conversations/${id}/messages`, { body: { messages: [{ role: "user", content }] } });
    const asked = brain.fake.next();
    const first = say();
    await asked;
    const followed = nextFollow(brain);
    const again = say();
    await Promise.race([followed, again]);
    go();
    assert.deepEqual([(await first).status, (await again).status], [200, 200]);
    assert.equal(await countOf(brain), 1);
    assert.doesNotMatch((await brain.runs.list({ limit: 1 }))[0]?.task ?? "", /a1B2c3D4/);
  });

  test("for another model, with another picture or with other settings is another run", async (t) => {
    const { reply, go } = held(text("Three."));
    const brain = await startFrontEndServer(t, reply);
    const pngWith = (bytes: string): string =>
      Buffer.concat([Buffer.from(PNG, "base64"), Buffer.from(bytes)]).toString("base64");
    const picture = (bytes: string): object => ({
      role: "user",
      content: [
        { type: "text", text: SAID.content },
        { type: "image_url", image_url: { url: `data:image/png;base64,${pngWith(bytes)}` } },
      ],
    });
    const bodies = [
      { model: "bunny", messages: [SAID] },
      { model: "fake/one", messages: [SAID] },
      { model: "fake/other", messages: [SAID] },
      { model: "bunny", messages: [SAID], temperature: 0.5 },
      { model: "bunny", messages: [SAID], tools: [TOOL] },
      { model: "bunny", messages: [picture("AAAA")] },
      { model: "bunny", messages: [picture("BBBB")] },
    ];
    const answers = bodies.map((body) => brain.ask("POST", "/chat/completions", { body: body as never }));
    for (let called = 0; called < bodies.length; called = brain.fake.requests.length)
      await Promise.race([brain.fake.next(), ...answers]);
    go();
    for (const answer of answers) assert.match((await answer).text, /Three/);
    assert.equal(await countOf(brain), bodies.length);
  });

  test("when its run is over is a new run", async (t) => {
    const brain = await startFrontEndServer(t, text("Three."), text("Four."));
    for (const answer of ["Three.", "Four."]) {
      const { choices } = await brain.client.chat.completions.create({ model: "bunny", messages: [SAID] });
      assert.equal(choices[0]?.message.content, answer);
    }
    assert.equal(await countOf(brain), 2);
  });
});

test("what the model's server refuses is no failure of a gateway, and the official client does not repeat it", async (t) => {
  for (const status of [400, 401]) {
    const refusal: FakeReply = (response) =>
      void response.writeHead(status, { "content-type": "application/json" }).end('{"error":{"message":"no"}}');
    const brain = await startFrontEndServer(t, refusal, text("not asked for"));
    const client = new OpenAI({ apiKey: brain.client.apiKey, baseURL: brain.url, maxRetries: 2 });
    const refused = await client.chat.completions
      .create({ model: "bunny", messages: [SAID] })
      .catch((thrown: unknown) => thrown);
    assert.ok(refused instanceof OpenAI.APIError, String(refused));
    assert.deepEqual([refused.status, refused.code], [424, status === 401 ? "MODEL_KEY_REFUSED" : "MODEL_REFUSED"]);
    assert.equal(refused.headers?.get("x-should-retry"), "false");
    assert.equal(await countOf(brain), 1);
    assert.equal(brain.fake.requests.length, 1);
  }
});

test("a run that failed is not run again by the official client", async (t) => {
  const cut: FakeReply = (response) => void response.destroy();
  const brain = await startFrontEndServer(t, ...Array.from({ length: 40 }, () => cut));
  const client = new OpenAI({ apiKey: brain.client.apiKey, baseURL: brain.url, maxRetries: 2 });
  const failed = await client.chat.completions
    .create({ model: "bunny", messages: [SAID] })
    .catch((thrown: unknown) => thrown);
  assert.ok(failed instanceof OpenAI.APIError && Number(failed.status) >= 500, String(failed));
  assert.equal(await countOf(brain), 1);
});

test("a caller's function may take longer than five minutes", async (t) => {
  const first = await startFrontEndServer(t, calls({ id: "m1", name: "weather", input: "{}" }), text("It is sunny."));
  const request = { model: "bunny", tools: [TOOL] };
  const called = await first.client.chat.completions.create({ ...request, messages: [SAID] });
  const message = called.choices[0]?.message;
  const id = message?.tool_calls?.[0]?.id ?? "";
  const later = await first.restarted(6 * MINUTE_MS);
  const result = { role: "tool", tool_call_id: id, content: "sunny" };
  const answer = await later.ask("POST", "/chat/completions", {
    body: { ...request, messages: [SAID, message, result] } as never,
  });
  assert.match(answer.text, /It is sunny\./);
});

test("a conversation that ends with the result of a call that was made elsewhere is taken as it is", async (t) => {
  const brain = await startFrontEndServer(t, text("Take a hat."));
  const call = {
    id: "call_elsewhere",
    type: "function",
    function: { name: "weather", arguments: '{"city":"Rio"}' },
  } as const;
  const answer = await brain.client.chat.completions.create({
    model: "bunny",
    messages: [
      { role: "user", content: "what do I wear?" },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: call.id, content: "sunny, 33 degrees" },
    ],
  });
  assert.equal(answer.choices[0]?.message.content, "Take a hat.");
  const told = JSON.stringify(brain.fake.requests[0]?.body["messages"]);
  assert.match(told, /sunny, 33 degrees/);
  assert.match(told, /what do I wear/);
});
