import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Revocations } from "./revocations.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

test("G7 tokens are remembered only as long as a session holds their signal, and a held one is still told", async () => {
  let asked: readonly string[] = [];
  const lookedAt = Promise.withResolvers<void>();
  const revocations = new Revocations(async (tokens) => {
    asked = tokens;
    lookedAt.resolve();
    return tokens.includes("held") ? ["held"] : [];
  });
  const held = revocations.signalOf("held");
  for (let number = 0; number < 1000; number += 1) revocations.signalOf(`token ${number}`);
  assert.equal(revocations.signalOf("held"), held);
  // What was collected is told to the registry in a turn of its own.
  for (let turn = 0; turn < 20; turn += 1) {
    collect();
    await setImmediate();
  }
  revocations.look();
  await lookedAt.promise;
  assert.ok(asked.length < 100, `${asked.length} tokens are remembered`);
  await setImmediate();
  assert.equal(held.aborted, true);
  revocations.close();
});
