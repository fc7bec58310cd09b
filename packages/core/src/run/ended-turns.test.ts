import assert from "node:assert/strict";
import { test } from "node:test";
import type { TerminalEvent, Turn } from "../event.ts";
import { endText, turnsOfEnded } from "./ended-turns.ts";
import { answersOfOtherCalls } from "./other-calls.ts";
import { listOf } from "./turns.ts";
import { stateOf } from "./walk.fixture.ts";

const FINISHED: TerminalEvent = { type: "run.finished", result: "It is done." };
const action = { id: "act_1", tool: "echo", input: {}, callId: "c1" };
const turnsAfter = (turns: readonly Turn[], end: TerminalEvent = FINISHED) =>
  turnsOfEnded({ ...stateOf(), turns: listOf(turns) }, end);

test("each end of a run is the assistant's last words", () => {
  assert.equal(endText(FINISHED), "It is done.");
  assert.equal(endText({ type: "run.finished", result: { free: 7 } }), '{"free":7}');
  assert.match(endText({ type: "run.failed", fault: { code: "STEP_LIMIT", message: "too many" } }), /too many/);
  assert.equal(endText({ type: "run.aborted", reason: "x" }), "(This was stopped.)");
  assert.deepEqual(
    turnsAfter([]).map(({ role }) => role),
    ["user", "assistant"],
  );
});

test("the end is said once, also when the last reply said it", () => {
  const said = turnsAfter([{ role: "assistant", text: "It is done." }]);
  assert.deepEqual(said.slice(1), [{ role: "assistant", text: "It is done." }]);
  const more = turnsAfter([{ role: "assistant", text: "I looked." }]);
  assert.equal(more.at(-1)?.text, "I looked.\n\nIt is done.");
  assert.equal(turnsAfter([{ role: "assistant", text: "" }]).at(-1)?.text, "It is done.");
});

test("every call has a result, also the one that the run's end cut off", () => {
  const turns = turnsAfter([{ role: "assistant", text: "I look.", action }], { type: "run.aborted", reason: "x" });
  assert.deepEqual(
    turns.map(({ role }) => role),
    ["user", "assistant", "tool", "assistant"],
  );
  const lost = turns[2];
  assert.ok(lost?.role === "tool" && lost.callId === "c1" && lost.failed);
  const whole = turnsAfter([
    { role: "assistant", text: "", action },
    { role: "tool", callId: "c1", tool: "echo", text: "ok", failed: false },
  ]);
  assert.equal(whole.filter(({ role }) => role === "tool").length, 1);
});

test("the calls of a reply beyond the first are answered as not run, and the first is not", () => {
  const call = (callId: string) => ({ kind: "call", callId, tool: "echo", input: {} }) as const;
  const parts = { from: "m", items: [{ kind: "text", text: "a" } as const, call("c1"), call("c2"), call("c3")] };
  const answers = answersOfOtherCalls(parts, action);
  assert.deepEqual(
    answers.map((turn) => (turn.role === "tool" ? turn.callId : "")),
    ["c2", "c3"],
  );
  assert.ok(answers.every((turn) => turn.role === "tool" && turn.failed));
  assert.equal(answersOfOtherCalls(parts, undefined).length, 3);
  assert.deepEqual(answersOfOtherCalls(undefined, action), []);
});
