import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { HandEvent, Order } from "@vidro/core";
import { FaultProxy } from "../support/fault-proxy.ts";
import type { Direction } from "../support/fault-proxy.ts";
import { orderOf, SignedBrain, signedHost } from "../support/signed-http-harness.ts";
import { temporaryFolder } from "../support/local-runs.ts";

/* Signed HTTP over a wire that breaks, wherever it breaks. */

const STEP_BYTES = 43;

/** Orders as the engine does: again under the same id while the hand is away. */
async function insisted(brain: SignedBrain, order: Order): Promise<HandEvent | undefined> {
  const remote = await brain.hands.at("h1");
  for (;;) {
    let last: HandEvent | undefined;
    for await (const event of remote.perform(order, new AbortController().signal)) last = event;
    const isAway = last?.type === "failed" && last.fault.code === "HAND_UNAVAILABLE";
    if (!isAway) return last;
    await new Promise(setImmediate);
  }
}

test("F9, F16, F17, 000-51: a connection that is reset after any number of bytes, either way, costs no effect and makes none twice", async (t) => {
  const brain = await SignedBrain.open(t, temporaryFolder(t));
  const { keyid, root } = await brain.enrol("h1");
  const host = await signedHost(t, keyid, root);
  const proxy = await new FaultProxy({ port: Number(new URL(brain.url).port) }).open();
  t.after(() => proxy.close());
  const { ended } = await host.join(`http://127.0.0.1:${proxy.port}`);
  const ordered: string[] = [];
  for (const direction of ["up", "down"] satisfies Direction[]) {
    proxy.cutAfter(direction, Number.POSITIVE_INFINITY);
    await insisted(brain, orderOf("true"));
    const whole = proxy.passed(direction);
    assert.ok(whole > STEP_BYTES);
    for (let bytes = 0; bytes < whole; bytes += STEP_BYTES) {
      const mark = `${direction}-${bytes}`;
      ordered.push(mark);
      proxy.cutAfter(direction, bytes);
      const outcome = await insisted(brain, orderOf("sh", ["-c", `echo ${mark} >> marks`]));
      assert.equal(outcome?.type, "finished", mark);
    }
  }
  const marks = readFileSync(join(host.workspace, "marks"), "utf8").trimEnd().split("\n");
  assert.deepEqual(marks, ordered);
  assert.equal(await Promise.race([ended, Promise.resolve("up")]), "up");
});
