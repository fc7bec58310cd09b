import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { CODEC_LIMITS } from "../limits.ts";
import { parseJson } from "./json.ts";

const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
const refused = { name: "Fault", code: "BAD_REQUEST" };

test("parseJson gives what JSON.parse gives", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const expected: unknown = JSON.parse(text);
      fc.pre(!text.includes("__proto__"));
      assert.deepEqual(parseJson(text), expected);
    }),
  );
});

test("parseJson refuses text that is no JSON", () => {
  for (const text of ["", "{", "nul", '{"a":1}}', "'a'", "\uFEFF1", '"open', '"\\']) {
    assert.throws(() => parseJson(text), refused, text);
  }
});

test("parseJson takes JSON of the greatest depth and refuses one level more", () => {
  assert.doesNotThrow(() => parseJson(nested(CODEC_LIMITS.jsonDepth)));
  assert.throws(() => parseJson(nested(CODEC_LIMITS.jsonDepth + 1)), refused);
  assert.throws(() => parseJson('{"a":'.repeat(100_000) + "1" + "}".repeat(100_000)), refused);
});

test("parseJson does not count brackets in strings, nor quotes behind backslashes", () => {
  const text = JSON.stringify([
    "[".repeat(200),
    '"{'.repeat(200),
    "\\".repeat(7) + "[".repeat(200),
    '\\"[['.repeat(99),
  ]);
  assert.deepEqual(parseJson(text), JSON.parse(text));
});

test("parseJson refuses __proto__ as a key, also behind escapes, and takes it as a value", () => {
  for (const text of [
    '{"__proto__":1}',
    '[{"a":{"\\u005f_proto__":{}}}]',
    '{"__\\u0070roto__":1}',
    '{"__pr\\u006Fto__":1}',
  ]) {
    assert.throws(() => parseJson(text), refused, text);
  }
  assert.deepEqual(parseJson('["__proto__", "\\u005f_proto__"]'), ["__proto__", "__proto__"]);
});
