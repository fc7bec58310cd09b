import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@vidro/core";
import { WORKER_LIMITS } from "@vidro/core";
import { actionGrammar } from "./action-grammar.ts";

/** The rules of a grammar without those that every grammar has. */
function rulesOf(parameters: JsonObject, name = "look"): readonly string[] {
  const grammar = actionGrammar([{ name, parameters }], true);
  return grammar.slice(0, grammar.indexOf("\nws ::=")).split("\n");
}

test("required fields come first, each optional one with its comma", () => {
  const properties = { note: { type: "string" }, path: { type: "string", minLength: 1 }, deep: { type: "boolean" } };
  assert.deepEqual(rulesOf({ type: "object", properties, required: ["path"] }), [
    "root ::= r1",
    String.raw`r0 ::= "{" ws "\"path\"" ":" ws text ("," ws "\"note\"" ":" ws string)? ("," ws "\"deep\"" ":" ws boolean)? ws "}"`,
    String.raw`r1 ::= "{" ws "\"type\"" ":" ws "\"use_tool\"" "," ws "\"name\"" ":" ws "\"look\"" "," ws "\"args\"" ":" ws r0 ws "}"`,
  ]);
});

test("an object of optional fields may begin with any of them, or be empty", () => {
  const [, rule] = rulesOf({ type: "object", properties: { a: { type: "null" }, b: { type: "integer", minimum: 0 } } });
  assert.equal(
    rule,
    String.raw`r0 ::= "{" ws ("\"a\"" ":" ws "null" ("," ws "\"b\"" ":" ws digits)? | "\"b\"" ":" ws digits)? ws "}"`,
  );
});

test("the fields of a control tool stand beside its name, and the end of a task is an action too", () => {
  const steps = { type: "array", items: { enum: ["a", 'b"'] }, minItems: 1 };
  const tool = { name: "plan", parameters: { type: "object", properties: { steps }, required: ["steps"] } };
  const grammar = actionGrammar([tool], false);
  assert.match(grammar, /^root ::= r2 \| r0$/m);
  assert.ok(
    grammar.includes(String.raw`r0 ::= "{" ws "\"type\"" ":" ws "\"done\"" "," ws "\"result\"" ":" ws string ws "}"`),
  );
  assert.ok(grammar.includes(String.raw`("\"a\"" | "\"b\\\"\"")`));
});

test("unions, unknown schemas and depths beyond the bound are taken, a grammar that is too large is refused", () => {
  assert.ok(
    rulesOf({ type: "object", properties: { x: { type: ["string", "null"] } } })[1]?.includes('(string | "null")'),
  );
  assert.ok(rulesOf({ $ref: "#/$defs/x" })[1]?.includes(`"\\"args\\"" ":" ws any`));
  let deep: JsonObject = { type: "string" };
  for (let depth = 0; depth < 100; depth++) deep = { type: "object", properties: { x: deep }, required: ["x"] };
  assert.ok(rulesOf(deep).length <= WORKER_LIMITS.schemaDepth + 3);
  const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`field-${at}`, { type: "string" }]));
  assert.match(rulesOf({ type: "object", properties: wide })[1] ?? "", /"\\"args\\"" ":" ws object /);
  const tool = { name: "x", parameters: { type: "object", properties: wide, required: Object.keys(wide) } };
  assert.throws(() => actionGrammar([tool], true), /more than 524288 characters/);
});
