import assert from "node:assert/strict";
import { test } from "node:test";
import { MODEL_LIMITS } from "@vidro/core";
import type { AnswerFormat, JsonObject, Model, ModelEvent, ModelReply, ModelRequest } from "@vidro/core";
import { callInFormat } from "./held-format.ts";

const REQUEST: ModelRequest = { system: "s", turns: [{ role: "user", text: "which?" }], tools: [] };
const NUMBER: JsonObject = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };

const reply = (text: string, more: Partial<ModelReply> = {}): ModelEvent => ({
  type: "replied",
  reply: { model: "m", text, calls: [], usage: { inputTokens: 10, outputTokens: 1 }, ...more },
});

/** A model that answers each call with the next list of events, and what it was asked. */
function scripted(...answers: readonly (readonly ModelEvent[])[]): { model: Model; asked: ModelRequest[] } {
  const asked: ModelRequest[] = [];
  const model: Model = {
    name: "scripted",
    async *call(request) {
      asked.push(request);
      yield* answers[asked.length - 1] ?? [];
    },
  };
  return { model, asked };
}

async function eventsOf(model: Model, format: AnswerFormat | undefined): Promise<readonly ModelEvent[]> {
  const request = format === undefined ? REQUEST : { ...REQUEST, sampling: { format } };
  return Array.fromAsync(callInFormat(model, request, new AbortController().signal));
}

const types = (events: readonly ModelEvent[]): readonly string[] => events.map(({ type }) => type);

/** The fault at the end of a call. */
function faultIn(events: readonly ModelEvent[]): { readonly code: string; readonly message: string } {
  const last = events.at(-1);
  assert.ok(last?.type === "failed", JSON.stringify(last));
  return last.fault;
}

test("without a format every event goes through as it is, and the request too", async () => {
  const events: readonly ModelEvent[] = [{ type: "delta", text: "no JSON" }, reply("no JSON")];
  const { model, asked } = scripted(events);
  assert.deepEqual(await eventsOf(model, undefined), events);
  assert.deepEqual(asked, [REQUEST]);
});

test("an answer that fits is told as one piece, though the model said it in several", async () => {
  const { model, asked } = scripted([
    { type: "delta", text: '{"n"' },
    { type: "thinking", text: "hm" },
    { type: "delta", text: ":1}" },
    reply('{"n":1}'),
  ]);
  const events = await eventsOf(model, { schema: NUMBER });
  assert.deepEqual(types(events), ["thinking", "delta", "replied"]);
  assert.deepEqual(events[1], { type: "delta", text: '{"n":1}' });
  assert.equal(asked.length, 1);
  assert.match(asked[0]?.system ?? "", /fits this JSON Schema: .*"integer"/s);
});

test("an answer that does not fit is asked for once more, with what it lacks, and both calls are paid for", async () => {
  const { model, asked } = scripted([{ type: "delta", text: "one" }, reply("one")], [reply('{"n":1}')]);
  const events = await eventsOf(model, { schema: NUMBER });
  assert.deepEqual(types(events), ["healed", "delta", "replied"]);
  const last = events.at(-1);
  assert.ok(last?.type === "replied");
  assert.deepEqual([last.reply.text, last.reply.usage.inputTokens, last.reply.usage.outputTokens], ['{"n":1}', 20, 2]);
  assert.deepEqual(asked[1]?.turns.slice(-2), [
    { role: "assistant", text: "one" },
    { role: "user", text: "That answer does not fit: it is not JSON. Answer again with the JSON alone." },
  ]);
});

test("two answers that do not fit are ANSWER_UNFIT, and none of their words is told", async () => {
  const { model, asked } = scripted([reply("one")], [reply('{"n":"two"}')], [reply('{"n":3}')]);
  const events = await eventsOf(model, { schema: NUMBER });
  assert.deepEqual(types(events), ["healed", "failed"]);
  assert.equal(faultIn(events).code, "ANSWER_UNFIT");
  assert.match(faultIn(events).message, /n .*integer/);
  assert.equal(asked.length, 2);
});

