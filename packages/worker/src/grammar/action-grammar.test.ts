import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
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

/** The texts that the literals of a grammar allow. */
const literalsOf = (grammar: string): readonly string[] =>
  Array.from(grammar.matchAll(/"(?:[^"\\]|\\.)*"/g), ([text]) => JSON.parse(text) as string);

test("names and values of a schema are in the grammar to the letter, also with several blanks and signs", () => {
  const names = [
    "a  b",
    "  lead",
    "tab\there",
    'quo"te',
    "back\\slash",
    "日本",
    "emoji 😀",
    "line\nbreak",
    "nul\u0000",
    "$ref",
  ];
  for (const name of names) {
    const properties = { [name]: { enum: [name, `${name}  ${name}`] }, other: { const: { deep: [name, null, 1.5] } } };
    for (const required of [[name], [], [name, "other"]]) {
      const grammar = actionGrammar([{ name: "look", parameters: { type: "object", properties, required } }], true);
      const texts = literalsOf(grammar.slice(0, grammar.indexOf("\nws ::=")));
      for (const value of [name, `${name}  ${name}`, { deep: [name, null, 1.5] }])
        assert.ok(texts.includes(JSON.stringify(value)), `${JSON.stringify(value)} in ${texts.join(" ")}`);
    }
  }
});

test("every rule that a grammar names is in it once, whatever the schema", () => {
  const leaf = fc.constantFrom<JsonObject>(
    { type: "string" },
    { type: "string", minLength: 1 },
    { type: "integer", minimum: 0 },
    { type: "number" },
    { type: "boolean" },
    { type: "null" },
    { enum: ["a", 1, null, { b: [] }] },
    { const: false },
    { type: ["string", "null"] },
    {},
    { $ref: "#/x" },
    { enum: [] },
    { anyOf: [] },
  );
  const { schema } = fc.letrec<{ schema: JsonObject }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.record({ type: fc.constant("array"), items: tie("schema"), minItems: fc.nat(2) }) as fc.Arbitrary<JsonObject>,
      fc.record({ anyOf: fc.array(tie("schema"), { maxLength: 3 }) }) as unknown as fc.Arbitrary<JsonObject>,
      fc
        .dictionary(
          fc.string({ maxLength: 4 }).filter((name) => name !== "__proto__"),
          tie("schema"),
          { maxKeys: 4 },
        )
        .chain((properties) =>
          fc.subarray(Object.keys(properties)).map((required) => ({ type: "object", properties, required })),
        ),
    ),
  }));
  fc.assert(
    fc.property(schema, fc.boolean(), (parameters, isRequired) => {
      const rules = actionGrammar([{ name: "look", parameters }], isRequired).split("\n");
      const names = rules.map((rule) => rule.slice(0, rule.indexOf(" ::= ")));
      assert.equal(new Set(names).size, names.length, "each rule once");
      for (const rule of rules) {
        const body = rule
          .slice(rule.indexOf(" ::= ") + 5)
          .replaceAll(/"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|\{[\d,]+\}/g, " # ");
        for (const [name] of body.matchAll(/[a-z]\w*/g)) assert.ok(names.includes(name), `${name} in ${rule}`);
        assert.equal(body.split("(").length, body.split(")").length, rule);
        assert.doesNotMatch(body, /\(\s*\)|\|\s*[)|]|\(\s*\|/, rule);
      }
    }),
    { numRuns: 300 },
  );
});

test("a tool without parameters that say anything takes any object, and one that is named twice is allowed twice", () => {
  for (const parameters of [
    {},
    { type: "object" },
    { type: "object", properties: {} },
    { type: "object", properties: [] },
  ])
    assert.match(actionGrammar([{ name: "x", parameters }], true), /"\\"args\\"" ":" ws (?:any|object) /);
  const twice = actionGrammar(
    Array.from({ length: 2 }, () => ({ name: "x", parameters: {} })),
    true,
  );
  assert.match(twice, /^root ::= r0 \| r1$/m);
});
