import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { CODEC_LIMITS } from "../limits.ts";
import { cutInto, everyChunking, join, sizes, utf8 } from "./chunks.fixture.ts";
import { encodeFrame, frameDecoder } from "./frame.ts";
import type { FrameItem } from "./frame.ts";

function decodeAll(chunks: readonly Uint8Array[], maxBytes?: number): FrameItem[] {
  const decoder = frameDecoder(maxBytes);
  const items = chunks.flatMap((chunk) => decoder.push(chunk));
  const last = decoder.end();
  return last === undefined ? items : [...items, last];
}

function header(length: number): Uint8Array {
  return Uint8Array.of(length >>> 24, length >>> 16, length >>> 8, length);
}

const codes = (items: readonly FrameItem[]) => items.map((item) => (item.ok ? "ok" : item.fault.code));
const value = fc.jsonValue({ maxDepth: 4 }).filter((json) => !JSON.stringify(json).includes("__proto__"));

test("F12: frames come back the same from every chunking", () => {
  fc.assert(
    fc.property(fc.array(value, { maxLength: 8 }), sizes, (values, pieces) => {
      const bytes = join(...values.map((each) => encodeFrame(each)));
      const expected = values.map((each) => ({ ok: true, value: JSON.parse(JSON.stringify(each)) as unknown }));
      for (const chunks of [...everyChunking(bytes), cutInto(bytes, pieces)]) {
        assert.deepEqual(decodeAll(chunks, CODEC_LIMITS.frameBytes), expected);
      }
    }),
  );
});

test("F12: any bytes at all give the same items in every chunking", () => {
  const frame = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 30 }).map((body) => join(header(body.length), body)),
    fc.constantFrom(encodeFrame("é€😀"), header(0), header(41), Uint8Array.of(1, 2)),
  );
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 8 }), sizes, (frames, pieces) => {
      const bytes = join(...frames);
      const expected = decodeAll([bytes], 40);
      for (const chunks of [...everyChunking(bytes), cutInto(bytes, pieces)]) {
        assert.deepEqual(decodeAll(chunks, 40), expected);
      }
    }),
  );
});

test("002-04: a frame is its length as UInt32BE and JSON in UTF-8", () => {
  assert.deepEqual(encodeFrame({ a: "é" }), join(header(10), utf8('{"a":"é"}')));
});

test("a length over the bound is a fault, and the decoder reads no more", () => {
  for (const chunks of everyChunking(join(encodeFrame(1), header(0xffff_ffff), encodeFrame(2)))) {
    const decoder = frameDecoder();
    assert.deepEqual(codes(chunks.flatMap((chunk) => decoder.push(chunk))), ["ok", "PAYLOAD_TOO_LARGE"]);
    assert.equal(decoder.closed, true);
    assert.deepEqual(decoder.push(encodeFrame(3)), []);
    assert.equal(decoder.end(), undefined);
  }
});

test("a length of 0 is a fault, and the decoder reads no more", () => {
  const decoder = frameDecoder();
  assert.deepEqual(codes(decoder.push(join(header(0), encodeFrame(1)))), ["BAD_REQUEST"]);
  assert.equal(decoder.closed, true);
});

test("a frame that is no JSON or no UTF-8 is a fault, and the next one is read", () => {
  const bytes = join(header(1), utf8("{"), header(3), Uint8Array.of(0x22, 0xff, 0x22), encodeFrame(1));
  for (const chunks of everyChunking(bytes)) {
    assert.deepEqual(codes(decodeAll(chunks)), ["BAD_REQUEST", "BAD_REQUEST", "ok"]);
  }
});

test("the bound can be raised while the decoder lives", () => {
  const decoder = frameDecoder();
  const large = encodeFrame("x".repeat(CODEC_LIMITS.frameBytes - 2));
  assert.deepEqual(codes(decoder.push(encodeFrame("x".repeat(CODEC_LIMITS.frameBytesBeforeAuth - 2)))), ["ok"]);
  decoder.maxBytes = CODEC_LIMITS.frameBytes;
  assert.deepEqual(codes(decoder.push(large)), ["ok"]);
  assert.deepEqual(codes(frameDecoder().push(large)), ["PAYLOAD_TOO_LARGE"]);
});

test("a value over the bound is not encoded", () => {
  assert.throws(() => encodeFrame("x".repeat(CODEC_LIMITS.frameBytes)), { name: "Fault", code: "PAYLOAD_TOO_LARGE" });
});

test("a stream that ends inside a frame or a header ends with a fault", () => {
  assert.deepEqual(codes(decodeAll([encodeFrame("abc").slice(0, 6)])), ["BAD_REQUEST"]);
  assert.deepEqual(codes(decodeAll([Uint8Array.of(0, 0)])), ["BAD_REQUEST"]);
  assert.deepEqual(codes(decodeAll([header(5)])), ["BAD_REQUEST"]);
});
