import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { encoder } from "./encode.ts";
import type { ProgressEvent } from "./event.ts";
import { BOX_LIMITS } from "./limits.ts";
import { sanitiser } from "./sanitise.ts";

const encode = (secrets: readonly string[] = [], showsIntent = true) =>
  encoder({ requestId: "req_1", sanitiser: sanitiser(secrets), showsIntent: () => showsIntent }).encode;

test("every event is one line that reads back as the event, with its time and its request", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), (message) => {
      const { event, line } = encode()({ type: "status", message });
      assert.equal(line.indexOf("\n"), line.length - 1);
      assert.deepEqual(JSON.parse(line), JSON.parse(JSON.stringify(event)));
      assert.deepEqual([event.type, event.requestId], ["status", "req_1"]);
      assert.ok(Math.abs(Date.now() - event.timestamp) < 60_000);
    }),
  );
});

test("a field of the event cannot take the place of its type", () => {
  const { event } = encode()({ type: "status", message: "x", requestId: "mine", timestamp: 1 } as never);
  assert.equal(event.type, "status");
});

test("an event that has no JSON form, or is too long, is a status that says what is left out", () => {
  const circular: { [name: string]: unknown } = {};
  circular["self"] = circular;
  const strange: readonly unknown[] = [
    circular,
    5n,
    {
      toJSON: () => {
        throw new Error("no");
      },
    },
    "x".repeat(BOX_LIMITS.eventChars + 1),
  ];
  for (const value of strange) {
    const { event, line } = encode()({
      type: "healing",
      severity: "low",
      action: "a",
      description: "d",
      metadata: { value },
    } as never);
    assert.ok(event.type === "status" && event.message.includes("of type healing is left out"));
    assert.ok(line.length <= BOX_LIMITS.eventChars);
  }
});

test("an error is never left out: its words are cut instead", () => {
  const long = "x".repeat(BOX_LIMITS.eventChars * 2);
  const { event, line } = encode()({
    type: "error",
    code: long,
    message: long,
    trace_id: "req_1",
    detail: { long },
  } as never);
  assert.ok(event.type === "error" && event.trace_id === "req_1");
  assert.ok(line.length <= BOX_LIMITS.eventChars);
});

test("a result is what the black box would send, however long, with secrets and all", () => {
  const data = { token: "very-secret-value", long: "x".repeat(BOX_LIMITS.eventChars * 2) };
  const { event, line } = encode(["very-secret-value"])({ type: "result", data });
  assert.deepEqual([event.type, (JSON.parse(line) as { data: unknown }).data], ["result", data]);
});

test("an analysis shows only its decision to who may not see the rest", () => {
  const analysis: ProgressEvent = {
    type: "intent_analysis",
    original_intent: "pay",
    detected_issue: "TOKEN_EXPIRED",
    decision: "refresh_token",
    metadata: { cause: "connect postgres://u:p@db/x" },
  };
  assert.deepEqual(Object.keys(encode([], false)(analysis).event).sort(), [
    "decision",
    "requestId",
    "timestamp",
    "type",
  ]);
  assert.doesNotMatch(encode([], true)(analysis).line, /postgres/);
});
