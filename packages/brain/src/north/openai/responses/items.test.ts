import assert from "node:assert/strict";
import { test } from "node:test";
import { inputMessages, responseTools } from "./items.ts";

const message = (role: string, content: unknown) => ({ type: "message", role, content }) as never;
const call = (id: string) => ({ type: "function_call", name: "look_up", call_id: id, arguments: "{}" });

test("an input is a text of the user, or a list of items", () => {
  assert.deepEqual(inputMessages("hi"), [{ role: "user", content: "hi" }]);
  assert.deepEqual(inputMessages([message("user", "hi"), { role: "developer", content: "be brief" }]), [
    { role: "user", content: "hi" },
    { role: "developer", content: "be brief" },
  ]);
  assert.deepEqual(inputMessages(undefined), []);
});

test("what the assistant said and called behind each other is one message", () => {
  const messages = inputMessages([
    message("user", "hi"),
    message("assistant", "I look."),
    call("c1"),
    call("c2"),
    { type: "function_call_output", call_id: "c1", output: "a" },
    { type: "function_call_output", call_id: "c2", output: [{ type: "input_text", text: "b" }] },
    message("assistant", [{ type: "output_text", text: "Done." }]),
  ]);
  assert.deepEqual(
    messages.map(({ role }) => role),
    ["user", "assistant", "tool", "tool", "assistant"],
  );
  assert.deepEqual(
    messages[1]?.tool_calls?.map(({ id }) => id),
    ["c1", "c2"],
  );
  assert.equal(messages[1]?.content, "I look.");
  assert.equal(messages[3]?.content, "b");
});

test("thoughts of another vendor's model are left out and set nothing apart", () => {
  const messages = inputMessages([
    message("assistant", "I look."),
    { type: "reasoning", encrypted_content: "x" },
    call("c1"),
  ]);
  assert.equal(messages.length, 1);
});

test("a bad item is refused with its place", () => {
  const bad: readonly (readonly [unknown, string])[] = [
    [{ type: "image_generation_call" }, "/input/1/type"],
    [message("king", "hi"), "/input/1/role"],
    [{ type: "function_call", call_id: "c" }, "/input/1/name"],
    [{ type: "function_call", name: "a", call_id: "" }, "/input/1/call_id"],
    [{ type: "function_call_output", output: "a" }, "/input/1/call_id"],
    ["words", "/input/1/role"],
    [null, "/input/1/role"],
  ];
  for (const [item, path] of bad)
    assert.throws(() => inputMessages([message("user", "hi"), item as never]), {
      code: "BAD_ARGUMENTS",
      detail: { path },
    });
  assert.throws(() => inputMessages([message("assistant", [{ type: "input_image", image_url: "x" }])]), {
    code: "BAD_ARGUMENTS",
    message: /input_image/,
  });
});

test("tools that only the vendor could run are left out or refused; those of a namespace keep it", () => {
  const { offered, leftOut } = responseTools([
    { type: "function", name: "a", parameters: { type: "object" }, strict: true },
    { type: "web_search_preview" },
    { type: "custom", name: "patch", description: "Applies." },
    { type: "namespace", name: "docs", tools: [{ type: "function", name: "search" }] },
  ]);
  assert.deepEqual(leftOut, ["web_search_preview"]);
  assert.deepEqual(
    offered.map(({ name, namespace, custom, path }) => [name, namespace, custom, path]),
    [
      ["a", undefined, undefined, "/tools/0"],
      ["patch", undefined, true, "/tools/2"],
      ["search", "docs", undefined, "/tools/3/tools/0"],
    ],
  );
  for (const wrong of [{ type: "code_interpreter" }, {}, "x", { type: "namespace", name: "n" }, { type: "function" }])
    assert.throws(() => responseTools([wrong]), { code: "BAD_ARGUMENTS" });
  assert.deepEqual(responseTools(undefined), { offered: [], leftOut: [] });
});
