import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { JsonObject } from "../json.ts";
import { HAND_LIMITS } from "../limits.ts";
import type { Order } from "../ports.ts";
import type { ActionEnd, Output } from "../tool.ts";
import {
  endOfToolResult,
  fits,
  orderOfMessage,
  runToolMessage,
  toolOfWireName,
  toolResultMessage,
  wireName,
} from "./executor-ws.ts";

const PLACE = { generation: "run_1:1", sessionEpoch: 3 };
const END = { tool_id: "act_1", generation_id: "run_1:1", duration_ms: 5 };
const order = (tool: string, input: JsonObject): Order => ({
  action: { id: "act_1", tool, input, callId: "call" },
  run: "run_1",
  epoch: 2,
  ttlMs: 1000,
});
const decoded = (given: Order): Order => orderOfMessage(runToolMessage(given, PLACE).payload);
const output = (text: string): Output => ({ text, bytes: text.length, truncated: false, sha256: "ab" });

test("each tool of the flows has one name here, and it is the way back", () => {
  const names = "GetWorkingDirectory ReadFolder ReadFile WriteFile Edit FindFiles SearchText Shell".split(" ");
  for (const name of names) assert.equal(wireName(toolOfWireName(name) ?? ""), name);
  assert.equal(toolOfWireName("toString"), undefined);
  assert.equal(wireName("count"), "count");
});

test("004-17 an order has the fields of the flows, and the time of a shell stands beside its parameters", () => {
  const { type, payload } = runToolMessage(order("shell", { command: "ls", timeout_ms: 9 }), PLACE);
  assert.equal(type, "run_tool");
  assert.deepEqual(payload, {
    tool_name: "Shell",
    parameters: { command: "ls", dir_path: "." },
    tool_id: "act_1",
    generation_id: "run_1:1",
    timeout_ms: 9,
    ttl_ms: 1000,
    session_epoch: 3,
    run_id: "run_1",
    run_epoch: 2,
  });
});

test("an order comes out as it went in, whatever its input", () => {
  const input = fc.dictionary(fc.string(), fc.jsonValue()) as fc.Arbitrary<JsonObject>;
  fc.assert(
    fc.property(fc.constantFrom("read_file", "count", "command"), input, (tool, given) => {
      const { action } = decoded(order(tool, given));
      assert.deepEqual(action, { id: "act_1", tool, input: given, callId: "act_1" });
    }),
  );
  const approved = { ...order("count", {}), approved: "hash", traceparent: "00-1-2-01" };
  assert.deepEqual({ ...decoded(approved), action: 0 }, { ...approved, action: 0 });
});

test("a shell that is decoded twice is the same shell, so that its ledger knows it", () => {
  const once = decoded(order("shell", { command: "ls" }));
  assert.deepEqual(once.action.input, { command: "ls", dir_path: ".", timeout_ms: HAND_LIMITS.commandMs });
  assert.deepEqual(decoded(once).action.input, once.action.input);
});

const process = (exitCode: number, text = "out"): ActionEnd => ({
  type: "finished",
  outcome: {
    kind: "process",
    exitCode,
    signal: null,
    timedOut: false,
    durationMs: 1,
    stdout: output(text),
    stderr: output("err"),
  },
});

test("004-18 a peer that knows only the flows reads status, output and exit code; one of ours reads the end itself", () => {
  const ends: readonly ActionEnd[] = [
    process(0),
    process(2),
    { type: "finished", outcome: { kind: "value", text: "a", data: { path: "a" } } },
    { type: "failed", fault: { code: "TOOL_FAILED", message: "no such file" } },
    { type: "unknown", fault: { code: "OUTCOME_UNKNOWN", message: "?" }, partial: "half" },
  ];
  for (const ended of ends) assert.deepEqual(endOfToolResult(toolResultMessage(ended, END).payload), ended);
  const { ended: _, ...seen } = toolResultMessage(process(2), END).payload;
  assert.deepEqual(seen, {
    ...END,
    status: "error",
    result: "out",
    error: "It ended with 2.",
    stdout: "out",
    stderr: "err",
    exit_code: 2,
    truncated: false,
  });
});

test("004-18 004-19 the result of a stranger is read by its fields", () => {
  const read = (payload: JsonObject): ActionEnd => endOfToolResult({ tool_id: "act_1", ...payload });
  assert.deepEqual(read({ status: "success", result: "text" }), {
    type: "finished",
    outcome: { kind: "value", text: "text" },
  });
  assert.deepEqual(read({ status: "success", result: ["a"], stdout: "", stderr: "" }), {
    type: "finished",
    outcome: { kind: "value", text: '["a"]', data: ["a"] },
  });
  assert.deepEqual(read({ status: "error", error: { message: "gone" } }), {
    type: "failed",
    fault: { code: "TOOL_FAILED", message: "gone" },
  });
  const ran = read({ status: "error", stdout: "x", stderr: "y", exit_code: 3, duration_ms: 7 });
  assert.ok(ran.type === "finished" && ran.outcome.kind === "process");
  assert.deepEqual([ran.outcome.exitCode, ran.outcome.stdout.text, ran.outcome.durationMs], [3, "x", 7]);
  assert.equal(read({ status: "error", code: "OUTCOME_UNKNOWN", error: "?" }).type, "unknown");
  assert.deepEqual(read({ status: "error", code: "NO_SUCH_CODE" }), {
    type: "failed",
    fault: { code: "TOOL_FAILED", message: "The executor did not say why." },
  });
});

test("an end of any length fits its message, keeps its kind and its exit code", () => {
  const most = 4096;
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 30_000 }), fc.constantFrom("x", "\u0000", "é", "😀"), (length, letter) => {
      const text = letter.repeat(length);
      const message = toolResultMessage(process(7, text), END, most);
      const ended = endOfToolResult(message.payload);
      assert.ok(fits(message, most));
      assert.ok(ended.type === "finished" && ended.outcome.kind === "process" && ended.outcome.exitCode === 7);
    }),
  );
  const data = { type: "finished", outcome: { kind: "value", text: "short", data: "y".repeat(most) } } as const;
  const cut = endOfToolResult(toolResultMessage(data, END, most).payload);
  assert.deepEqual(cut, { type: "finished", outcome: { kind: "value", text: "short" } });
});
