import assert from "node:assert/strict";
import { test } from "node:test";
import { FAULTS } from "../fault.ts";
import type { FaultCode } from "../fault.ts";
import type { ActionEnd, Outcome } from "../tool.ts";
import { FILES_LEFT_OUT, withKnownCode, withoutEndFiles } from "./action-end.ts";

const receipt = { run: "r" } as unknown as NonNullable<Extract<ActionEnd, { type: "failed" }>["receipt"]>;
const failed = (code: string, type: "failed" | "unknown" = "failed"): ActionEnd => ({
  type,
  fault: { code: code as FaultCode, message: "why" },
  receipt,
});

test("a code that is known stays, with its receipt", () => {
  for (const code of Object.keys(FAULTS)) {
    const end = failed(code);
    assert.equal(withKnownCode(end), end);
  }
});

test("a code that only a newer peer knows becomes the nearest, without the receipt that no longer matches", () => {
  for (const code of ["NEWER_CODE", "", "__proto__", "constructor", "toString", "hasOwnProperty"]) {
    const end = withKnownCode(failed(code));
    assert.ok(end.type === "failed");
    assert.deepEqual(end, { type: "failed", fault: { code: "TOOL_FAILED", message: "why" } }, code);
    const unknown = withKnownCode(failed(code, "unknown"));
    assert.deepEqual(unknown, { type: "unknown", fault: { code: "OUTCOME_UNKNOWN", message: "why" } }, code);
  }
});

test("an end that finished has no code to know, and is the same", () => {
  const end: ActionEnd = { type: "finished", outcome: { kind: "value", text: "x" } };
  assert.equal(withKnownCode(end), end);
});

test("an end without its files says that they are left out, and others are the same", () => {
  const file = { mediaType: "image/png", data: "AAAA" } as const;
  const outcome: Outcome = { kind: "value", text: "seen", files: [file] };
  const end: ActionEnd = { type: "finished", outcome, receipt };
  assert.deepEqual(withoutEndFiles(end), {
    type: "finished",
    outcome: { kind: "value", text: `seen\n${FILES_LEFT_OUT}` },
  });
  for (const other of [failed("TOOL_FAILED"), { type: "finished", outcome: { kind: "value", text: "x" } } as ActionEnd])
    assert.equal(withoutEndFiles(other), other);
});
