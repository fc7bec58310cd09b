import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { canonicalJson, isObject, textIn } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";

/** The value with the keys of its objects in another order. */
function turned(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) return value.map((item: Json) => turned(item) ?? null);
  if (!isObject(value)) return value;
  const turnedEntries = Object.keys(value)
    .toReversed()
    .map((key) => [key, turned(value[key])] as const);
  return Object.fromEntries(turnedEntries);
}

test("equal values have one canonical text, whatever the order of their keys, and it reads back as the value", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (given) => {
      const value = given as Json;
      assert.equal(canonicalJson(turned(value)), canonicalJson(value));
      assert.deepEqual(JSON.parse(canonicalJson(value)), JSON.parse(JSON.stringify(value)));
    }),
  );
});

test("values that differ have canonical texts that differ", () => {
  const values: readonly Json[] = [
    null,
    0,
    false,
    "",
    "0",
    [],
    {},
    [[]],
    [null],
    { a: null },
    { a: 1, b: 2 },
    { a: "1,b:2" },
    ["a", "b"],
    ["a,b"],
    { "a:1": 2 },
    '{"a":1}',
    { a: 1 },
    "\u2028",
    "é",
    "e\u0301",
  ];
  assert.equal(new Set(values.map((value) => canonicalJson(value))).size, values.length);
});

test("a field that is undefined is as absent, and keys are sorted by their units", () => {
  assert.equal(canonicalJson({ b: undefined, a: 1 }), '{"a":1}');
  assert.equal(canonicalJson(undefined), "null");
  assert.equal(canonicalJson({ é: 1, z: 2, Z: 3, "10": 4, "9": 5 }), '{"10":4,"9":5,"Z":3,"z":2,"é":1}');
});

test("a key named as the prototype is a key like others", () => {
  const value = JSON.parse('{"__proto__":{"a":1},"constructor":2}') as JsonObject;
  assert.equal(canonicalJson(value), '{"__proto__":{"a":1},"constructor":2}');
});

test("objects are told from lists, null and functions, and texts from what only looks like one", () => {
  for (const value of [{}, { a: 1 }, Object.create(null)]) assert.equal(isObject(value), true);
  for (const value of [null, undefined, [], "x", 5, true, () => 1, Symbol("x")]) assert.equal(isObject(value), false);
  const fields = { a: "x", b: 5, c: null, d: ["x"], e: "" };
  assert.deepEqual(
    ["a", "b", "c", "d", "e", "f", "toString", "__proto__", "constructor"].map((field) => textIn(fields, field)),
    ["x", undefined, undefined, undefined, "", undefined, undefined, undefined, undefined],
  );
  assert.equal(textIn(undefined, "a"), undefined);
});
