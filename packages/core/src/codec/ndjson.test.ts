import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { cutInto, everyChunking, join, sizes, utf8 } from "./chunks.fixture.ts";
import { encodeNdjson, ndjsonDecoder } from "./ndjson.ts";
import type { NdjsonItem } from "./ndjson.ts";

function decodeAll(chunks: readonly Uint8Array[], maxBytes?: number): NdjsonItem[] {
  const decoder = ndjsonDecoder(maxBytes);
  const items = chunks.flatMap((chunk) => decoder.push(chunk));
  const last = decoder.end();
  return last === undefined ? items : [...items, last];
}

const value = fc.jsonValue({ maxDepth: 4 }).filter((json) => !JSON.stringify(json).includes("__proto__"));

test("F12: values come back the same from every chunking", () => {
  fc.assert(
    fc.property(fc.array(value, { maxLength: 8 }), sizes, (values, pieces) => {
      const bytes = utf8(values.map((each) => encodeNdjson(each)).join(""));
      const expected = values.map((each) => ({ ok: true, value: JSON.parse(JSON.stringify(each)) as unknown }));
      for (const chunks of [...everyChunking(bytes), cutInto(bytes, pieces)]) {
        assert.deepEqual(decodeAll(chunks), expected);
      }
    }),
  );
});

test("F12: any bytes at all give the same items in every chunking", () => {
  const line = fc.oneof(
    fc.uint8Array({ maxLength: 30 }),
    fc.constantFrom(utf8('{"a":1}'), utf8("é€😀"), utf8("plain"), utf8("x".repeat(50)), utf8(" \t\r"), utf8("7\r")),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), sizes, (some, pieces) => {
      const bytes = join(...some.flatMap((each) => [each, utf8("\n")]));
      const expected = decodeAll([bytes], 40);
      for (const chunks of [...everyChunking(bytes), cutInto(bytes, pieces)]) {
        assert.deepEqual(decodeAll(chunks, 40), expected);
      }
    }),
  );
});

test("a line that is no JSON keeps its words, white space included, and the stream goes on", () => {
  const items = decodeAll(everyChunking(utf8('  Olá, 😀 mundo \n{"ok":true}\r\n\n \r\n[1'))[1] ?? []);
  assert.deepEqual(
    items.map((item) => (item.ok ? item.value : [item.fault.code, item.text])),
    [["BAD_REQUEST", "  Olá, 😀 mundo "], { ok: true }, ["BAD_REQUEST", "[1"]],
  );
});

test("a line that is not UTF-8 is a fault and the stream goes on", () => {
  const [bad, good] = decodeAll([join(utf8('"a'), Uint8Array.of(0xff, 0xc3), utf8('"\n1\n'))]);
  assert.equal(bad?.ok === false && bad.fault.code, "BAD_REQUEST");
  assert.equal(bad?.ok === false && bad.text, '"a\uFFFD\uFFFD"');
  assert.deepEqual(good, { ok: true, value: 1 });
});

test("F12: a line over the bound is one fault, told at once, and the next line is read", () => {
  const decoder = ndjsonDecoder(100);
  assert.deepEqual(decoder.push(utf8("1\n" + "x".repeat(99))), [{ ok: true, value: 1 }]);
  const [fault, ...others] = decoder.push(utf8("xx"));
  assert.equal(fault?.ok === false && fault.fault.code, "PAYLOAD_TOO_LARGE");
  assert.deepEqual(others, []);
  for (let count = 0; count < 1000; count++) assert.deepEqual(decoder.push(utf8("y".repeat(1000))), []);
  assert.deepEqual(decoder.push(utf8("\n2\n")), [{ ok: true, value: 2 }]);
});

test("a line of exactly the bound is taken", () => {
  const text = JSON.stringify("a".repeat(98));
  for (const chunks of everyChunking(utf8(`${text}\n`))) {
    assert.deepEqual(decodeAll(chunks, 100), [{ ok: true, value: "a".repeat(98) }]);
    assert.equal(decodeAll(chunks, 99)[0]?.ok, false);
  }
});

test("a value that was given does not change when the chunk it came from is used again", () => {
  const decoder = ndjsonDecoder();
  const chunk = utf8('{"a":"first"');
  decoder.push(chunk);
  chunk.fill(0);
  assert.deepEqual(decoder.push(utf8("}\n")), [{ ok: true, value: { a: "first" } }]);
});
