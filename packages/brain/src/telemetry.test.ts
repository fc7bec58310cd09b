import assert from "node:assert/strict";
import { test } from "node:test";
import { TELEMETRY } from "@vidro/core";
import { Telemetry } from "./telemetry.ts";

interface Clocked {
  readonly telemetry: Telemetry;
  readonly pass: (ms: number) => void;
  readonly counted: () => number;
}

function clocked(): Clocked {
  let now = 1_000_000;
  let count = 0;
  const telemetry = new Telemetry({ now: () => now, counted: () => void (count += 1) });
  return { telemetry, pass: (ms) => void (now += ms), counted: () => count };
}

test("what hands tell is kept for each of them, oldest first, and counted", () => {
  const { telemetry, pass, counted } = clocked();
  for (const cpu of [0.1, 0.2, 0.3]) {
    telemetry.take("web1", { cpu }, 5);
    telemetry.take("web2", { cpu: cpu * 2 }, 6);
    pass(1000);
  }
  assert.deepEqual(
    telemetry.since("web1", 60_000).map(({ payload }) => payload["cpu"]),
    [0.1, 0.2, 0.3],
  );
  assert.deepEqual(telemetry.latest("web2"), { at: 6, payload: { cpu: 0.6 } });
  assert.equal(telemetry.since("web1", 2000).length, 2);
  assert.equal(telemetry.latest("nobody"), undefined);
  assert.equal(counted(), 6);
});

test("G7 a sample is forgotten after its time, whatever the clock of its host says", () => {
  const { telemetry, pass } = clocked();
  telemetry.take("web1", { cpu: 1 }, Number.MAX_SAFE_INTEGER);
  pass(TELEMETRY.keptMs);
  assert.equal(telemetry.since("web1", TELEMETRY.keptMs).length, 1);
  pass(1);
  assert.deepEqual([telemetry.latest("web1"), telemetry.bytes], [undefined, 0]);
});

test("G7 a hand that tells too often has its last word replaced, and too large a word is refused", () => {
  const { telemetry, pass } = clocked();
  for (let n = 0; n < 100; n += 1) telemetry.take("web1", { n }, n);
  assert.deepEqual(telemetry.since("web1", 60_000), [{ at: 99, payload: { n: 99 } }]);
  pass(TELEMETRY.everyMs);
  assert.throws(() => telemetry.take("web1", { text: "x".repeat(TELEMETRY.payloadChars) }, 1), {
    code: "PAYLOAD_TOO_LARGE",
  });
  assert.equal(telemetry.since("web1", 60_000).length, 1);
});

test("G7 all samples together stay below their bound, and the oldest go first", () => {
  const { telemetry, pass } = clocked();
  const text = "x".repeat(TELEMETRY.payloadChars - 40);
  const hands = 100;
  let taken = 0;
  for (; taken < 20_000; taken += 1) {
    telemetry.take(`web${taken % hands}`, { text, n: taken }, taken);
    if (taken % hands === hands - 1) pass(TELEMETRY.everyMs);
  }
  assert.ok(telemetry.bytes <= TELEMETRY.bytes && telemetry.bytes > TELEMETRY.bytes * 0.9);
  const kept = telemetry.since("web0", TELEMETRY.keptMs).map(({ payload }) => Number(payload["n"]));
  assert.equal(kept.at(-1), 19_900);
  assert.ok(kept.length < 200 && kept.every((n, at) => n === kept[0]! + at * hands));
});
