import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry, Event, QuestionAsked, RunHead, RunStatus } from "@vidro/core";
import { reportOutcome } from "./run-report.ts";

/** What is told of a run in that state whose last entry is this event. */
function told(status: RunStatus, event?: Event, question?: QuestionAsked) {
  const head = { id: "run_1", thread: "thread_1", status, seq: 9 } as unknown as RunHead;
  const entries: readonly Entry[] = event === undefined ? [] : [{ seq: 7, at: 1, event }];
  return reportOutcome({ head, entries, ...(question === undefined ? {} : { question }) });
}

const FACTS = { run: "run_1", thread: "thread_1", seq: 7 };

test("an answer is told as its words, one that is no text as JSON, and one that says that it was not done as an error", () => {
  const done = { type: "run.finished", result: "It is noon." } as const;
  const facts = { ...FACTS, status: "finished" };
  assert.deepEqual(told("finished", done), {
    text: "It is noon.",
    data: { ...facts, result: "It is noon." },
    isError: false,
  });
  assert.equal(told("finished", { ...done, result: { n: [1] } }).text, '{"n":[1]}');
  assert.deepEqual(told("finished", { ...done, unmet: true }), {
    text: "It is noon.",
    data: { ...facts, result: "It is noon.", unmet: true },
    isError: true,
  });
});

test("a failure is told with its code, and a stop with its reason", () => {
  const fault = { code: "MODEL_REFUSED", message: "The model said no." } as const;
  assert.deepEqual(told("failed", { type: "run.failed", fault }), {
    text: "MODEL_REFUSED: The model said no.",
    data: { ...FACTS, status: "failed", error: fault },
    isError: true,
  });
  assert.deepEqual(told("aborted", { type: "run.aborted", reason: "Stopped by ana." }), {
    text: "The task was stopped: Stopped by ana.",
    data: { ...FACTS, status: "aborted", reason: "Stopped by ana." },
    isError: true,
  });
});

test("a task that is at work says from which entry it is followed on: the last one that was read, or the newest", () => {
  const note: Event = { type: "note.observed", note: "n" };
  assert.equal(told("running", note).text, "The task is running. Go on with follow_task: run run_1, after 7.");
  assert.equal(told("running").text, "The task is running. Go on with follow_task: run run_1, after 9.");
});

test("a question is told with how it is answered, and an end goes before a question", () => {
  const question = {
    type: "question.asked",
    id: "q_1",
    text: "Which one?",
    options: ["a", "b"],
    about: { kind: "model" },
    expiresAt: 1,
  };
  const asked = question as unknown as QuestionAsked;
  const { text, data, isError } = told("asking", asked, asked);
  assert.match(text, /^The task waits for an answer\.\nWhich one\?[\s\S]*answer_task: run run_1, question q_1\.$/);
  assert.deepEqual([isError, (data["question"] as { id?: string }).id ?? "q_1"], [undefined, "q_1"]);
  assert.equal(told("finished", { type: "run.finished", result: "done" }, asked).text, "done");
});
