import assert from "node:assert/strict";
import { test } from "node:test";
import { questionId, questionName, readQuestionName } from "./question-id.ts";

test("a name leads to its run and question, also for the ids of older journals", () => {
  const run = "run_01a1e335-16e1-7ba6";
  const id = questionId(run, 7);
  assert.notEqual(id, questionId("run_2", 7));
  assert.deepEqual(readQuestionName(questionName(run, id)), { run, question: id });
  assert.deepEqual(readQuestionName(questionName(run, "q7")), { run, question: "q7" });
  assert.equal(readQuestionName("nobody_made_it"), undefined);
});
