import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import type { Json, JsonObject } from "../json.ts";
import { coerceInput, mendJsonText } from "./coerce-input.ts";

/** What becomes of one field with this schema. */
function coerced(value: Json, schema: JsonObject, required: readonly string[] = []): Json | undefined {
  return coerceInput({ field: value }, { properties: { field: schema }, required: [...required] })["field"];
}

describe("an input in the wrong form", () => {
  it("gets numbers and truth values from texts that are nothing else", () => {
    const rows: readonly (readonly [Json, string, Json])[] = [
      ["5", "integer", 5],
      [" -7 ", "integer", -7],
      ["2.5", "number", 2.5],
      ["2.5", "integer", "2.5"],
      ["true", "boolean", true],
      [" FALSE ", "boolean", false],
      ["yes", "boolean", "yes"],
      ["1e9", "number", "1e9"],
      ["0x10", "integer", "0x10"],
      ["", "integer", ""],
      ["12345678901234567890", "integer", "12345678901234567890"],
      ["5 files", "integer", "5 files"],
      [true, "integer", true],
    ];
    for (const [value, type, expected] of rows)
      assert.deepEqual(coerced(value, { type }), expected, `${JSON.stringify(value)} ${type}`);
  });

  it("gets text from numbers and truth values, and never from objects", () => {
    assert.equal(coerced(5, { type: "string" }), "5");
    assert.equal(coerced(false, { type: "string" }), "false");
    assert.deepEqual(coerced({ a: 1 }, { type: "string" }), { a: 1 });
    assert.deepEqual(coerced(["a"], { type: "string" }), ["a"]);
  });

  it("gets a list from one value, or from a list as text, with each item in its form", () => {
    const numbers = { type: "array", items: { type: "integer" } };
    assert.deepEqual(coerced("3", numbers), [3]);
    assert.deepEqual(coerced('[1, "2"]', numbers), [1, 2]);
    assert.deepEqual(coerced(["1", 2], numbers), [1, 2]);
    assert.deepEqual(coerced("a", { type: "array", items: { type: "string" } }), ["a"]);
    assert.deepEqual(coerced({ a: 1 }, numbers), { a: 1 });
  });

  it("gets an object from its text, with its fields in their form", () => {
    const schema = { type: "object", properties: { n: { type: "integer" } } };
    assert.deepEqual(coerced('{"n": "4"}', schema), { n: 4 });
    assert.deepEqual(coerced({ n: "4" }, schema), { n: 4 });
    assert.equal(coerced("{broken", schema), "{broken");
    assert.equal(coerced("plain", schema), "plain");
  });

  it("loses a null where none is wanted, but not one that the schema takes or requires", () => {
    assert.equal(coerced(null, { type: "string" }), undefined);
    assert.equal("field" in coerceInput({ field: null }, { properties: { field: { type: "string" } } }), false);
    assert.equal(coerced(null, { type: ["string", "null"] }), null);
    assert.equal(coerced(null, { type: "string" }, ["field"]), null);
  });

  it("takes the first type that fits where several are allowed", () => {
    assert.equal(coerced("5", { type: ["string", "integer"] }), "5");
    assert.equal(coerced("5", { type: ["integer", "null"] }), 5);
    assert.deepEqual(coerced("x", { type: ["array", "null"] }), ["x"]);
  });

  it("is left alone where the schema says nothing, also for names of an object's own methods", () => {
    const input = { other: "5", constructor: "5", toString: null };
    assert.equal(coerceInput(input, { properties: { field: { type: "integer" } } }), input);
    assert.equal(coerceInput(input, {}), input);
    assert.equal(coerced("5", {}), "5");
  });

  it("is the same object when nothing had to be changed, and is never changed in place", () => {
    const input = { list: ["a"], n: 5, inner: { flag: true } };
    const schema = {
      properties: {
        list: { type: "array", items: { type: "string" } },
        n: { type: "integer" },
        inner: { type: "object", properties: { flag: { type: "boolean" } } },
      },
    };
    assert.equal(coerceInput(input, schema), input);
    const wrong = { ...input, n: "5" };
    const right = coerceInput(wrong, schema);
    assert.deepEqual(right, input);
    assert.equal(wrong.n, "5");
  });

  it("put right once stays as it is", () => {
    const values = fc.jsonValue({ maxDepth: 2 });
    const types = fc.constantFrom("string", "integer", "number", "boolean", "array", "object", "null");
    fc.assert(
      fc.property(values, types, (value, type) => {
        const schema = { properties: { field: { type, items: { type: "integer" } } } };
        const once = coerceInput({ field: value }, schema);
        assert.deepEqual(coerceInput(once, schema), once);
      }),
      { numRuns: 1000 },
    );
  });

  it("too deep to be handled is left as text", () => {
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    assert.equal(coerced(deep, { type: "object" }), deep);
    assert.deepEqual(coerced(deep, { type: "array" }), [deep]);
  });
});

