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
