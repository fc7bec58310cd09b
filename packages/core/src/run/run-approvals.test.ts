import assert from "node:assert/strict";
import { test } from "node:test";
import type { QuestionAsked } from "../event.ts";
import { RUN_WIDE_YES } from "../text/answer-words.ts";
import type { Plan } from "../tool.ts";
import { findRunApproval, handOf, withAnswer } from "./run-approvals.ts";

const write = (path: string): Plan =>
  ({ kind: "file", operation: "write", path, diff: "", bytes: 1 }) as unknown as Plan;
const command: Plan = { kind: "process", argv: ["make"], cwd: "/w" } as unknown as Plan;
const asked = (plan: Plan, hash: string, hand = "local", id = "q1"): QuestionAsked =>
  ({
    type: "question.asked",
    id,
    text: "?",
    options: [],
    expiresAt: 1,
    about: { kind: "approval", action: "act_1", hash, plan, hand },
  }) as unknown as QuestionAsked;

test("only the words for the whole run approve more than one action", () => {
  for (const answer of ["yes", "no", "YES FOR THIS RUN", ""])
    assert.deepEqual(withAnswer({}, asked(command, "h1"), answer), {});
  const approvals = withAnswer({}, asked(command, "h1"), RUN_WIDE_YES);
  assert.equal(findRunApproval(approvals, { plan: command, hash: "h1", hand: "local" }), "q1");
});

test("a command is the same by its hash and hand alone", () => {
  const approvals = withAnswer({}, asked(command, "h1", "web-1"), RUN_WIDE_YES);
  assert.equal(findRunApproval(approvals, { plan: command, hash: "h2", hand: "web-1" }), undefined);
  assert.equal(findRunApproval(approvals, { plan: command, hash: "h1", hand: "web-2" }), undefined);
});

test("an edit is the same by its file, its operation and its hand: each edit has another hash", () => {
  const approvals = withAnswer({}, asked(write("/w/a"), "h1"), RUN_WIDE_YES);
  assert.equal(findRunApproval(approvals, { plan: write("/w/a"), hash: "h2", hand: "local" }), "q1");
  assert.equal(findRunApproval(approvals, { plan: write("/w/b"), hash: "h1", hand: "local" }), undefined);
  const removal = { ...write("/w/a"), operation: "delete" } as unknown as Plan;
  assert.equal(findRunApproval(approvals, { plan: removal, hash: "h1", hand: "local" }), undefined);
});

test("names that every object has approve nothing", () => {
  const hostile = asked(write("__proto__"), "constructor");
  assert.equal(findRunApproval({}, { plan: command, hash: "constructor", hand: "__proto__" }), undefined);
  const approvals = withAnswer({}, hostile, RUN_WIDE_YES);
  assert.equal(Object.keys(approvals).length, 1);
});

test("a question about something else approves nothing, and what was approved stays", () => {
  const before = withAnswer({}, asked(command, "h1"), RUN_WIDE_YES);
  const other = { ...asked(command, "h2", "local", "q2"), about: { kind: "ask" } } as unknown as QuestionAsked;
  assert.deepEqual(withAnswer(before, other, RUN_WIDE_YES), before);
  const both = withAnswer(before, asked(write("/w/a"), "h3", "local", "q3"), RUN_WIDE_YES);
  assert.equal(findRunApproval(both, { plan: command, hash: "h1", hand: "local" }), "q1");
});

test("an action of a run on several hands names its own", () => {
  const action = { id: "a", tool: "command", input: { hand: "web-2" }, callId: "c" };
  assert.equal(handOf("web-1,web-2", action), "web-2");
  assert.equal(handOf("web-1", action), "web-1", "with one hand there is no choice");
  assert.equal(handOf("web-1,web-2", { ...action, input: { hand: 7 } }), "web-1,web-2");
});
