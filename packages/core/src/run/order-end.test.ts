import assert from "node:assert/strict";
import { test } from "node:test";
import { HAND_LIMITS } from "../limits.ts";
import type { FaultCode } from "../fault.ts";
import type { Order } from "../ports.ts";
import type { ActionEnd, ToolSpec } from "../tool.ts";
import { readActionLine } from "./action-line.ts";
import { deadlineMs, isIdempotent, isRecall, isSettled, outcomeOf, recallOf, timeoutOf } from "./order-end.ts";
import type { OrderFacts } from "./order-end.ts";

const tool = (name: string, idempotent: boolean): ToolSpec => {
  return { name, description: "", parameters: {}, idempotent, effect: idempotent ? "read" : "write" };
};
const tools = [tool("read", true), tool("write", false)];
const facts = (name: string, hasEarlierOrder: boolean): OrderFacts => {
  return { action: { id: "a", tool: name, input: {}, callId: "c" }, tools, hasEarlierOrder };
};
const failed = (code: FaultCode, more: object = {}): ActionEnd => ({
  type: "failed",
  fault: { code, message: "No." },
  ...more,
});
const VALUE: ActionEnd = { type: "finished", outcome: { kind: "value", text: "t" } };

test("what finished has finished, whatever was ordered before", () => {
  for (const before of [true, false]) assert.equal(outcomeOf(VALUE, facts("write", before)).type, "action.finished");
});

test("the failure of the only order is the failure of the action, but for an internal error", () => {
  assert.equal(outcomeOf(failed("TOOL_FAILED"), facts("write", false)).type, "action.failed");
  assert.equal(outcomeOf(failed("HAND_UNAVAILABLE"), facts("write", false)).type, "action.failed");
  const unknown = outcomeOf(failed("INTERNAL_ERROR"), facts("write", false));
  assert.ok(unknown.type === "action.unknown");
  assert.deepEqual(unknown.fault, {
    code: "OUTCOME_UNKNOWN",
    message: "No. It was ordered and may have been carried out.",
  });
});

test("after an earlier order a failure is doubtful, unless it is settled or a tool that only reads ran now", () => {
  assert.equal(outcomeOf(failed("HAND_UNAVAILABLE"), facts("write", true)).type, "action.unknown");
  assert.equal(outcomeOf(failed("TOOL_FAILED"), facts("write", true)).type, "action.unknown");
  assert.equal(outcomeOf(failed("HAND_UNAVAILABLE"), facts("read", true)).type, "action.unknown");
  assert.equal(outcomeOf(failed("TOOL_FAILED"), facts("read", true)).type, "action.failed");
  assert.equal(outcomeOf(failed("TOOL_FAILED"), facts("unknown-tool", true)).type, "action.unknown");
  assert.equal(outcomeOf(failed("INTERNAL_ERROR", { settled: true }), facts("write", true)).type, "action.failed");
});

test("an unknown end stays unknown, with what it had printed", () => {
  const ended: ActionEnd = { type: "unknown", fault: { code: "OUTCOME_UNKNOWN", message: "?" }, partial: "so far" };
  const outcome = outcomeOf(ended, facts("read", false));
  assert.ok(outcome.type === "action.unknown");
  assert.equal(outcome.partial, "so far");
});

test("a receipt goes with the outcome that it was signed for, and with no other", () => {
  const receipt = {
    run: "r",
    action: "a",
    plan: "",
    outcome: "",
    words: "",
    at: 1,
    ledger: "",
    key: "",
    signature: "",
  };
  assert.equal(outcomeOf({ ...VALUE, receipt }, facts("write", true)).receipt, receipt);
  assert.equal(outcomeOf(failed("TOOL_FAILED", { receipt }), facts("write", false)).receipt, receipt);
  assert.equal(outcomeOf(failed("TOOL_FAILED", { receipt }), facts("write", true)).receipt, undefined);
});

test("only an end of the action itself is settled", () => {
  assert.ok(isSettled(VALUE));
  assert.ok(isSettled(failed("TOOL_FAILED", { settled: true })));
  assert.ok(!isSettled(failed("TOOL_FAILED")));
  assert.ok(!isSettled({ type: "unknown", fault: { code: "OUTCOME_UNKNOWN", message: "" } }));
  assert.ok(
    isIdempotent({ tool: "read" }, tools) &&
      !isIdempotent({ tool: "write" }, tools) &&
      !isIdempotent({ tool: "x" }, tools),
  );
});

test("an order is waited for as long as its own timeout and some more, within bounds", () => {
  assert.equal(timeoutOf({ input: {} }), HAND_LIMITS.commandMs);
  assert.equal(deadlineMs({ input: { timeout_ms: 5 } }, 100), 105);
  assert.equal(deadlineMs({ input: { timeout_ms: -5 } }, 100), 100);
  assert.equal(deadlineMs({ input: { timeout_ms: 1e300 } }, 100), HAND_LIMITS.commandCapMs + 100);
  assert.equal(deadlineMs({ input: { timeout_ms: "5" } }, 100), HAND_LIMITS.commandMs + 100);
});

test("a recall is the same order without time to live", () => {
  const order: Order = { action: facts("read", false).action, run: "r", epoch: 1, ttlMs: 5 };
  assert.deepEqual(recallOf(order), { ...order, ttlMs: 0 });
  assert.ok(isRecall(recallOf(order)) && !isRecall(order));
});

test("a line of the action language is an object with a known word; all else is prose", () => {
  assert.equal(readActionLine(' {"type":"shell","command":"ls"} ')?.kind, "action");
  assert.deepEqual(readActionLine('{"action":"shell","command":"ls"}')?.input, { command: "ls" });
  assert.deepEqual(readActionLine('{"type":"action","action":"done","result":"r"}')?.kind, "done");
  for (const line of [
    "",
    "ls",
    "{",
    "{}",
    "[]",
    '{"type":"rm"}',
    '{"type":"toString"}',
    '{"type":5}',
    '"done"',
    '{"type":"done"} x',
    '{"type":"done"',
  ])
    assert.equal(readActionLine(line), undefined, line);
});

test("the use of a tool has a name of bounded length and an object as its input", () => {
  assert.deepEqual(readActionLine('{"type":"use_tool","name":"find_files","args":{"pattern":"*"}}')?.input, {
    pattern: "*",
  });
  for (const args of ["5", '"x"', "[1]", "null"])
    assert.deepEqual(readActionLine(`{"type":"use_tool","name":"t","args":${args}}`)?.input, {}, args);
  const long = readActionLine(`{"type":"use_tool","name":"${"n".repeat(100_000)}"}`);
  assert.ok((long?.name.length ?? 1e9) < 100_000);
  assert.equal(readActionLine('{"type":"use_tool","name":5}')?.name, "5");
});

test("words of the language that change nothing are asides, questions and proposals", () => {
  const kinds = ["plan", "observe", "commit_kb", "ask", "tool_spec", "done"].map(
    (type) => readActionLine(JSON.stringify({ type }))?.kind,
  );
  assert.deepEqual(kinds, ["aside", "aside", "aside", "ask", "propose", "done"]);
});
