import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readBrokenCall, readCalls } from "./written-call.ts";
import type { WrittenCall } from "./written-call.ts";

const TOOLS = new Set(["shell", "read_file"]);

/** The calls with their inputs parsed. */
function callsIn(body: string): readonly (readonly [tool: string, input: unknown])[] | undefined {
  return readCalls(body, TOOLS)?.map(({ tool, input }: WrittenCall) => [tool, JSON.parse(input) as unknown] as const);
}

test("each form of a written call is read", () => {
  const forms: readonly string[] = [
    '{"name":"shell","arguments":{"command":"ls"}}',
    '{"name":"shell","parameters":{"command":"ls"}}',
    '{"type":"function","function":{"name":"shell","arguments":{"command":"ls"}}}',
    '{"name":"shell","arguments":"{\\"command\\":\\"ls\\"}"}',
    '[{"name":"shell","arguments":{"command":"ls"}}]',
    '```json\n{"name":"shell","arguments":{"command":"ls"}}\n```',
    "<function=shell><parameter=command>ls</parameter></function>",
    "<function=shell>\n<parameter=command>\nls\n</parameter>\n</function>",
    "<function=shell><parameter=command>ls</parameter>",
    "shell<arg_key>command</arg_key><arg_value>ls</arg_value>",
    "shell\n<arg_key>command</arg_key>\n<arg_value>ls</arg_value>",
  ];
  for (const form of forms) assert.deepEqual(callsIn(form), [["shell", { command: "ls" }]], form);
});

test("a call without input has an empty one", () => {
  for (const form of ['{"name":"shell"}', '{"name":"shell","arguments":null}', "<function=shell></function>", "shell"])
    assert.deepEqual(callsIn(form), [["shell", {}]], form);
});

test("two functions between one pair of tags are two calls: neither gets the arguments of the other", () => {
  const two =
    "<function=shell><parameter=command>ls</parameter></function>\n<function=read_file><parameter=file_path>a</parameter></function>";
  assert.deepEqual(callsIn(two), [
    ["shell", { command: "ls" }],
    ["read_file", { file_path: "a" }],
  ]);
  const listed = '[{"name":"shell","arguments":{"command":"ls"}},{"name":"read_file","arguments":{"file_path":"a"}}]';
  assert.equal(callsIn(listed)?.length, 2);
});

test("a value that shows a call is a value", () => {
  const shown = "<function=read_file> is how it is written";
  assert.deepEqual(callsIn(`<function=shell><parameter=command>${shown}</parameter></function>`), [
    ["shell", { command: shown }],
  ]);
});

test("a call of an unknown tool, or a list with one, is no call", () => {
  for (const body of [
    '{"name":"rm","arguments":{}}',
    '[{"name":"shell","arguments":{}},{"name":"rm","arguments":{}}]',
    "<function=shell></function><function=rm></function>",
    "rm",
    "[]",
    "",
    "{}",
    "null",
    "7",
    '"shell"',
    "<function=",
    "some words about shell",
  ])
    assert.equal(readCalls(body, TOOLS), undefined, body);
});

test("names and arguments of an object's own making do not reach its prototype", () => {
  const [call] = readCalls("<function=shell><parameter=__proto__>x</parameter></function>", TOOLS) ?? [];
  assert.equal(call?.input, '{"__proto__":"x"}');
  assert.equal(readCalls('{"name":"__proto__"}', TOOLS), undefined);
});

test("a call whose arguments are no JSON is told apart, so that the model learns what is wrong", () => {
  assert.deepEqual(readBrokenCall('{"name": "shell", "arguments": {"command": "ls}', TOOLS), {
    tool: "shell",
    input: '{"command": "ls}',
  });
  assert.deepEqual(readBrokenCall('{"name": "shell" oops', TOOLS), { tool: "shell", input: '{"name": "shell" oops' });
  assert.equal(readBrokenCall('{"name": "rm", "arguments": {', TOOLS), undefined);
  assert.equal(readBrokenCall("words", TOOLS), undefined);
});

test("any text is read or not, and never throws", () => {
  const piece = fc.constantFrom(
    "<function=shell>",
    "<parameter=a>",
    "</parameter>",
    "</function>",
    "{",
    '"name"',
    ":",
    '"shell"',
    "}",
    "[",
    "]",
    "```",
    "\n",
    "<arg_key>",
    "x",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      const calls = readCalls(pieces.join(""), TOOLS);
      assert.ok(calls === undefined || calls.every(({ tool }) => TOOLS.has(tool)));
      readBrokenCall(pieces.join(""), TOOLS);
    }),
  );
});

test("arguments come back as they went in", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (input) => {
      const [call] = readCalls(JSON.stringify({ name: "shell", arguments: input }), TOOLS) ?? [];
      assert.deepEqual(JSON.parse(call?.input ?? "null"), JSON.parse(JSON.stringify(input)));
    }),
  );
});
