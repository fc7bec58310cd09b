import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { FAULTS, HAND_LIMITS } from "@vidro/core";
import type { Json } from "@vidro/core";
import { soundEnd, soundFacts, soundJudgement, soundReply, soundSpoolPart } from "./hand-answers.ts";

const VERDICT = { decision: "allow", rule: "r", class: "read", reason: "It reads." };
const PLAN = { kind: "order", tool: "look", input: {} };
const JUDGEMENT = { plan: PLAN, verdict: VERDICT, policy: "p", hash: "0".repeat(64) };
const DONE = { type: "finished", outcome: { kind: "value", text: "ok", data: null } };

test("a judgement that fits is taken as it is, and any other is a failure of the tool that says what is wrong", () => {
  assert.deepEqual(soundJudgement(JUDGEMENT), JUDGEMENT);
  const wrong: readonly unknown[] = [
    undefined,
    null,
    7,
    "allow",
    [],
    [JUDGEMENT],
    {},
    { ...JUDGEMENT, plan: undefined },
    { ...JUDGEMENT, plan: { kind: "nonsense" } },
    { ...JUDGEMENT, verdict: { ...VERDICT, decision: "maybe" } },
    { ...JUDGEMENT, verdict: "allow" },
    { ...JUDGEMENT, hash: 7 },
    { ...JUDGEMENT, policy: null },
  ];
  for (const value of wrong) {
    const judged = soundJudgement(value) as { code?: string; message?: string };
    assert.equal(judged.code, "TOOL_FAILED", JSON.stringify(value));
    assert.match(judged.message ?? "", /^The hand sent a malformed judgement: ./);
  }
});

test("an end that is none is an unknown outcome: the action may have been carried out", () => {
  assert.deepEqual(soundEnd(DONE), DONE);
  for (const value of [
    undefined,
    null,
    "finished",
    [],
    {},
    { type: "finished" },
    { type: "failed" },
    { ...DONE, type: "over" },
  ]) {
    const end = soundEnd(value);
    assert.equal(end.type, "unknown", JSON.stringify(value));
    assert.equal(end.type === "unknown" && end.fault.code, "OUTCOME_UNKNOWN");
  }
});

test("a failure with a code that this brain does not know keeps its words under one that it knows", () => {
  const end = soundEnd({ type: "failed", fault: { code: "BRAND_NEW", message: "It burns." }, settled: true });
  assert.ok(end.type !== "finished");
  assert.ok(end.fault.code in FAULTS);
  assert.match(end.fault.message, /It burns\./);
});

test("whatever a hand sends, an answer of the known kinds comes of it, and nothing is thrown", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom("plain", "end", "judgement"), (value, around) => {
      const sent: unknown =
        around === "end" ? { ...DONE, outcome: value } : around === "judgement" ? { ...JUDGEMENT, plan: value } : value;
      const end = soundEnd(sent);
      assert.ok(["finished", "failed", "unknown"].includes(end.type));
      const judged = soundJudgement(sent);
      assert.ok("code" in judged || "verdict" in judged);
      assert.equal(typeof soundFacts(sent), "object");
      if (typeof sent === "object" && sent !== null && !Array.isArray(sent))
        assert.ok(["finished", "failed", "unknown"].includes(soundReply(sent as { [name: string]: Json }).type));
    }),
    { numRuns: 300 },
  );
});

test("a piece of an output is taken within its bounds and in base64 alone", () => {
  const part = { data: Buffer.from("glass").toString("base64"), bytes: 5 };
  assert.deepEqual(soundSpoolPart({ ...part, more: 1 }), part);
  assert.deepEqual(soundSpoolPart({ data: "", bytes: HAND_LIMITS.spoolBytes }), {
    data: "",
    bytes: HAND_LIMITS.spoolBytes,
  });
  const whole = Buffer.alloc(HAND_LIMITS.spoolPartBytes).toString("base64");
  assert.ok("data" in soundSpoolPart({ data: whole, bytes: 1 }));
  const wrong: readonly unknown[] = [
    null,
    "Z2xhc3M=",
    {},
    { data: part.data },
    { ...part, bytes: -1 },
    { ...part, bytes: 1.5 },
    { ...part, bytes: "5" },
    { ...part, bytes: HAND_LIMITS.spoolBytes + 1 },
    { ...part, data: 7 },
    { ...part, data: "not base64!" },
    { ...part, data: "a\nb" },
    { ...part, data: "====" },
    { ...part, data: `${whole}AAAA` },
  ];
  for (const value of wrong) {
    const read = soundSpoolPart(value);
    assert.ok("code" in read && read.code === "TOOL_FAILED", JSON.stringify(value)?.slice(0, 60));
  }
});
