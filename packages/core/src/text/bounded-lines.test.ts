import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { boundedLines } from "./bounded-lines.ts";
import { OUTPUT_LIMITS } from "../limits.ts";

const LINE = `${"w".repeat(999)}\n`;

test(
  "lines that are not read are dropped beyond the bound, and how many is said once there is room",
  { timeout: 30_000 },
  async () => {
    const sink = new PassThrough();
    const write = boundedLines(sink, (count) => `${count} dropped\n`);
    for (let line = 0; line < 5000; line += 1) write(LINE);
    assert.ok(sink.writableLength + sink.readableLength < OUTPUT_LIMITS.unreadBytes + 100_000);
    let text = "";
    sink.on("data", (chunk: Buffer) => (text += chunk.toString()));
    while (!text.includes("dropped")) await new Promise((resolve) => setImmediate(resolve));
    write("after\n");
    while (!text.includes("after")) await new Promise((resolve) => setImmediate(resolve));
    const kept = text.split(LINE).length - 1;
    assert.equal(Number(/(\d+) dropped\nafter\n$/.exec(text)?.[1]) + kept, 5000);
  },
);

test("lines that are read are all written", { timeout: 30_000 }, async () => {
  const sink = new PassThrough();
  let bytes = 0;
  sink.on("data", (chunk: Buffer) => (bytes += chunk.length));
  const write = boundedLines(sink, () => assert.fail("nothing is dropped"));
  for (let line = 0; line < 5000; line += 1) {
    write(LINE);
    if (line % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  while (bytes < 5000 * LINE.length) await new Promise((resolve) => setImmediate(resolve));
});
