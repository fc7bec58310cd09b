import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event, QuestionAsked, ToolSpec } from "@vidro/core";
import {
  answerEnding,
  AnswerText,
  callFields,
  callId,
  completion,
  customInput,
  finishReason,
  readCallId,
  usageOf,
} from "./answer.ts";
import type { AnswerEnding, CallEnding, ChatAnswer } from "./answer.ts";

const ANSWER: ChatAnswer = {
  run: "run_1",
  after: 3,
  form: "tools",
  includeReasoning: false,
  tools: [],
  model: "bunny",
  at: 1_700_000_000_999,
};
const entry = (event: Event) => ({ seq: 4, at: 0, event });
const call = { id: "act_1", tool: "look_up", input: { name: "ana" }, callId: "c" };
const asked = (about: object): QuestionAsked =>
  ({
    type: "question.asked",
    id: "q_1",
    text: "Which?",
    options: ["yes", "no"],
    expiresAt: 1,
    about,
  }) as unknown as QuestionAsked;
const replied = (text: string, more: object = {}): Event => ({
  type: "model.replied",
  model: "m",
  text,
  usage: { inputTokens: 2, outputTokens: 1 },
  ...more,
});

test("an answer ends at a call for the caller, at a question to a person, and at the end of the run", () => {
  assert.deepEqual(answerEnding(entry(asked({ kind: "call", call })), "run_1"), {
    finish: "call",
    id: callId("run_1", "q_1"),
    call,
  });
  const ending = answerEnding(entry(asked({ kind: "ask" })), "run_1");
  assert.ok(ending?.finish === "stop" && /Which\?\n- yes\n- no/.test(ending.text));
  assert.equal(answerEnding(entry(asked({ kind: "healing" })), "run_1"), undefined);
  assert.deepEqual(answerEnding(entry({ type: "run.finished", result: { free: 1 } }), "run_1"), {
    finish: "stop",
    text: '{"free":1}',
  });
  assert.equal(answerEnding(entry(replied("a")), "run_1"), undefined);
});

test("a run that failed or was stopped is a fault of the answer", () => {
  const fault = { code: "STEP_LIMIT", message: "too many steps" } as const;
  assert.throws(() => answerEnding(entry({ type: "run.failed", fault }), "run_1"), { code: "STEP_LIMIT" });
  assert.throws(() => answerEnding(entry({ type: "run.aborted", reason: "stopped" }), "run_1"));
});

test("an id of ours names its run and question, and any other names none", () => {
  for (const question of ["q7_run_1", "q7"])
    assert.deepEqual(readCallId(callId("run_1", question)), { run: "run_1", question });
  for (const foreign of ["", "call_", "call_abc", "toolu_01", "call_run_1", "q_1"])
    assert.equal(readCallId(foreign), undefined, foreign);
});

test("replies are set apart, silent ones leave no gap, and the last words are said once", () => {
  const text = new AnswerText();
  for (const words of ["I look.", "", "I found it."]) text.add({ event: replied(words) });
  assert.equal(text.wholeText("I found it."), "I look.\n\nI found it.");
  assert.equal(text.wholeText("Another end."), "I look.\n\nI found it.\n\nAnother end.");
  assert.equal(text.wholeText(), "I look.\n\nI found it.");
  assert.equal(new AnswerText().wholeText("alone"), "alone");
  assert.deepEqual([text.used.inputTokens, text.used.outputTokens], [6, 3]);
});

test("tokens are told as the wire names them; details only where a server counted them", () => {
  assert.deepEqual(usageOf({ inputTokens: 5, outputTokens: 2 }), {
    prompt_tokens: 5,
    completion_tokens: 2,
    total_tokens: 7,
  });
  assert.deepEqual(usageOf({ inputTokens: 5, outputTokens: 2, cachedTokens: 3, thinkingTokens: 1 }), {
    prompt_tokens: 5,
    completion_tokens: 2,
    total_tokens: 7,
    prompt_tokens_details: { cached_tokens: 3 },
    completion_tokens_details: { reasoning_tokens: 1 },
  });
});

const CALL: CallEnding = { finish: "call", id: "call_1", call };
const custom: ToolSpec = {
  name: "shop__patch",
  description: "",
  parameters: {},
  idempotent: false,
  called: { name: "patch", namespace: "shop", custom: true },
};

test("a call has the form of the request: tools, functions, or a tool that takes text", () => {
  const called = { name: "look_up", arguments: '{"name":"ana"}' };
  assert.deepEqual(callFields(CALL, ANSWER), { tool_calls: [{ id: "call_1", type: "function", function: called }] });
  assert.deepEqual(callFields(CALL, { ...ANSWER, form: "functions" }), { function_call: called });
  const patch = { ...CALL, call: { ...call, tool: "shop__patch", input: { input: "*** diff" } } };
  assert.deepEqual(callFields(patch, { ...ANSWER, tools: [custom] }), {
    tool_calls: [{ id: "call_1", type: "custom", custom: { name: "patch", input: "*** diff" } }],
  });
  assert.equal(customInput({ ...call, input: {} }), '""');
  assert.equal(customInput({ ...call, input: { input: 7 } }), "7");
});

test("the reason of the end says what the caller does next", () => {
  const stop: AnswerEnding = { finish: "stop", text: "" };
  const { used } = new AnswerText();
  assert.equal(finishReason(stop, "tools", used), "stop");
  assert.equal(finishReason(CALL, "tools", used), "tool_calls");
  assert.equal(finishReason(CALL, "functions", used), "function_call");
  used.add({ event: replied("a", { cutShort: true }) });
  assert.equal(finishReason(stop, "tools", used), "length");
  used.add({ event: replied("b") });
  assert.equal(finishReason(stop, "tools", used), "stop", "only the last reply counts");
});

test("a completion has whole seconds, one choice, and thinking only for those who asked for it", () => {
  const words = new AnswerText();
  const parts = { from: "m", items: [{ kind: "thinking", text: "hm" }] };
  words.add({ event: replied("Yes.", { parts }) });
  const whole = { ending: { finish: "stop", text: "Yes." }, words } as const;
  const shown = completion(ANSWER, whole) as { created: number; choices: { message: object }[] };
  assert.equal(shown.created, 1_700_000_000);
  assert.deepEqual(shown.choices[0]?.message, { role: "assistant", content: "Yes.", refusal: null });
  const thinking = completion({ ...ANSWER, includeReasoning: true }, whole) as typeof shown;
  assert.deepEqual(thinking.choices[0]?.message, {
    role: "assistant",
    content: "Yes.",
    reasoning_content: "hm",
    refusal: null,
  });
  const silent = completion(ANSWER, { ending: CALL, words: new AnswerText() }) as typeof shown;
  assert.match(JSON.stringify(silent.choices[0]?.message), /"content":null/);
});
