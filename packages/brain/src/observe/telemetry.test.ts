import assert from "node:assert/strict";
import { test } from "node:test";
import { TELEMETRY_LIMITS } from "@vidro/core";
import { TelemetryStore } from "./telemetry.ts";
import type { SamplePush } from "./telemetry.ts";

interface Clocked {
  readonly telemetry: TelemetryStore;
  readonly pass: (ms: number) => void;
  readonly counted: () => number;
  /** How many samples were dropped, by the reason. */
  readonly dropped: () => { readonly [why: string]: number };
}

function clocked(): Clocked {
  let now = 1_000_000;
  let count = 0;
  const drops: { [why: string]: number } = {};
  const telemetry = new TelemetryStore({
    now: () => now,
    counted: () => void (count += 1),
    dropped: (why) => void (drops[why] = (drops[why] ?? 0) + 1),
  });
  return { telemetry, pass: (ms) => void (now += ms), counted: () => count, dropped: () => drops };
}

function push(n: number): SamplePush {
  return { id: String(n), payload: { n }, at: n };
}

function numbers(telemetry: TelemetryStore, hand: string): readonly number[] {
  return telemetry.since(hand, TELEMETRY_LIMITS.keptMs).map(({ payload }) => Number(payload["n"]));
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, at) => from + at);
}

test("what hands tell is kept for each of them, oldest first, and counted", () => {
  const { telemetry, pass, counted } = clocked();
  for (const cpu of [0.1, 0.2, 0.3]) {
    telemetry.take("web1", { id: `a${cpu}`, payload: { cpu }, at: 5 });
    telemetry.take("web2", { id: `a${cpu}`, payload: { cpu: cpu * 2 }, at: 6 });
    pass(1000);
  }
  assert.deepEqual(
    telemetry.since("web1", 60_000).map(({ payload }) => payload["cpu"]),
    [0.1, 0.2, 0.3],
  );
  assert.deepEqual(telemetry.latest("web2"), { at: 6, payload: { cpu: 0.6 } });
  assert.equal(telemetry.since("web1", 2000).length, 2);
  assert.equal(telemetry.latest("web3"), undefined);
  assert.equal(counted(), 6);
});

test("each sample that was taken is kept for its hour, however soon the next one comes", () => {
  const { telemetry, pass, dropped } = clocked();
  for (let n = 0; n < 100; n += 1) telemetry.take("web1", push(n));
  pass(TELEMETRY_LIMITS.keptMs);
  assert.deepEqual(numbers(telemetry, "web1"), range(0, 100));
  pass(1);
  assert.deepEqual([telemetry.latest("web1"), telemetry.bytes, dropped()], [undefined, 0, {}]);
});

test("a sample that comes again is one sample, and one of another content under its id is refused", () => {
  const { telemetry, counted, pass } = clocked();
  for (let times = 0; times < 3; times += 1) telemetry.take("web1", push(7));
  telemetry.take("web2", { ...push(8), id: "7" });
  assert.deepEqual([numbers(telemetry, "web1"), numbers(telemetry, "web2"), counted()], [[7], [8], 2]);
  assert.throws(() => telemetry.take("web1", { ...push(8), id: "7" }), { code: "ACTION_ID_REUSED" });
  assert.deepEqual([numbers(telemetry, "web1"), counted()], [[7], 2]);
  pass(TELEMETRY_LIMITS.keptMs + 1);
  telemetry.take("web1", { ...push(9), id: "7" });
  assert.deepEqual(numbers(telemetry, "web1"), [9], "an id is free again once its sample is not kept any more");
});

test("G7 a sample is forgotten after its time, whatever the clock of its host says", () => {
  const { telemetry, pass } = clocked();
  telemetry.take("web1", { id: "1", payload: { cpu: 1 }, at: Number.MAX_SAFE_INTEGER });
  pass(TELEMETRY_LIMITS.keptMs);
  assert.equal(telemetry.since("web1", TELEMETRY_LIMITS.keptMs).length, 1);
  pass(1);
  assert.deepEqual([telemetry.latest("web1"), telemetry.bytes], [undefined, 0]);
});

test("G7 a hand that tells more than its share loses its oldest samples, which are counted, and no other hand's", () => {
  const { telemetry, dropped } = clocked();
  telemetry.take("web2", push(1));
  for (let n = 0; n < TELEMETRY_LIMITS.samples + 500; n += 1) telemetry.take("web1", push(n));
  assert.deepEqual(numbers(telemetry, "web1"), range(500, TELEMETRY_LIMITS.samples + 500));
  assert.deepEqual([numbers(telemetry, "web2"), dropped()], [[1], { hand: 500 }]);
});

test("G7 too large a sample is refused", () => {
  const { telemetry } = clocked();
  const payload = { text: "x".repeat(TELEMETRY_LIMITS.payloadChars) };
  assert.throws(() => telemetry.take("web1", { id: "1", payload, at: 1 }), { code: "PAYLOAD_TOO_LARGE" });
  assert.equal(telemetry.latest("web1"), undefined);
});

test("G7 all samples together stay below their bound, and the oldest go first and are counted", () => {
  const { telemetry, dropped } = clocked();
  const text = "x".repeat(TELEMETRY_LIMITS.payloadChars - 40);
  const hands = 100;
  let taken = 0;
  for (; taken < 20_000; taken += 1)
    telemetry.take(`web${taken % hands}`, { id: String(taken), payload: { text, n: taken }, at: taken });
  assert.ok(telemetry.bytes <= TELEMETRY_LIMITS.bytes && telemetry.bytes > TELEMETRY_LIMITS.bytes * 0.9);
  const kept = numbers(telemetry, "web0");
  assert.equal(kept.at(-1), 19_900);
  assert.ok(kept.length < 200 && kept.every((n, at) => n === kept[0]! + at * hands));
  const left = range(0, hands).reduce((sum, hand) => sum + numbers(telemetry, `web${hand}`).length, 0);
  assert.deepEqual(dropped(), { all: taken - left });
});
