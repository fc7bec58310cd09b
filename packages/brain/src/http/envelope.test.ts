import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";
import { unwrapEnvelope } from "./envelope.ts";

const GENERATE = {
  envelope: ["generate"],
  body: { type: "object", properties: { session_id: {}, prompt: {} } },
} as const;
const SESSION = {
  envelope: ["sessions", "create_session"],
  body: { type: "object", properties: { params: {}, hand: {} } },
} as const;
const FIELDS: JsonObject = { session_id: "s", prompt: "p" };

function code(work: () => unknown): unknown {
  try {
    return work();
  } catch (thrown) {
    return thrown instanceof Fault && thrown.code;
  }
}

test("000-65 000-66 fields come alone, beside a method or a type, or in params, and mean the same", () => {
  for (const brought of [
    FIELDS,
    { type: "generate", ...FIELDS },
    { method: "generate", ...FIELDS },
    { method: "generate", params: FIELDS },
    { id: 7, method: "generate", params: FIELDS, timestamp: 1_700_000_000 },
    { id: "7", type: "generate", params: FIELDS, timestamp: "2026-01-01T00:00:00Z" },
  ] satisfies JsonObject[])
    assert.deepEqual(unwrapEnvelope(GENERATE, brought), FIELDS);
});

test("000-65 params are a session's own where they hold what a session's params hold", () => {
  const own = { params: { temperature: 0.1 } };
  for (const [brought, body] of [
    [{ type: "create_session", ...own }, own],
    [
      { type: "create_session", ...own, hand: "local" },
      { ...own, hand: "local" },
    ],
    [
      { method: "sessions", params: { ...own, hand: "local" } },
      { ...own, hand: "local" },
    ],
    [{ type: "create_session", params: {} }, {}],
  ] satisfies [JsonObject, JsonObject][])
    assert.deepEqual(unwrapEnvelope(SESSION, brought), body);
});

test("000-67 a message for another route, one that says twice what it is, and one with more beside params are refused", () => {
  const refused = (brought: Json): unknown => code(() => unwrapEnvelope(GENERATE, brought));
  assert.equal(refused({ method: "abort", ...FIELDS }), "BAD_REQUEST");
  assert.equal(refused({ method: 1, ...FIELDS }), "BAD_REQUEST");
  assert.equal(refused({ method: "generate", type: "generate", ...FIELDS }), "BAD_REQUEST");
  assert.equal(refused({ method: "generate", id: {}, ...FIELDS }), "BAD_REQUEST");
  assert.equal(refused({ method: "generate", timestamp: true, ...FIELDS }), "BAD_REQUEST");
  assert.equal(refused({ method: "generate", params: FIELDS, sudo: true }), "BAD_ARGUMENTS");
});

test("what is no message is left as it is, and so is everything where a route knows no envelope", () => {
  assert.deepEqual(unwrapEnvelope(GENERATE, ["generate"]), ["generate"]);
  assert.deepEqual(unwrapEnvelope({ body: {} }, { method: "x" }), { method: "x" });
});
