import assert from "node:assert/strict";
import { test } from "node:test";
import type { LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider";
import { mistralPrompt } from "./mistral-prompt.ts";

const call = (toolCallId: string) => ({ type: "tool-call", toolCallId, toolName: "read_file", input: {} }) as const;
const result = (toolCallId: string): LanguageModelV4Message => ({
  role: "tool",
  content: [{ type: "tool-result", toolCallId, toolName: "read_file", output: { type: "text", value: "x" } }],
});
const idsIn = (message: LanguageModelV4Message | undefined): readonly string[] =>
  JSON.stringify(message).match(/(?<="toolCallId":")[^"]*/g) ?? [];

test("ids of calls of other models get nine letters and digits, the same for a call and its result", () => {
  const prompt: LanguageModelV4Prompt = [
    { role: "user", content: [{ type: "text", text: "go" }] },
    { role: "assistant", content: [call("toolu_01AbC-def"), call("abcDEF123")] },
    result("toolu_01AbC-def"),
  ];
  const [user, assistant, answer] = mistralPrompt(prompt);
  const [foreign = "", own] = idsIn(assistant);
  assert.match(foreign, /^[A-Za-z0-9]{9}$/);
  assert.equal(own, "abcDEF123");
  assert.deepEqual(idsIn(answer), [foreign]);
  assert.equal(user, prompt[0]);
});

test("between a result and a person's words the model has said something", () => {
  const prompt: LanguageModelV4Prompt = [
    { role: "assistant", content: [call("abcDEF123")] },
    result("abcDEF123"),
    { role: "user", content: [{ type: "text", text: "wait" }] },
    { role: "user", content: [{ type: "text", text: "more" }] },
  ];
  assert.deepEqual(
    mistralPrompt(prompt).map(({ role }) => role),
    ["assistant", "tool", "assistant", "user", "user"],
  );
});
