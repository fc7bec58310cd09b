import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { byteBuffer } from "./byte-buffer.ts";
import { lineSplitter } from "./line-splitter.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A text in pieces, cut at arbitrary places. */
const pieces = fc.array(fc.string({ unit: fc.constantFrom("a", "é", "\n", "\r", "\r\n", ""), maxLength: 6 }), {
  maxLength: 12,
});

/** Lines that the splitter gives for these chunks, with undefined for one that is too long, and what is left. */
function split(
  chunks: readonly string[],
  maxBytes: number,
  ends: "lf" | "any",
): { lines: (string | undefined)[]; rest: string } {
  const splitter = lineSplitter(maxBytes, ends);
  const lines: (string | undefined)[] = [];
  for (const chunk of chunks) {
    const bytes = encoder.encode(chunk);
    splitter.push(bytes, (line) => lines.push(line === undefined ? undefined : decoder.decode(line)));
    // The caller may reuse its chunk.
    bytes.fill(0x58);
  }
  return { lines, rest: decoder.decode(splitter.end()) };
}

/** The same by a regular expression over the whole text. */
function splitWhole(text: string, ends: "lf" | "any"): { lines: string[]; rest: string } {
  const parts = text.split(ends === "lf" ? /\n/ : /\r\n|\r|\n/);
  const rest = parts.pop() ?? "";
  return { lines: parts, rest };
}

test("however a stream is cut, its lines are those of the whole text", () => {
  fc.assert(
    fc.property(pieces, fc.constantFrom("lf", "any"), (chunks, ends) => {
      assert.deepEqual(split(chunks, 1000, ends), splitWhole(chunks.join(""), ends));
    }),
    { numRuns: 500 },
  );
});

test("a line over the bound is reported once and the next one is whole, however the stream is cut", () => {
  fc.assert(
    fc.property(pieces, fc.integer({ min: 0, max: 5 }), fc.constantFrom("lf", "any"), (chunks, maxBytes, ends) => {
      const { lines, rest } = splitWhole(chunks.join(""), ends);
      const isShort = (line: string): boolean => encoder.encode(line).length <= maxBytes;
      const expected: (string | undefined)[] = lines.map((line) => (isShort(line) ? line : undefined));
      // The last line is reported as soon as it is too long, and leaves nothing behind.
      if (!isShort(rest)) expected.push(undefined);
      assert.deepEqual(split(chunks, maxBytes, ends), { lines: expected, rest: isShort(rest) ? rest : "" });
    }),
    { numRuns: 500 },
  );
});

test("a CRLF that is cut between two chunks ends one line, and a lone CR at the end of a chunk is known at once", () => {
  assert.deepEqual(split(["a\r", "\nb\r", "c\r", "\r", "\n"], 100, "any").lines, ["a", "b", "c", ""]);
  const seen: number[] = [];
  lineSplitter(100, "any").push(encoder.encode("a\r"), () => seen.push(1));
  assert.deepEqual(seen, [1]);
});

test("a line of many small chunks takes time that grows with its length alone", () => {
  const splitter = lineSplitter(10_000_000, "lf");
  const byte = encoder.encode("x");
  let length = 0;
  const take = (line: Uint8Array | undefined): void => void (length = line?.length ?? 0);
  const before = performance.now();
  for (let count = 0; count < 500_000; count++) splitter.push(byte, take);
  splitter.push(encoder.encode("\n"), take);
  assert.equal(length, 500_000);
  assert.ok(performance.now() - before < 5000);
});

test("an endless line holds no memory beyond the bound", () => {
  const splitter = lineSplitter(1000, "lf");
  let reports = 0;
  const chunk = new Uint8Array(700).fill(0x61);
  for (let count = 0; count < 10_000; count++) splitter.push(chunk, () => (reports += 1));
  assert.equal(reports, 1);
  assert.equal(splitter.end().length, 0);
});

test("a buffer gives what was added, in order, and is empty afterwards", () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 600 }), { maxLength: 8 }),
      fc.uint8Array({ maxLength: 10 }),
      (parts, last) => {
        const buffer = byteBuffer();
        for (const part of parts) {
          const copy = Uint8Array.from(part);
          buffer.add(copy);
          copy.fill(0);
        }
        assert.equal(
          buffer.size,
          parts.reduce((sum, { length }) => sum + length, 0),
        );
        assert.deepEqual(Buffer.from(buffer.take(last)), Buffer.concat([...parts, last]));
        assert.equal(buffer.size, 0);
      },
    ),
  );
});

test("clearing a buffer discards what was held, also after one long unit", () => {
  const buffer = byteBuffer();
  buffer.add(new Uint8Array(100_000).fill(1));
  buffer.clear();
  assert.equal(buffer.size, 0);
  buffer.add(Uint8Array.of(2));
  assert.deepEqual([...buffer.take(Uint8Array.of(3))], [2, 3]);
});
