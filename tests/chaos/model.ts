import { isObject } from "@vidro/core";
import { parseJson } from "@vidro/core/codec";
import type { Json, JsonObject } from "@vidro/core";
import { calls, fakeOpenAi, status, text } from "../support/fake-openai.ts";
import type { FakeAnswer, FakeOpenAi } from "../support/fake-openai.ts";
import type { PlannedRun } from "./plan.ts";

const TASK = "Leave marks: ";

/** The task of a run: all that the model has to know is in it, so that it may be asked by any process at any time. */
export function taskOf({ key, steps }: PlannedRun): string {
  return TASK + JSON.stringify({ key, steps });
}

/** A model that wants what its task says, one action after the other: how many were answered is how far it is. */
export function scriptedModel(): Promise<FakeOpenAi> {
  return fakeOpenAi(reply);
}

const reply: FakeAnswer = (response, request) => {
  const messages = listIn(request.body["messages"]);
  const task = messages.map(wordsOf).find((words) => words.includes(TASK));
  if (task === undefined) return status(400, "There is no task.")(response);
  const { key, steps } = parseJson(task.slice(task.indexOf(TASK) + TASK.length)) as unknown as PlannedRun;
  const at = messages.filter(({ role }) => role === "tool").length;
  const step = steps[at];
  const said = step === undefined ? text(`${key} is done.`) : calls(callOf(key, at + 1, step));
  setTimeout(() => said(response), step?.thinkMs ?? 0);
};

function callOf(key: string, number: number, { tool, workMs }: PlannedRun["steps"][number]) {
  const args = [key, `${number}`, `${workMs / 1000}`];
  return { id: `call_${key}_${number}`, name: "command", input: JSON.stringify({ command: tool, args }) };
}

function listIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** A message's content is a text, or a list of parts. */
function wordsOf({ content }: JsonObject): string {
  if (typeof content === "string") return content;
  return listIn(content)
    .map((part) => (typeof part["text"] === "string" ? part["text"] : ""))
    .join("");
}
