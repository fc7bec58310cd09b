import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { PROCESS_LIMITS } from "@vidro/core";
import { scratch } from "../scratch.fixture.ts";
import { OutputLog, outputSpan, readOutputFrom } from "./output-log.ts";

const { outputBytes, segmentBytes } = PROCESS_LIMITS;

/** Bytes that differ by their place. */
function bytesAt(place: number, length: number): Buffer {
  return Buffer.from(Uint8Array.from({ length }, (_, index) => (place + index) % 251));
}

describe("the output of a process on record", () => {
  it("is nothing for a process that said nothing, and for a folder that is gone", (t) => {
    const folder = scratch(t);
    const log = new OutputLog(folder);
    log.take(Buffer.alloc(0));
    log.close();
    assert.deepEqual(readdirSync(folder), []);
    assert.deepEqual(outputSpan(folder), { from: 0, end: 0 });
    assert.deepEqual(readOutputFrom(join(folder, "gone"), 0, 10), { bytes: Buffer.alloc(0), from: 0, to: 0 });
  });

  it("is read from any place on, as much as is asked for", (t) => {
    const folder = scratch(t);
    const log = new OutputLog(folder);
    for (const part of ["one ", "two ", "three"]) log.take(Buffer.from(part));
    const read = (place: number, limit: number): readonly [string, number, number] => {
      const { bytes, from, to } = readOutputFrom(folder, place, limit);
      return [bytes.toString(), from, to];
    };
    assert.deepEqual(read(0, 100), ["one two three", 0, 13]);
    assert.deepEqual(read(4, 3), ["two", 4, 7]);
    assert.deepEqual(read(8, 100), ["three", 8, 13]);
    assert.deepEqual(read(13, 100), ["", 13, 13], "at the end nothing is there yet");
    assert.deepEqual(read(0, 0), ["", 0, 0]);
    log.take(Buffer.from("!"));
    assert.deepEqual(read(13, 100), ["!", 13, 14]);
    log.close();
  });

  it("is readable by its owner alone", (t) => {
    const folder = scratch(t);
    const log = new OutputLog(folder);
    log.take(Buffer.from("password: hunter2"));
    log.close();
    for (const name of readdirSync(folder)) assert.equal(statSync(join(folder, name)).mode & 0o077, 0);
  });

  it("goes over from file to file at the bound, also within one chunk, and a reading goes across", (t) => {
    const folder = scratch(t);
    const log = new OutputLog(folder);
    log.take(bytesAt(0, segmentBytes - 1));
    assert.equal(readdirSync(folder).length, 1);
    log.take(bytesAt(segmentBytes - 1, 3));
    assert.equal(readdirSync(folder).length, 2);
    assert.deepEqual(outputSpan(folder), { from: 0, end: segmentBytes + 2 });
    const { bytes, from, to } = readOutputFrom(folder, segmentBytes - 2, 4);
    assert.deepEqual(
      [bytes.toString("hex"), from, to],
      [bytesAt(segmentBytes - 2, 4).toString("hex"), segmentBytes - 2, segmentBytes + 2],
    );
    log.close();
  });

  it("keeps the newest part of a flood in bounds, and a place before it begins at the first that is kept", (t) => {
    const folder = scratch(t);
    const log = new OutputLog(folder);
    const total = outputBytes + segmentBytes + 5;
    for (let at = 0; at < total; at += segmentBytes) log.take(bytesAt(at, Math.min(segmentBytes, total - at)));
    log.close();
    const { from, end } = outputSpan(folder);
    assert.equal(end, total);
    assert.ok(end - from <= outputBytes && end - from > outputBytes - segmentBytes, `${end - from} bytes are kept`);
    const piece = readOutputFrom(folder, 0, 16);
    assert.equal(piece.from, from);
    assert.deepEqual(piece.bytes, bytesAt(from, 16));
  });

  it("ends quietly where it cannot be written any more, and what was written stays", (t) => {
    const folder = scratch(t);
    const log = new OutputLog(folder);
    log.take(Buffer.alloc(segmentBytes, "x"));
    // The next file cannot be made: a folder has its name.
    mkdirSync(join(folder, `out-${String(segmentBytes).padStart(16, "0")}`));
    assert.doesNotThrow(() => log.take(Buffer.from("lost")));
    rmSync(join(folder, `out-${String(segmentBytes).padStart(16, "0")}`), { recursive: true });
    log.take(Buffer.from("later"));
    assert.deepEqual(outputSpan(folder), { from: 0, end: segmentBytes }, "a gap would give places a wrong meaning");
    assert.doesNotThrow(() => log.close());
  });

  it("takes nothing after it was closed", (t) => {
    const folder = scratch(t);
    const log = new OutputLog(folder);
    log.take(Buffer.from("a"));
    log.close();
    log.close();
    log.take(Buffer.from("b"));
    assert.equal(readOutputFrom(folder, 0, 10).bytes.toString(), "a");
  });

  it("stops a reading before a file that was removed meanwhile, so that no bytes are joined that were apart", (t) => {
    const folder = scratch(t);
    for (const [from, text] of [
      [0, "abc"],
      [3, "def"],
      [6, "ghi"],
    ] as const)
      writeFileSync(join(folder, `out-${String(from).padStart(16, "0")}`), text);
    assert.equal(readOutputFrom(folder, 1, 100).bytes.toString(), "bcdefghi");
    rmSync(join(folder, `out-${"3".padStart(16, "0")}`));
    const piece = readOutputFrom(folder, 1, 100);
    assert.deepEqual([piece.bytes.toString(), piece.to], ["bc", 3]);
  });

  it("gives back what was taken, however it was cut and wherever the reading begins", (t) => {
    const folder = scratch(t);
    let number = 0;
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 20 }),
        fc.nat(400),
        fc.nat(400),
        (chunks, place, limit) => {
          const own = join(folder, String((number += 1)));
          mkdirSync(own);
          const log = new OutputLog(own);
          for (const chunk of chunks) log.take(Buffer.from(chunk));
          log.close();
          const all = Buffer.concat(chunks);
          const start = Math.min(place, all.length);
          assert.equal(outputSpan(own).end, all.length);
          assert.deepEqual(readOutputFrom(own, start, limit).bytes, all.subarray(start, start + limit));
        },
      ),
      { numRuns: 60 },
    );
  });

  it("is on record as soon as it was taken: another process reads it without a close", (t) => {
    const folder = scratch(t);
    const log = new OutputLog(folder);
    t.after(() => log.close());
    log.take(Buffer.from("now"));
    const [name = ""] = readdirSync(folder);
    assert.equal(readFileSync(join(folder, name), "utf8"), "now");
  });
});
