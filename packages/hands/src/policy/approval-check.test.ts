import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@vidro/core";
import type { ActionEnd, FilesPlan, Judgement, Order, Plan } from "@vidro/core";
import { orderFor } from "../scratch.fixture.ts";
import { failedEnd, pinnedPlan, recordedEnd, requireApproval } from "./approval-check.ts";

const judged = (decision: "allow" | "ask" | "deny", hash = "h1"): Judgement => ({
  plan: { kind: "facts", facts: "os" },
  hash,
  policy: "p",
  verdict: { decision, rule: "r1", class: "read", reason: "Because." },
});
const ordered = (more: Partial<Order>): Order => orderFor({ id: "act_1", tool: "t", input: {}, callId: "c" }, more);
const UNPROVEN = new Fault("APPROVAL_INVALID", "no proof").report();

test("what an order needs follows from the verdict, its approval and its proof", () => {
  const rows: readonly (readonly [Parameters<typeof judged>[0], Partial<Order>, string | undefined])[] = [
    ["allow", {}, undefined],
    ["allow", { approved: "other" }, undefined],
    ["allow", { approved: "h1", unproven: UNPROVEN }, undefined],
    ["ask", {}, "APPROVAL_DENIED"],
    ["ask", { unproven: UNPROVEN }, "APPROVAL_DENIED"],
    ["ask", { approved: "h1" }, undefined],
    ["ask", { approved: "h2" }, "PLAN_CHANGED"],
    ["ask", { approved: "" }, "PLAN_CHANGED"],
    ["ask", { approved: "h1", unproven: UNPROVEN }, "APPROVAL_INVALID"],
    ["ask", { approved: "h2", unproven: UNPROVEN }, "APPROVAL_INVALID"],
    ["deny", {}, "POLICY_DENIED"],
    ["deny", { approved: "h1" }, "POLICY_DENIED"],
    ["deny", { approved: "h1", unproven: UNPROVEN }, "POLICY_DENIED"],
  ];
  for (const [decision, more, code] of rows) {
    const check = (): void => requireApproval(judged(decision), ordered(more));
    if (code === undefined) assert.doesNotThrow(check, `${decision} ${JSON.stringify(more)}`);
    else assert.throws(check, { code }, `${decision} ${JSON.stringify(more)}`);
  }
});

test("a denial names its rule and its reason, and a missing approval the reason", () => {
  assert.throws(() => requireApproval(judged("deny"), ordered({})), { message: /Because\..*rule r1/ });
  assert.throws(() => requireApproval(judged("ask"), ordered({})), {
    message: /No person has approved it\. Because\./,
  });
});

test("the hash of a plan is of all that happens, and not of the diff that shows it", () => {
  const plan: FilesPlan = { kind: "files", files: [], patch: "--- a\n+++ b" };
  const { patch: _, ...bare } = plan;
  assert.deepEqual(pinnedPlan(plan), bare);
  const others: readonly Plan[] = [
    { kind: "facts", facts: "x" },
    { kind: "order", tool: "t", input: { patch: "an input of its own" } },
  ];
  for (const other of others) assert.deepEqual(pinnedPlan(other), { ...other });
});

test("a failure on record is settled, and other ends are as they were recorded", () => {
  const { fault } = failedEnd(new Fault("TOOL_FAILED", "no"));
  const ends: readonly ActionEnd[] = [
    { type: "unknown", fault },
    { type: "finished", outcome: { kind: "value", text: "x" } },
  ];
  for (const end of ends) assert.equal(recordedEnd(end), end);
  assert.deepEqual(recordedEnd({ type: "failed", fault }), { type: "failed", fault, settled: true });
});
