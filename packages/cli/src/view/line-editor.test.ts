import assert from "node:assert/strict";
import { test } from "node:test";
import { KeyReader } from "./keys.ts";
import type { Key } from "./keys.ts";
import { LineEditor } from "./line-editor.ts";

const ESC = "\u001b";
const named = (keys: readonly Key[]): readonly string[] => keys.map(({ name, text }) => text ?? name);

/** The text after these keys, with a bar where the cursor is. */
function typed(keys: string, about: ConstructorParameters<typeof LineEditor>[0] = {}): string {
  const editor = new LineEditor(about);
  for (const key of new KeyReader().read(keys)) if (key.name !== "enter" || editor.endsWithEnter()) editor.press(key);
  const { text, at } = editor.state;
  return `${text.slice(0, at)}|${text.slice(at)}`;
}

test("keys are told apart from text, and a paste is one text however it comes in pieces", () => {
  const reader = new KeyReader();
  assert.deepEqual(named(reader.read(`ab${ESC}[Dc\r`)), ["ab", "left", "c", "enter"]);
  assert.deepEqual(named(reader.read(`${ESC}\r${ESC}[13;2u${ESC}[99z`)), ["newline", "newline", "other"]);
  assert.deepEqual(named(reader.read(`x${ESC}[200~one\r\ntw`)), ["x"]);
  assert.deepEqual(named(reader.read(`o\r${ESC}[201~y`)), ["one\ntwo\n", "y"]);
  assert.deepEqual(named(reader.read("first\nsecond\n")), ["first\nsecond", "enter"]);
  assert.deepEqual(named(reader.read("\u0003\u0004\n")), ["interrupt", "leave", "newline"]);
});

test("a text is edited by letters, words and lines, also where a letter is several characters", () => {
  assert.equal(typed(`one two${ESC}b`), "one |two");
  assert.equal(typed("one two\u0017"), "one |");
  assert.equal(typed("one two\u0001x"), "x|one two");
  assert.equal(typed("one two\u0001\u000b"), "|");
  assert.equal(typed("a👩‍👩‍👧\u007f"), "a|");
  assert.equal(typed(`e\u0301${ESC}[Dx`), "x|e\u0301");
  assert.equal(typed(`one${ESC}[D${ESC}[3~`), "on|");
  assert.equal(typed(`${ESC}[1;5Dab cd${ESC}[1;5D${ESC}[1;5C!`), "ab cd!|");
});

test("a line break is made by Alt-Enter or a backslash before Enter, and arrows move between lines", () => {
  assert.equal(typed(`one${ESC}\rtwo`), "one\ntwo|");
  const editor = new LineEditor({ prefill: "one\\" });
  assert.deepEqual([editor.endsWithEnter(), editor.state.text], [false, "one\n"]);
  assert.equal(typed(`one${ESC}\rtwo${ESC}[A${ESC}[Ax`, { history: ["before"] }), "before|x".replace("|x", "x|"));
  assert.equal(typed(`one${ESC}\rtwo${ESC}[A-`), "one-|\ntwo");
  assert.equal(typed(`one${ESC}\rtwo${ESC}[H${ESC}[A${ESC}[B-`), "one\n-|two");
});

test("arrows bring back earlier texts, and the one that was begun", () => {
  const history = ["second", "first"];
  assert.equal(typed(`dra${ESC}[A`, { history }), "second|");
  assert.equal(typed(`dra${ESC}[A${ESC}[A${ESC}[A`, { history }), "first|");
  assert.equal(typed(`dra${ESC}[A${ESC}[A${ESC}[B${ESC}[B${ESC}[B`, { history }), "dra|");
});
