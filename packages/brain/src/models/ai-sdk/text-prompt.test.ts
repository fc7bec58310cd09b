import assert from "node:assert/strict";
import { test } from "node:test";
import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from "@ai-sdk/provider";
import fc from "fast-check";
import { textMessages, withoutTools } from "./text-prompt.ts";

const TOOLS: LanguageModelV4CallOptions["tools"] = [
  { type: "function", name: "echo", description: "Says it again.", inputSchema: { type: "object" } },
];
const call = (toolName: string, input: unknown) =>
  ({ role: "assistant", content: [{ type: "tool-call", toolCallId: "c", toolName, input }] }) as const;
const result = (type: "text" | "error-text", value: string) =>
  ({
    role: "tool",
    content: [{ type: "tool-result", toolCallId: "c", toolName: "echo", output: { type, value } }],
  }) as const;
const user = (text: string) => ({ role: "user", content: [{ type: "text", text }] }) as const;
const messages = (prompt: readonly object[], more: Partial<LanguageModelV4CallOptions> = {}) =>
  textMessages({ prompt: prompt as unknown as LanguageModelV4Prompt, ...more });

test("tools are described behind the system's words, and not at all when none may be called", () => {
  const prompt = [{ role: "system", content: "Be brief." }, user("hi")];
  assert.equal(
    messages(prompt, { tools: TOOLS })[0]?.content,
    'Be brief.\nThe tools:\n- echo: Says it again. Input: {"type":"object"}',
  );
  assert.equal(messages(prompt, { tools: TOOLS, toolChoice: { type: "none" } })[0]?.content, "Be brief.");
  const bare = messages([user("hi")], { tools: TOOLS });
  assert.deepEqual(
    bare.map(({ role }) => role),
    ["system", "user"],
  );
  assert.deepEqual(messages([]), []);
});

test("a call becomes one action line: reserved tools by their own word, others by use_tool", () => {
  const lines = [
    ["echo", { words: "a\nb" }, { type: "use_tool", name: "echo", args: { words: "a\nb" } }],
    ["shell", { command: "ls" }, { type: "use_tool", name: "shell", args: { command: "ls" } }],
    ["done", { result: "ok" }, { type: "done", result: "ok" }],
    ["ask", "no object", { type: "ask" }],
    ["echo", null, { type: "use_tool", name: "echo", args: {} }],
  ] as const;
  for (const [tool, input, line] of lines) {
    const content = messages([call(tool, input)])[0]?.content ?? "";
    assert.doesNotMatch(content, /\n/);
    assert.deepEqual(JSON.parse(content), line);
  }
});

test("results are words of the user that say whether it failed", () => {
  assert.deepEqual(messages([call("echo", {}), result("text", "fine"), result("error-text", "no")]).at(-1), {
    role: "user",
    content: "Result of echo:\nfine\n\nError of echo:\nno",
  });
});

test("roles take turns, and no message is empty", () => {
  const one = fc.constantFrom(
    user("a"),
    user(""),
    call("echo", {}),
    result("text", "x"),
    { role: "assistant", content: [{ type: "text", text: "b" }] },
    { role: "assistant", content: [{ type: "reasoning", text: "hm" }] },
  );
  fc.assert(
    fc.property(fc.array(one, { maxLength: 12 }), (prompt) => {
      const all = messages(prompt, { tools: TOOLS });
      for (const [index, { role, content }] of all.entries()) {
        assert.notEqual(content, "");
        assert.notEqual(role, all[index - 1]?.role);
      }
    }),
  );
});

test("a call for a server without tools has none, and the same words", () => {
  const prompt = [user("hi"), call("echo", { a: 1 }), result("text", "x")] as unknown as LanguageModelV4Prompt;
  const options = withoutTools({ prompt, tools: TOOLS, toolChoice: { type: "required" }, temperature: 0.5 });
  assert.deepEqual([options.tools, options.toolChoice, options.temperature], [undefined, undefined, 0.5]);
  assert.deepEqual(
    textMessages({ prompt: options.prompt }).map(({ role, content }) => [role, content]),
    messages(prompt, { tools: TOOLS }).map(({ role, content }) => [role, content]),
  );
});
