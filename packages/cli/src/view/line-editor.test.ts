import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
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

test("keys at the start of a text that begins with an empty line neither double the break nor leave the line", () => {
  const start = `${ESC}\rabc${ESC}[A`;
  assert.equal(typed(start), "|\nabc");
  assert.equal(typed(`${start}\u0015`), "|\nabc", "there is nothing to erase before the cursor");
  assert.equal(typed(`${start}\u0001`), "|\nabc");
  assert.equal(typed(`${start}\u000b`), "|\nabc", "the break is not a part of the line");
  assert.equal(typed(`${start}${ESC}[A`, { history: ["before"] }), "before|", "the line above it is an earlier text");
});

test("arrows between lines never put the cursor within a letter", () => {
  assert.equal(typed(`😀x${ESC}\rab${ESC}[D${ESC}[A-`), "-|😀x\nab");
  assert.equal(typed(`ab${ESC}\r😀x${ESC}[A${ESC}[H${ESC}[C${ESC}[B-`), "ab\n-|😀x");
  assert.equal(typed(`abcdef${ESC}\r👩‍👩‍👧${ESC}[A${ESC}[D${ESC}[B-`), "abcdef\n-|👩‍👩‍👧");
});

test("a word is erased at once behind a very long paste, whatever the paste holds", () => {
  for (const part of ["x", " ", "x ", "\n"]) {
    const pasted = part.repeat(100_000);
    const editor = new LineEditor({ prefill: `${pasted}|end` });
    assert.equal(editor.press({ name: "erase-word" }), true);
    assert.equal(editor.state.text, part === "x" ? "" : pasted);
  }
});

test("a key that changes nothing is left to others", () => {
  const editor = new LineEditor({ prefill: "ab" });
  for (const name of ["right", "end", "delete", "erase-end", "down", "up", "tab", "escape", "other"] as const)
    assert.equal(editor.press({ name }), false, name);
  assert.deepEqual(editor.state, { text: "ab", at: 2 });
  assert.equal(editor.press({ name: "left" }), true);
});

test("a completion replaces what was begun before the cursor and keeps what is behind it", () => {
  const editor = new LineEditor({ prefill: "see @re now" });
  for (let back = 0; back < 4; back += 1) editor.press({ name: "left" });
  editor.replace(5, "readme.md");
  assert.deepEqual(editor.state, { text: "see @readme.md now", at: 14 });
});

test("a text that was cleared begins anew, with the newest of the earlier ones next", () => {
  const editor = new LineEditor({ history: ["second", "first"] });
  editor.press({ name: "up" });
  editor.press({ name: "up" });
  assert.equal(editor.state.text, "first");
  editor.clear();
  assert.deepEqual(editor.state, { text: "", at: 0 });
  editor.press({ name: "up" });
  assert.equal(editor.state.text, "second");
});

test("a backslash within the text is no line break", () => {
  const editor = new LineEditor({ prefill: "a\\" });
  editor.press({ name: "left" });
  assert.equal(editor.endsWithEnter(), true, "the cursor is before the backslash");
  assert.deepEqual(editor.state, { text: "a\\", at: 1 });
});

test("whatever is pressed, the cursor stays at the border of a letter and what is typed is kept", () => {
  const names = [
    "newline",
    "left",
    "right",
    "word-left",
    "word-right",
    "home",
    "end",
    "backspace",
    "delete",
    "erase-word",
    "erase-line",
    "erase-end",
    "up",
    "down",
  ] as const;
  const key: fc.Arbitrary<Key> = fc.oneof(
    fc.constantFrom(...names).map((name) => ({ name })),
    fc.constantFrom("a", "é", "😀", "👨‍👩‍👧", " ", "b c", "one\ntwo").map((text) => ({ name: "text" as const, text })),
  );
  const segmenter = new Intl.Segmenter();
  fc.assert(
    fc.property(fc.array(key, { maxLength: 40 }), (keys) => {
      const editor = new LineEditor({ history: ["é😀 x\ny", "older"] });
      for (const one of keys) {
        const { text: before, at: was } = editor.state;
        const hasChanged = editor.press(one);
        const { text, at } = editor.state;
        assert.equal(hasChanged, text !== before || at !== was);
        assert.ok(at >= 0 && at <= text.length);
        const isBorder = at === text.length || segmenter.segment(text).containing(at)?.index === at;
        assert.ok(isBorder, `${one.name}: ${at} is within a letter of ${JSON.stringify(text)}`);
        if (one.text !== undefined) assert.equal(text, before.slice(0, was) + one.text + before.slice(was));
        if (/^erase|^backspace$|^delete$/.test(one.name)) assert.ok(text.length <= before.length, one.name);
      }
    }),
  );
});
