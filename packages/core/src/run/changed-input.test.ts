import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { JsonObject } from "../json.ts";
import { changeInput } from "./changed-input.ts";

const action = (input: JsonObject) => ({ id: "act_1", tool: "command", input, callId: "c" });

test("named fields replace those of the model, and null leaves one out", () => {
  const input = { command: "rm", args: ["-r", "a"], timeout_ms: 5 };
  assert.deepEqual(changeInput(action(input), { args: ["a"], timeout_ms: null }), { command: "rm", args: ["a"] });
  assert.deepEqual(changeInput(action(input), {}), input);
  assert.deepEqual(changeInput(action(input), '{"args":["b"]}'), { ...input, args: ["b"] });
});

test("words are a command line: one text for a shell, words with quotes for a program", () => {
  assert.deepEqual(changeInput(action({ command: "rm -r a" }), "ls -l | head"), { command: "ls -l | head" });
  const program = action({ command: "rm", args: ["a"] });
  assert.deepEqual(changeInput(program, `cp 'a b' "c \\"d\\"" e\\ f ''`), {
    command: "cp",
    args: ["a b", 'c "d"', "e f", ""],
  });
  assert.deepEqual(changeInput(program, "{not json"), { command: "{not", args: ["json"] });
});

test("what changes nothing that exists is refused with what to do", () => {
  assert.throws(() => changeInput(action({ file_path: "a" }), "some words"), {
    code: "BAD_ARGUMENTS",
    message: /JSON object/,
  });
  for (const open of ["cp 'a", 'cp "a', "cp a\\"])
    assert.throws(() => changeInput(action({ command: "rm", args: [] }), open), { code: "BAD_ARGUMENTS" }, open);
  assert.throws(() => changeInput(action({ command: "rm", args: [] }), "   "), { code: "BAD_ARGUMENTS" });
});

test("no change reaches the prototype, and the model's own input stays as it is", () => {
  const input = { command: "ls" };
  const changed = changeInput(action(input), '{"__proto__":{"isAdmin":true},"command":"pwd"}');
  assert.equal((changed as { isAdmin?: unknown }).isAdmin, undefined);
  assert.equal(changed["command"], "pwd");
  assert.deepEqual(input, { command: "ls" });
});

test("any words quoted for a shell are the same words again", () => {
  const quote = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 10 }), { minLength: 1, maxLength: 6 }), (words) => {
      const { command, args } = changeInput(action({ command: "x", args: [] }), words.map(quote).join(" "));
      assert.deepEqual([command, ...(args as string[])], words);
    }),
  );
});
