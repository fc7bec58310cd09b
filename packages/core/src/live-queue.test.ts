import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { HAND_LIMITS } from "./limits.ts";
import { LiveQueue } from "./live-queue.ts";

const output = (chunk: string) => ({ type: "output", stream: "stdout", chunk }) as const;

describe("a live queue", () => {
  it("gives what was put before and while it is read, in order, then ends", async () => {
    const queue = new LiveQueue();
    queue.put(output("a"));
    const seen: string[] = [];
    for await (const { chunk } of queue) {
      seen.push(chunk);
      if (chunk === "a") setImmediate(() => queue.put(output("b")));
      if (chunk === "b") setImmediate(() => queue.end());
    }
    assert.deepEqual(seen, ["a", "b"]);
  });

  it("holds no more than its bound for a reader that does not read", async () => {
    const queue = new LiveQueue();
    for (let n = 0; n < 100; n += 1) queue.put(output("x".repeat(HAND_LIMITS.liveWaitingBytes / 10)));
    queue.end();
    const chunks = await Array.fromAsync(queue);
    assert.equal(chunks.length, 10);
  });
});

describe("a live queue under way", () => {
  it("has room again as soon as its reader has taken what waited", async () => {
    const queue = new LiveQueue();
    const full = output("x".repeat(HAND_LIMITS.liveWaitingBytes));
    queue.put(full);
    queue.put(output("dropped"));
    const seen: number[] = [];
    for await (const { chunk } of queue) {
      seen.push(chunk.length);
      if (seen.length < 3) queue.put(full);
      else queue.end();
    }
    assert.deepEqual(seen, [full.chunk.length, full.chunk.length, full.chunk.length]);
  });

  it("takes exactly its bound and nothing beyond it", async () => {
    const queue = new LiveQueue();
    queue.put(output("x".repeat(HAND_LIMITS.liveWaitingBytes - 1)));
    queue.put(output("ab"));
    queue.put(output("c"));
    queue.put(output("d"));
    queue.put(output(""));
    queue.end();
    const chunks = (await Array.fromAsync(queue)).map(({ chunk }) => chunk);
    assert.deepEqual(chunks.slice(1), ["c", ""]);
  });

  it("takes nothing after its end, ends for a reader that waits, and for one that leaves early", async () => {
    const queue = new LiveQueue();
    const reading = Array.fromAsync(queue);
    queue.end();
    queue.put(output("late"));
    queue.end();
    assert.deepEqual(await reading, []);
    const left = new LiveQueue();
    left.put(output("a"));
    left.put(output("b"));
    for await (const { chunk } of left) if (chunk === "a") break;
    left.put(output("c"));
    left.end();
    assert.deepEqual(
      (await Array.fromAsync(left)).map(({ chunk }) => chunk),
      ["c"],
    );
  });
});
