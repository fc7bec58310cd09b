import assert from "node:assert/strict";
import { test } from "node:test";
import { REQUEST } from "./model.contract.ts";
import { callOptions } from "./ai-sdk/prompt.ts";
import { factsOf } from "./catalogue.ts";
import { chooseModel } from "./choose.ts";
import { readConfig } from "../config.ts";

test("a model is known by its id, also with a date or tag, and not by the beginning of another's id", () => {
  const facts = factsOf("claude-opus-5-5");
  assert.equal(facts?.window, 1_000_000);
  for (const id of ["claude-opus-5-5-20260922", "claude-opus-5-5@20260922", "claude-opus-5-5-latest"])
    assert.equal(factsOf(id), facts, id);
  assert.notEqual(factsOf("claude-opus-5"), facts);
  for (const id of ["claude-opus-5-9", "claude-opus-5-5-mini", "claude", "", "__proto__"])
    assert.equal(factsOf(id), undefined, id);
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