describe("an input that is no JSON", () => {
  it("is read without the fence around it and without commas before a closing bracket", () => {
    const rows: readonly (readonly [string, JsonObject | undefined])[] = [
      ['{"a": 1}', { a: 1 }],
      ['```json\n{"a": 1}\n```', { a: 1 }],
      ['{"a": [1, 2,], "b": {"c": 3,},}', { a: [1, 2], b: { c: 3 } }],
      ['  {"a": 1,\n}  ', { a: 1 }],
      ["[1]", undefined],
      ['"a"', undefined],
      ["", undefined],
      ["a = 1", undefined],
      ["{a: 1}", undefined],
    ];
    for (const [text, expected] of rows) assert.deepEqual(mendJsonText(text), expected, text);
  });

  it("keeps every letter of its texts, also commas before brackets in them", () => {
    assert.deepEqual(mendJsonText('{"text": "[1,2,]", "code": "f(a,}", "q": "\\",]",}'), {
      text: "[1,2,]",
      code: "f(a,}",
      q: '",]',
    });
  });

  it("is never completed when it was cut off", () => {
    const whole = '{"command": "rm", "args": ["-r", "/tmp/a/b"],}';
    for (let length = 1; length < whole.length; length += 1)
      assert.equal(mendJsonText(whole.slice(0, length)), undefined, whole.slice(0, length));
    assert.deepEqual(mendJsonText(whole), { command: "rm", args: ["-r", "/tmp/a/b"] });
  });
});

describe("text that is no JSON", () => {
  it("is mended in time that grows with its length, whatever it repeats", () => {
    const parts = [" ", "\n", "`", "``` ", ",", ", ", '"', '\\"', "{", "[,", '{"a":1,', "}", "x "];
    for (const part of parts) {
      const text = part.repeat(2_000_000 / part.length);
      for (const whole of [text, `x${text}x`, `{${text}}`]) assert.equal(mendJsonText(whole)?.["a"], undefined, part);
    }
  });

  it("loses one fence around it, with blanks before and behind", () => {
    const rows: readonly (readonly [string, JsonObject | undefined])[] = [
      ['```json\n{"a":1}\n```', { a: 1 }],
      ['  ```\n\n{"a":1}```  \n', { a: 1 }],
      ['{"a":1}\n```', { a: 1 }],
      ['```\n{"a":"```"}\n```', { a: "```" }],
      ['{"a":"```"}', { a: "```" }],
      ['```json\n{"a":1}\n``````', undefined],
      ["```", undefined],
      ["``````", undefined],
      ["", undefined],
      ["```\n[1]\n```", undefined],
      ['{"a":1', undefined],
      ['{"__proto__":{"a":1}}', undefined],
    ];
    for (const [text, value] of rows) assert.deepEqual(mendJsonText(text), value, text);
  });
});