const FORMS: readonly (readonly [text: string, format: AnswerFormat, fits: boolean])[] = [
  ["{}", {}, true],
  ["[]", {}, false],
  ["null", {}, false],
  ["7", {}, false],
  ['"{}"', {}, false],
  ["", {}, false],
  [" {} \n", {}, true],
  ["```json\n{}\n```", {}, false],
  ['{"a":1}{"b":2}', {}, false],
  ['{"__proto__":{"n":1}}', { schema: NUMBER }, false],
  ['{"n":1.0}', { schema: NUMBER }, true],
  ["null", { schema: { type: "null" } }, true],
  ["[1,1]", { schema: { type: "array", uniqueItems: true } }, false],
  ['"💧"', { schema: { type: "string", maxLength: 1 } }, true],
  ['{"x":1}', { schema: { type: "object", additionalProperties: false } }, false],
];

test("each form is held to the letter", async (t) => {
  for (const [text, format, fits] of FORMS)
    await t.test(`${JSON.stringify(text)} ${fits ? "fits" : "does not fit"} ${JSON.stringify(format)}`, async () => {
      const events = await eventsOf(scripted([reply(text)], [reply(text)]).model, format);
      assert.equal(events.at(-1)?.type, fits ? "replied" : "failed");
    });
});

test("a reply that calls a tool is no answer, and one that was cut short is passed on as it is", async () => {
  const call = { id: "c", tool: "shell", input: {} };
  const calling = await eventsOf(scripted([reply("", { calls: [call] })]).model, { schema: NUMBER });
  assert.deepEqual(types(calling), ["replied"]);
  const cut = await eventsOf(scripted([reply('{"n"', { cutShort: true })]).model, { schema: NUMBER });
  assert.deepEqual(types(cut), ["delta", "replied"]);
});

test("a call that fails ends there, the first as the second", async () => {
  const failed: ModelEvent = { type: "failed", fault: { code: "MODEL_CUT", message: "cut" } };
  const first = scripted([{ type: "delta", text: "x" }, failed]);
  assert.deepEqual(await eventsOf(first.model, { schema: NUMBER }), [failed]);
  const second = scripted([reply("one")], [failed]);
  assert.deepEqual(types(await eventsOf(second.model, { schema: NUMBER })), ["healed", "failed"]);
});

const UNUSABLE: readonly (readonly [what: string, schema: JsonObject])[] = [
  ["has a type that there is not", { type: "number-like" }],
  ["refers to nothing", { $ref: "#/$defs/none" }],
  ["refers to another document", { $ref: "https://schemas.example/a.json" }],
  ["has a pattern that is none", { type: "string", pattern: "(" }],
  ["is of Ajv's own kind that gives promises", { $async: true, ...NUMBER }],
];

test("a schema that cannot be used is the caller's fault, and the model is asked once", async (t) => {
  for (const [what, schema] of UNUSABLE)
    await t.test(`one that ${what}`, async () => {
      const { model, asked } = scripted([reply('"x"')], [reply('"x"')]);
      const events = await eventsOf(model, { schema });
      assert.equal(faultIn(events).code, "BAD_ARGUMENTS");
      assert.match(faultIn(events).message, /^The schema of the answer cannot be used: /);
      assert.equal(asked.length, 1);
      // A promise that a schema left behind would be rejected by now.
      await new Promise(setImmediate);
    });
});

test("a pattern that takes for ever on an answer is given up within its time", async () => {
  const schema = { type: "string", pattern: "^(a|aa)+$" };
  const events = await eventsOf(scripted([reply(JSON.stringify(`${"a".repeat(64)}!`))]).model, { schema });
  assert.equal(faultIn(events).code, "BAD_ARGUMENTS");
});

test("what an answer lacks is told within its bound", async () => {
  const long = "x".repeat(2 * MODEL_LIMITS.mismatchChars);
  const { model, asked } = scripted([reply("{}")], [reply("{}")]);
  await eventsOf(model, { schema: { type: "object", required: [long] } });
  const [, told] = asked[1]?.turns.slice(-2) ?? [];
  assert.ok(told !== undefined && told.text.length < MODEL_LIMITS.mismatchChars + 100);
});

test("the rule says the shape and the meaning of the answer, and stands behind the agent's own words", async () => {
  const { model, asked } = scripted([reply("{}")], [reply("{}")]);
  await eventsOf(model, { description: "the free disks" });
  assert.match(
    asked[0]?.system ?? "",
    /^s\n.*one JSON object\.\nNo other words, no code fence\. It is: the free disks$/s,
  );
  await eventsOf(model, { schema: { type: "object" }, description: "" });
  assert.ok(asked.at(-1)?.system.endsWith("no code fence."));
});
