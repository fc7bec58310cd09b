import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { byteBuffer } from "./byte-buffer.ts";

test("what was added comes back in its order, before the last bytes, whatever the sizes", () => {
  const part = fc.uint8Array({ maxLength: 700 });
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.array(part, { maxLength: 6 }), part), { maxLength: 5 }), (rounds) => {
      const buffer = byteBuffer();
      for (const [parts, last] of rounds) {
        for (const bytes of parts) buffer.add(bytes);
        assert.equal(
          buffer.size,
          parts.reduce((sum, { length }) => sum + length, 0),
        );
        assert.deepEqual(Buffer.from(buffer.take(last)), Buffer.concat([...parts, last]));
        assert.equal(buffer.size, 0);
      }
    }),
  );
});

test("bytes are copied, so that a chunk may be used again by its owner", () => {
  const buffer = byteBuffer();
  const chunk = Uint8Array.of(1, 2, 3);
  buffer.add(chunk);
  chunk.fill(9);
  assert.deepEqual([...buffer.take(Uint8Array.of(4))], [1, 2, 3, 4]);
});

test("bytes that were all in one chunk are given without a copy", () => {
  const chunk = Uint8Array.of(1, 2, 3);
  assert.equal(byteBuffer().take(chunk), chunk);
});

test("what is discarded does not come back, at sizes around the one from which the memory is given up", () => {
  for (const size of [0, 1, 255, 256, 257, 16 * 1024 - 1, 16 * 1024, 16 * 1024 + 1, 100_000]) {
    const buffer = byteBuffer();
    buffer.add(new Uint8Array(size).fill(7));
    buffer.clear();
    assert.equal(buffer.size, 0);
    buffer.add(Uint8Array.of(1));
    assert.deepEqual([...buffer.take(Uint8Array.of(2))], [1, 2]);
  }
});

test("a million single bytes take no time that grows with their square", () => {
  const buffer = byteBuffer();
  for (let nth = 0; nth < 1_000_000; nth += 1) buffer.add(Uint8Array.of(nth & 0xff));
  const whole = buffer.take(new Uint8Array(0));
  assert.equal(whole.length, 1_000_000);
  assert.equal(whole[999_999], 999_999 & 0xff);
});
