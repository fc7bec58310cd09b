import assert from "node:assert/strict";
import { test } from "node:test";
import { REQUEST } from "./model.contract.ts";
import { callOptions } from "./ai-sdk/prompt.ts";
import { factsOf } from "./catalogue.ts";
import { chooseModel } from "./choose.ts";
import { modelFacts } from "./model-facts.ts";
import { costOf } from "./price.ts";
import { readConfig } from "../config.ts";
import type { Usage } from "@vidro/core";

test("a model is known by its id, also with a date or tag, and not by the beginning of another's id", () => {
  const facts = factsOf("claude-opus-5-5");
  assert.equal(facts?.window, 1_000_000);
  for (const id of ["claude-opus-5-5-20260922", "claude-opus-5-5@20260922", "claude-opus-5-5-latest"])
    assert.equal(factsOf(id), facts, id);
  assert.notEqual(factsOf("claude-opus-5"), facts);
  for (const id of ["claude-opus-5-9", "claude-opus-5-5-mini", "claude", "", "__proto__"])
    assert.equal(factsOf(id), undefined, id);
});

test("a call costs what the price of its day and of its prompt's length says, with its cached tokens", () => {
  const cost = (id: string, usage: Usage, day = "2026-11-16") =>
    costOf(usage, factsOf(id)?.prices ?? [], new Date(day));
  const usage = { inputTokens: 100_000, outputTokens: 1000, cachedTokens: 80_000, cacheWriteTokens: 10_000 };
  // 10,000 at 4, 80,000 at 0.20, 10,000 at 5 and 1,000 at 20 dollars per million.
  assert.equal(cost("claude-opus-5-5", usage), 0.126);
  assert.equal(cost("claude-haiku-5-5", { inputTokens: 100_000, outputTokens: 0 }), 0.01);
  assert.equal(cost("claude-haiku-5-5", { inputTokens: 100_001, outputTokens: 0 }), 0.0500005);
  assert.equal(cost("gemini-4-argon", { inputTokens: 1_000_000, outputTokens: 0 }), 2);
  assert.equal(cost("gemini-4-argon", { inputTokens: 1_000_000, outputTokens: 0 }, "2026-12-01"), 4);
  assert.equal(cost("deepseek-v4-pro", usage), undefined, "no price in dollars is published");
});

test("facts and prices come from the settings before the catalogue, and rubbish in them is refused by name", () => {
  const facts = (env: { readonly [name: string]: string }) => modelFacts("claude-opus-5-5", readConfig({ env }));
  assert.equal(facts({}).answer, 128_000);
  assert.equal(facts({ VIDRO_MODEL_ANSWER: "500" }).answer, 500);
  assert.deepEqual(facts({ VIDRO_MODEL_PRICE: "1/2.5/0.1" }).prices, [{ input: 1, output: 2.5, cached: 0.1 }]);
  const own = { "claude-opus-5-5": { window: 7, prices: [{ input: 3, output: 4 }] } };
  const said = facts({ VIDRO_MODEL_FACTS: JSON.stringify(own) });
  assert.deepEqual([said.window, said.prices, said.images], [7, [{ input: 3, output: 4 }], true]);
  for (const [name, value] of [
    ["VIDRO_MODEL_PRICE", "cheap"],
    ["VIDRO_MODEL_PRICE", "1"],
    ["VIDRO_MODEL_PRICE", "1/-2"],
    ["VIDRO_MODEL_FACTS", "{"],
    ["VIDRO_MODEL_FACTS", '{"m":{"windows":1}}'],
    ["VIDRO_MODEL_FACTS", '{"m":{"prices":[{"input":1}]}}'],
  ] as const)
    assert.throws(() => facts({ [name]: value }), new RegExp(name), value);
});

test("the window comes from the settings, else from the catalogue; a chain has the smallest", async () => {
  const windowOf = async (env: { readonly [name: string]: string }) => (await chooseModel(readConfig({ env }))).window;
  const key = { ANTHROPIC_API_KEY: "k" };
  assert.equal(await windowOf({ ...key, VIDRO_MODEL: "anthropic/claude-opus-5-5" }), 1_000_000);
  assert.equal(await windowOf({ ...key, VIDRO_MODEL: "anthropic/claude-x" }), undefined);
  assert.equal(await windowOf({ ...key, VIDRO_MODEL: "anthropic/claude-opus-5-5", VIDRO_MODEL_WINDOW: "9000" }), 9000);
  const both = { ...key, VIDRO_MODEL: "anthropic/claude-opus-5-5,anthropic/MiniMax-M3" };
  assert.equal(await windowOf(both), 512_000);
  await assert.rejects(windowOf({ ...key, VIDRO_MODEL_WINDOW: "big" }), { code: "BAD_REQUEST" });
});

test("a vendor that refuses forced calls is not asked for one", () => {
  const request = { ...REQUEST, choice: "required" } as const;
  assert.deepEqual(callOptions(request, { name: "m" }).toolChoice, { type: "required" });
  assert.equal(callOptions(request, { name: "m", refusesForcedTools: true }).toolChoice, undefined);
  const none = { ...REQUEST, choice: "none" } as const;
  assert.deepEqual(callOptions(none, { name: "m", refusesForcedTools: true }).toolChoice, { type: "none" });
});

test("a vendor that shows thinking is asked for it unless no thinking is wanted, and a bound on answers is passed on", () => {
  const shown = {
    name: "m",
    showsThinking: true,
    providerOptions: { anthropic: { disableParallelToolUse: true } },
  } as const;
  const { providerOptions } = callOptions(REQUEST, shown);
  assert.deepEqual(providerOptions?.["anthropic"], {
    disableParallelToolUse: true,
    thinking: { type: "adaptive", display: "summarized" },
  });
  assert.deepEqual(providerOptions?.["google"], { thinkingConfig: { includeThoughts: true } });
  const unwanted = callOptions({ ...REQUEST, sampling: { reasoning: "none" } }, shown).providerOptions;
  assert.deepEqual(unwanted?.["anthropic"], shown.providerOptions.anthropic);
  assert.equal(callOptions(REQUEST, { name: "m", answer: 500 }).maxOutputTokens, 500);
  const asked = { ...REQUEST, sampling: { maxTokens: 7 } };
  assert.equal(callOptions(asked, { name: "m", answer: 500 }).maxOutputTokens, 7);
});
