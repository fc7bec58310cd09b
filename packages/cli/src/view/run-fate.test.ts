import assert from "node:assert/strict";
import { test } from "node:test";
import { FAULTS } from "@vidro/core";
import type { Event, FaultCode, TerminalEvent } from "@vidro/core";
import { EXIT } from "../program/exit-codes.ts";
import { actionFate, RunFate } from "./run-fate.ts";

const stream = { text: "", bytes: 0, truncated: false, sha256: "" };
const process = (exitCode: number | null) =>
  ({
    kind: "process",
    exitCode,
    signal: null,
    timedOut: false,
    durationMs: 1,
    stdout: stream,
    stderr: stream,
  }) as const;
const ended = (exitCode: number | null): Event => ({
  type: "action.finished",
  action: "act_1",
  outcome: process(exitCode),
});
const failed = (code: FaultCode): Event => ({ type: "action.failed", action: "act_1", fault: { code, message: code } });
const unknown: Event = {
  type: "action.unknown",
  action: "act_1",
  fault: { code: "OUTCOME_UNKNOWN", message: "The hand was lost." },
};
const judged = (kind: "read" | "write"): Event =>
  ({
    type: "policy.judged",
    action: "act_1",
    plan: { kind: "process" },
    hash: "",
    verdict: { decision: "allow", class: kind, rule: "r", reason: "" },
  }) as unknown as Event;
const finished: TerminalEvent = { type: "run.finished", result: "It is done." };
const unmet: TerminalEvent = { ...finished, unmet: true };

function exitOf(events: readonly Event[], end: TerminalEvent = finished): number {
  const fate = new RunFate();
  for (const event of events) fate.take(event);
  return fate.exit(end);
}

test("an action ends done, failed, refused or unknown; other events say nothing of it", () => {
  assert.equal(actionFate(ended(0)), "done");
  assert.equal(actionFate(ended(1)), "failed");
  assert.equal(actionFate(ended(1), "write"), "failed");
  assert.equal(actionFate(ended(1), "read"), "done", "grep found nothing");
  assert.equal(actionFate(ended(2), "read"), "failed");
  assert.equal(actionFate(ended(null)), "failed", "ended by a signal");
  assert.equal(actionFate({ type: "action.finished", action: "a", outcome: { kind: "value", text: "" } }), "done");
  assert.equal(actionFate(failed("POLICY_DENIED")), "refused");
  assert.equal(actionFate(failed("TOOL_FAILED")), "failed");
  assert.equal(actionFate(unknown), "unknown");
  assert.equal(actionFate(finished), undefined);
});

test("the exit code of an answer is that of the last action", () => {
  const cases: readonly (readonly [readonly Event[], number])[] = [
    [[], EXIT.ok],
    [[judged("write"), ended(0)], EXIT.ok],
    [[judged("write"), ended(3)], EXIT.failed],
    [[judged("read"), ended(1)], EXIT.ok],
    [[judged("write"), ended(3), judged("write"), ended(0)], EXIT.ok],
    [[judged("write"), failed("POLICY_DENIED")], FAULTS.POLICY_DENIED.exit],
    [[judged("write"), failed("POLICY_DENIED"), judged("read"), ended(0)], EXIT.ok],
    [[judged("write"), unknown], FAULTS.OUTCOME_UNKNOWN.exit],
    [[judged("read"), unknown], FAULTS.OUTCOME_UNKNOWN.exit],
  ];
  for (const [events, exit] of cases) assert.equal(exitOf(events), exit, JSON.stringify(events));
});

test("an answer that says it is unmet counts every action, the gravest first", () => {
  const seen = [judged("write"), unknown, judged("write"), failed("POLICY_DENIED"), judged("read"), ended(0)];
  assert.equal(exitOf(seen, unmet), FAULTS.OUTCOME_UNKNOWN.exit);
  assert.equal(exitOf(seen.slice(2), unmet), FAULTS.POLICY_DENIED.exit);
  assert.equal(exitOf([], unmet), EXIT.failed);
});

test("a run that failed or was stopped has the exit code of that, whatever its actions did", () => {
  const before = [judged("write"), unknown];
  assert.equal(exitOf(before, { type: "run.aborted", reason: "stopped" }), EXIT.aborted);
  for (const code of ["MODEL_UNAVAILABLE", "STEP_LIMIT", "HAND_UNAVAILABLE"] as const)
    assert.equal(exitOf(before, { type: "run.failed", fault: { code, message: "" } }), FAULTS[code].exit);
});

test("the class of one action does not excuse the next one", () => {
  const asked = { type: "model.replied", model: "m", text: "", usage: { inputTokens: 0, outputTokens: 0 } } as const;
  const action = { id: "act_2", tool: "command", input: {}, callId: "c" };
  const fate = new RunFate();
  for (const event of [judged("write"), ended(0), { ...asked, action }, ended(1)]) fate.take(event);
  assert.equal(fate.exit(finished), EXIT.ok, "nothing was judged, so it only looked");
  fate.take(failed("POLICY_DENIED"));
  assert.equal(fate.refusal?.code, "POLICY_DENIED");
});
