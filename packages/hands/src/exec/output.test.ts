import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { HAND_LIMITS } from "@vidro/core";
import fc from "fast-check";
import { OutputCapture, LiveOutput } from "./output.ts";

function captured(chunks: readonly Buffer[]) {
  const capture = new OutputCapture();
  for (const chunk of chunks) capture.take(chunk);
  return capture.finish();
}

describe("Capture", () => {
  it("keeps a small output whole, however it is cut into chunks", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.array(fc.nat(50)), (text, cuts) => {
        const bytes = Buffer.from(text);
        const chunks: Buffer[] = [];
        let at = 0;
        for (const length of [...cuts, bytes.length]) {
          chunks.push(bytes.subarray(at, at + length));
          at += length;
        }
        const sha256 = createHash("sha256").update(bytes).digest("hex");
        assert.deepEqual(captured(chunks), { text, bytes: bytes.length, truncated: false, sha256 });
      }),
    );
  });

  it("keeps head and tail of a large output and says how much is left out", () => {
    const middle = 1000;
    const bytes = Buffer.concat([
      Buffer.alloc(HAND_LIMITS.headBytes, "h"),
      Buffer.alloc(middle, "m"),
      Buffer.alloc(HAND_LIMITS.tailBytes, "t"),
    ]);
    for (const size of [1, 777, 65_536, bytes.length]) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
        bytes.subarray(n * size, (n + 1) * size),
      );
      const output = captured(chunks);
      assert.equal(
        output.text,
        `${"h".repeat(HAND_LIMITS.headBytes)}\n[… 1000 bytes left out …]\n${"t".repeat(HAND_LIMITS.tailBytes)}`,
      );
      assert.equal(output.bytes, bytes.length);
      assert.equal(output.truncated, true);
      assert.equal(output.sha256, createHash("sha256").update(bytes).digest("hex"));
    }
  });

  it("loses nothing at the very bound", () => {
    const output = captured([Buffer.alloc(HAND_LIMITS.headBytes, "h"), Buffer.alloc(HAND_LIMITS.tailBytes, "t")]);
    assert.equal(output.truncated, false);
    assert.equal(output.text.length, HAND_LIMITS.headBytes + HAND_LIMITS.tailBytes);
  });

  it("cuts between characters, never within one", () => {
    const text = `x${"€".repeat(HAND_LIMITS.headBytes)}`;
    const output = captured([Buffer.from(text)]);
    assert.equal(output.truncated, true);
    assert.ok(!output.text.includes("\uFFFD"));
  });

  it("replaces what is no text", () => {
    assert.equal(captured([Buffer.from([0x61, 0xff, 0x00, 0x62])]).text, "a\uFFFD\0b");
  });
});

describe("Live", () => {
  function shown() {
    const chunks: string[] = [];
    return { chunks, live: new LiveOutput((stream, chunk) => chunks.push(`${stream}:${chunk}`)) };
  }

  it("joins a character that was split over two chunks, each stream for itself", () => {
    const { chunks, live } = shown();
    const euro = Buffer.from("€");
    live.take("stdout", euro.subarray(0, 1));
    live.take("stderr", Buffer.from("e"));
    live.take("stdout", euro.subarray(1));
    live.finish();
    assert.deepEqual(chunks, ["stderr:e", "stdout:€"]);
  });

  it("shows no more than its bound in a second and says what it dropped", () => {
    const { chunks, live } = shown();
    const size = 64 * 1024;
    const rounds = 64;
    for (let round = 0; round < rounds; round += 1) live.take("stdout", Buffer.alloc(size, "x"));
    live.finish();
    const bytes = chunks.join("").split("x").length - 1;
    // The clock may turn to the next second once while this runs.
    assert.ok(bytes <= 2 * HAND_LIMITS.liveBytesPerSecond, `${bytes} bytes`);
    assert.match(chunks.at(-1) ?? "", /\[… \d+ bytes not shown live …\]/u);
  });
});
