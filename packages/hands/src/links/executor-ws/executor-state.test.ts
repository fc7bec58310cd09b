import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { REGISTER_LIMITS } from "@vidro/core";
import type { ExecutorMessage, HandshakeAck } from "@vidro/core/wire/executor-ws";
import { INITIAL_EXECUTOR_STATE, reduceExecutor } from "./executor-state.ts";
import type { ExecutorEvent, ExecutorState } from "./executor-state.ts";

const ACK = { session_id: "thread_1", session_epoch: 1 } as HandshakeAck;
const resultOf = (tool: string): ExecutorMessage => ({ type: "tool_result", payload: { tool_id: tool } });
const after = (...events: readonly ExecutorEvent[]): ExecutorState =>
  events.reduce(reduceExecutor, INITIAL_EXECUTOR_STATE);

test("004-20 CONNECTION_ERROR takes the connection down, keeps why, and counts", () => {
  const state = after(
    { type: "HANDSHAKE_ACKED", ack: ACK },
    { type: "CONNECTION_ERROR", error: "reset" },
    { type: "CONNECTION_ERROR", error: "refused" },
  );
  assert.deepEqual([state.connection, state.error, state.failures], ["down", "refused", 2]);
  assert.equal(state.ack, ACK, "the session is what it comes back to");
});

test("004-22 CONNECTION_RESTORED takes it up again, with nothing of the cut left", () => {
  const state = after({ type: "CONNECTION_ERROR", error: "reset" }, { type: "CONNECTION_RESTORED" });
  assert.deepEqual([state.connection, state.error, state.failures], ["up", undefined, 0]);
});

test("004-25 an end is kept until it is acknowledged, whatever happens to the connection", () => {
  const result = resultOf("act_1");
  const ended = after(
    { type: "TOOL_BEGUN", tool: "act_1" },
    { type: "CONNECTION_ERROR", error: "reset" },
    { type: "TOOL_ENDED", tool: "act_1", result },
    { type: "CONNECTION_RESTORED" },
  );
  assert.deepEqual([...ended.results], [["act_1", result]]);
  assert.deepEqual(ended.running, []);
  assert.equal(reduceExecutor(ended, { type: "RESULT_ACKNOWLEDGED", tool: "act_1" }).results.size, 0);
});

test("what is told counts up, and the end of the task is kept", () => {
  const state = after(
    { type: "RUN_TOLD", seq: 5 },
    { type: "RUN_TOLD", seq: 3 },
    { type: "TASK_COMPLETED", final: "completed" },
  );
  assert.deepEqual([state.lastSeq, state.final], [5, "completed"]);
});

test("no order of events makes the state grow without bound, or a tool run twice in it", () => {
  const tool = fc.nat({ max: 3000 }).map(String);
  const event = fc.oneof(
    tool.map((id): ExecutorEvent => ({ type: "TOOL_BEGUN", tool: id })),
    tool.map((id): ExecutorEvent => ({ type: "TOOL_ENDED", tool: id, result: resultOf(id) })),
    fc.constant<ExecutorEvent>({ type: "CONNECTION_ERROR", error: "" }),
    fc.constant<ExecutorEvent>({ type: "CONNECTION_RESTORED" }),
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 200 }), (events) => {
      const { results, running } = after(...events);
      return results.size <= REGISTER_LIMITS.orders && new Set(running).size === running.length;
    }),
  );
  const many = Array.from({ length: REGISTER_LIMITS.orders + 5 }, (_, n): ExecutorEvent => {
    return { type: "TOOL_ENDED", tool: String(n), result: resultOf(String(n)) };
  });
  const { results } = after(...many);
  assert.equal(results.size, REGISTER_LIMITS.orders);
  assert.ok(!results.has("0") && results.has(String(REGISTER_LIMITS.orders + 4)));
});
