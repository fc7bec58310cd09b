import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { RUN_LIMITS } from "../limits.ts";
import { CONTROL_TOOL_NAMES, boundedText, itemOfCall, readActionLine } from "./action-line.ts";

test("each word of the language is read, by type or by action", () => {
  const lines: readonly (readonly [string, string, string])[] = [
    ['{"type":"plan","steps":["a"]}', "aside", "plan"],
    ['{"type":"observe","note":"a"}', "aside", "observe"],
    ['{"type":"commit_kb","title":"a"}', "aside", "commit_kb"],
    ['{"type":"ask","question":"a"}', "ask", "ask"],
    ['{"type":"tool_spec","name":"a"}', "propose", "tool_spec"],
    ['{"type":"done","result":"a"}', "done", "done"],
    ['{"type":"shell","command":"ls"}', "action", "shell"],
    ['{"type":"research","query":"a"}', "action", "research"],
    ['{"type":"use_tool","name":"echo","args":{}}', "action", "echo"],
    ['{"type":"action","action":"shell","command":"ls"}', "action", "shell"],
    ['{"action":"shell","command":"ls"}', "action", "shell"],
    ['   {"type":"done"}   ', "done", "done"],
  ];
  for (const [line, kind, name] of lines) {
    const item = readActionLine(line);
    assert.deepEqual([item?.kind, item?.name], [kind, name], line);
  }
});

test("the words that choose an action are no part of its input", () => {
  assert.deepEqual(readActionLine('{"type":"shell","action":"x","command":"ls"}')?.input, { command: "ls" });
  assert.deepEqual(readActionLine('{"type":"use_tool","name":"echo","args":{"type":"a"}}')?.input, { type: "a" });
});

test("anything else is prose", () => {
  for (const line of [
    "words",
    "{}",
    '{"type":"unknown"}',
    '{"type":"echo"}',
    '{"type":7}',
    '{"type":"shell","command":"ls"',
    'now: {"type":"done"}',
    '[{"type":"done"}]',
    '"done"',
    "{",
    "",
    '{"__proto__":{"type":"done"}}',
  ])
    assert.equal(readActionLine(line), undefined, line);
});

test("a tool without a usable name or input is an action that the next check refuses, not a crash", () => {
  assert.deepEqual(readActionLine('{"type":"use_tool"}'), { kind: "action", name: "", input: {} });
  assert.deepEqual(readActionLine('{"type":"use_tool","name":{"a":1},"args":[1]}'), {
    kind: "action",
    name: '{"a":1}',
    input: {},
  });
  const long = readActionLine(JSON.stringify({ type: "use_tool", name: "x".repeat(1e5) }));
  assert.equal(long?.name.length, RUN_LIMITS.lineChars);
});

test("a native call of a control tool is what its line is", () => {
  for (const name of CONTROL_TOOL_NAMES)
    assert.equal(itemOfCall(name, {}).kind, readActionLine(JSON.stringify({ type: name }))?.kind, name);
  assert.equal(itemOfCall("use_tool", { name: "echo", args: { a: 1 } }).name, "echo");
  assert.equal(itemOfCall("anything", {}).kind, "action");
});

test("any line is read or prose", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const item = readActionLine(text.replaceAll("\n", " "));
      assert.ok(item === undefined || item.name.length <= RUN_LIMITS.lineChars);
    }),
  );
  assert.equal(boundedText(undefined), "");
  assert.equal(boundedText(null), "null");
});
