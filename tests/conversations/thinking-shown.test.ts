import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { JsonObject } from "@vidro/core";
import { lines, Stage } from "../../packages/cli/src/stage.fixture.ts";
import { DaemonProcess } from "../support/daemon-process.ts";
import { fakeOpenAi, thinking } from "../support/fake-openai.ts";

/* What a model thinks is shown to who wants it: live, folded in the terminal, and in a field of its own to callers. */

const THOUGHT = "First I look at the colour of the sky.\nThen I answer.";
const SECRET = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD";

async function stageWith(t: TestContext, thought: string): Promise<Stage> {
  const model = await fakeOpenAi(thinking(thought, "It is blue."));
  t.after(() => model.close());
  return await Stage.set({ VIDRO_MODEL: "compatible/thinker", VIDRO_MODEL_URL: model.url });
}

test("the terminal folds thinking to one line, shows all of it with --verbose, and none of it in the answer", async (t) => {
  await using stage = await stageWith(t, THOUGHT);
  const folded = await stage.run("run", "which colour?");
  assert.equal(folded.stdout, "It is blue.\n");
  assert.match(folded.stderr, /^~ First I look at the colour of the sky\. Then I answer\.$/m);
  const whole = await stage.run("run", "--verbose", "which colour?");
  assert.match(whole.stderr, /^~ First I look at the colour of the sky\.\n {2}Then I answer\.$/m);
  assert.doesNotMatch((await stage.run("run", "--quiet", "which colour?")).stderr, /First I look/);
});

test("thinking is a live event of the run, without the secrets in it", async (t) => {
  await using stage = await stageWith(t, `${THOUGHT}\nThe key is ${SECRET} and some more words behind it.\n`);
  const { stdout } = await stage.run("run", "--json", "--verbose", "which colour?");
  const live = lines(stdout).filter(({ event }) => event === "model.thinking");
  const told = live.map(({ body }) => (body as { readonly text: string }).text).join("");
  assert.ok(told.startsWith(THOUGHT), stdout);
  assert.ok(!stdout.includes(SECRET), "nowhere is the secret told");
});

test("a caller of chat completions gets reasoning_content when it asks, streamed and whole, and not otherwise", async (t) => {
  await using stage = await stageWith(t, THOUGHT);
  await using daemon = await DaemonProcess.up(stage);
  const ask = async (more: JsonObject): Promise<string> => {
    const messages = [{ role: "user", content: `which colour? ${JSON.stringify(more)}` }];
    const body = JSON.stringify({ model: "bunny", messages, ...more });
    return (await daemon.ask("/v1/chat/completions", { method: "POST", body })).text();
  };
  const whole = JSON.parse(await ask({ include_reasoning: true })) as { choices: { message: JsonObject }[] };
  const { content, reasoning_content: thought } = whole.choices[0]?.message ?? {};
  assert.deepEqual([content, thought], ["It is blue.", THOUGHT]);
  const chunks = (await ask({ include_reasoning: true, stream: true }))
    .split("\n\n")
    .flatMap((event) => (event.startsWith("data: {") ? [JSON.parse(event.slice("data: ".length)) as JsonObject] : []));
  const joined = (field: string): string =>
    chunks
      .flatMap(({ choices }) => (choices as { delta: JsonObject }[]).map(({ delta }) => delta[field]))
      .filter((piece) => typeof piece === "string")
      .join("");
  assert.deepEqual([joined("reasoning_content"), joined("content")], [THOUGHT, "It is blue."]);
  for (const more of [{}, { stream: true }])
    assert.doesNotMatch(await ask(more), /reasoning_content|First I look/, "who does not ask is not told");
});

test("a caller of responses gets thinking as reasoning items when it asks, streamed, whole and later, and not otherwise", async (t) => {
  await using stage = await stageWith(t, THOUGHT);
  await using daemon = await DaemonProcess.up(stage);
  const ask = async (more: JsonObject): Promise<string> => {
    const body = JSON.stringify({ model: "bunny", input: `which colour? ${JSON.stringify(more)}`, ...more });
    return (await daemon.ask("/v1/responses", { method: "POST", body })).text();
  };
  const outputOf = (text: string): readonly unknown[] =>
    (JSON.parse(text) as { readonly output: readonly JsonObject[] }).output.map(({ type, summary }) => [type, summary]);
  const shown = [
    ["reasoning", [{ type: "summary_text", text: THOUGHT }]],
    ["message", undefined],
  ];
  const asking: readonly JsonObject[] = [
    { reasoning: { summary: "auto" } },
    { include: ["reasoning.encrypted_content"] },
  ];
  for (const more of asking) {
    const whole = await ask(more);
    assert.deepEqual(outputOf(whole), shown);
    const { id, output } = JSON.parse(whole) as { readonly id: string; readonly output: readonly JsonObject[] };
    assert.deepEqual(
      outputOf(await (await daemon.ask(`/v1/responses/${id}`)).text()),
      shown,
      "also when it is read again",
    );
    const again = [
      ...output,
      { type: "item_reference", id: output[0]?.["id"] ?? "" },
      { role: "user", content: "sure?" },
    ];
    const next = JSON.parse(await ask({ input: again })) as JsonObject;
    assert.equal(next["status"], "completed", "its items and references to them are taken back");
  }
  const events = await ask({ reasoning: { summary: "detailed" }, stream: true });
  const pieces = [...events.matchAll(/^data: (\{"type":"response.reasoning_summary_text.delta".*)$/gm)];
  assert.equal(pieces.map(([, data]) => (JSON.parse(data ?? "") as { delta: string }).delta).join(""), THOUGHT);
  for (const more of [{}, { stream: true }]) assert.doesNotMatch(await ask(more), /First I look/);
  assert.match(await ask({ reasoning: { summary: "concise" } }), /auto or detailed/);
});
