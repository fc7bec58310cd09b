import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event } from "../event.ts";
import type { JsonObject } from "../json.ts";
import { aonEntry, aonLive } from "./aon.ts";

const RUN = "run_1";

const encoded = (event: Event): JsonObject => aonEntry(RUN, { seq: 7, at: 1234, event });

test("an event has its place in the journal and everything that the event says", () => {
  const line = encoded({ type: "plan.made", steps: ["look", "tell"] });
  assert.deepEqual(line, {
    type: "status",
    event: "plan.made",
    seq: 7,
    timestamp: 1234,
    run_id: RUN,
    message: "Plan: look; tell",
    body: { steps: ["look", "tell"] },
  });
});

test("an analysed intent is an intent_analysis", () => {
  const line = encoded({ type: "intent.analyzed", originalIntent: "a", detectedIssue: "b", decision: "c" });
  assert.equal(line["type"], "intent_analysis");
  assert.deepEqual([line["original_intent"], line["detected_issue"], line["decision"]], ["a", "b", "c"]);
});

test("what went wrong and goes on is a healing with its severity", () => {
  const fault = { code: "MODEL_CUT", message: "it broke off" } as const;
  const failed = encoded({ type: "model.failed", attempt: 2, fault });
  assert.deepEqual([failed["type"], failed["severity"], failed["description"]], ["healing", "high", "it broke off"]);
  assert.deepEqual(failed["metadata"], { code: "MODEL_CUT", attempt: 2 });
  const healed = encoded({
    type: "heal.tried",
    healing: "retry_with_backoff",
    description: "Trying again in 5 ms.",
    severity: "medium",
    attempt: 1,
    delayMs: 5,
    metadata: { code: "MODEL_CUT" },
  });
  assert.deepEqual([healed["type"], healed["action"], healed["severity"]], ["healing", "retry_with_backoff", "medium"]);
  assert.deepEqual(healed["metadata"], { code: "MODEL_CUT", attempt: 1, delay_ms: 5 });
  const unknown = encoded({
    type: "action.unknown",
    action: "act_1",
    fault: { code: "OUTCOME_UNKNOWN", message: "gone" },
  });
  assert.deepEqual([unknown["type"], unknown["severity"]], ["healing", "critical"]);
});

test("the three ends are result and error, with the run as the trace", () => {
  const finished = encoded({ type: "run.finished", result: { free: 3 } });
  assert.deepEqual([finished["type"], finished["data"]], ["result", { free: 3 }]);
  const failed = encoded({ type: "run.failed", fault: { code: "STEP_LIMIT", message: "too far" } });
  assert.deepEqual(
    [failed["type"], failed["code"], failed["message"], failed["trace_id"]],
    ["error", "STEP_LIMIT", "too far", RUN],
  );
  const aborted = encoded({ type: "run.aborted", reason: "Ctrl-C" });
  assert.deepEqual(
    [aborted["type"], aborted["code"], aborted["message"], aborted["trace_id"]],
    ["error", "ABORTED", "Ctrl-C", RUN],
  );
});

test("a message is one line without control sequences, and the body keeps the words as they were", () => {
  const note = "two\nlines \u001b[2J and more";
  const line = encoded({ type: "note.observed", note });
  assert.equal(line["message"], "two lines and more");
  assert.deepEqual(line["body"], { note });
});

test("what is live has no seq", () => {
  const chunk = { type: "action.output", action: "act_1", stream: "stdout", chunk: "hi\n" } as const;
  assert.deepEqual(aonLive(RUN, chunk, 5), {
    type: "status",
    event: "action.output",
    timestamp: 5,
    run_id: RUN,
    message: "hi",
    body: { action: "act_1", stream: "stdout", chunk: "hi\n" },
  });
});
