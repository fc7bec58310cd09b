import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import fc from "fast-check";
import { commandLine, jsonLine, oneLine, printable, quoteWord } from "./printable.ts";

test("control sequences are gone whole, and the words around them stay", () => {
  const hostile = [
    ["\u001b[31mred\u001b[0m", "red"],
    ["\u001b]0;new title\u0007after", "after"],
    ["\u001b]8;;http://evil\u001b\\link\u001b]8;;\u001b\\", "link"],
    ["\u001b]52;c;cm0gLXJmIC8=\u0007", ""],
    ["\u001bP1;2|evil\u001b\\after", "after"],
    ["a\u001b[2J\u001b[Hb", "ab"],
    ["\u009b31mred", "red"],
    ["\u001bcreset", "reset"],
    ["bell\u0007 back\b\b\b del\u007f", "bell back del"],
    ["safe\u202Egnp.exe", "safegnp.exe"],
    ["over\rwrite", "overwrite"],
    ["\u001b[", ""],
    ["\u001b", ""],
  ] as const;
  for (const [text, shown] of hostile) assert.equal(printable(text), shown, JSON.stringify(text));
});

test("lines, tabs and every script stay as they are", () => {
  const text = "one\n\ttwo ação 日本語 🐰 é\n";
  assert.equal(printable(text), text);
});

test("nothing that a terminal obeys is left in any text", () => {
  const nasty = fc.string({
    unit: fc.constantFrom("\u001b", "[", "]", "\u009b", "\u0007", "m", "1", ";", "\n", "P", "\\", "é"),
  });
  fc.assert(
    fc.property(fc.oneof(nasty, fc.string({ unit: "binary" })), (text) => {
      // oxlint-disable-next-line no-control-regex -- control characters are what this is about
      assert.doesNotMatch(printable(text), /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    }),
  );
});

test("a line is cut to its length and says so", () => {
  assert.equal(oneLine("a\n  b\tc", 20), "a b c");
  assert.equal(oneLine("abcdef", 4), "abc…");
  assert.equal(oneLine("🐰🐰🐰🐰", 3), "🐰🐰…");
  assert.equal(oneLine("🐰🐰🐰", 3), "🐰🐰🐰");
  assert.equal(oneLine("abcd", 4), "abcd");
  // What follows the characters that are looked at is never dropped without a sign.
  assert.equal(oneLine(`abcd${" ".repeat(12)}e`, 4), "abc…");
});

test("a quoted word is what a shell gives back, byte for byte", () => {
  const words = [
    "plain",
    "",
    "two words",
    "it's",
    "$(rm -rf /)",
    "new\nline",
    "\u001b[2J",
    "tab\there",
    "back\\slash",
    "a'\nb\\",
    "\u202Egnp",
  ];
  const given = execFileSync("bash", ["--norc", "-c", `printf '%s\\0' ${commandLine(words)}`], {
    env: { LC_ALL: "C.UTF-8" },
  });
  assert.deepEqual(given.toString("utf8").split("\0").slice(0, -1), words);
});

test("a quoted word hides nothing", () => {
  assert.equal(quoteWord("a\u202eb"), String.raw`$'a\u202eb'`);
  assert.equal(quoteWord("a\u00a0b"), String.raw`$'a\u00a0b'`);
  assert.equal(quoteWord("\u{e0041}"), String.raw`$'\U000e0041'`);
  assert.equal(quoteWord("x\r"), String.raw`$'x\r'`);
});

test("a line of JSON reads back as the same value and holds nothing that a terminal obeys", () => {
  const value = { text: "a\u009b31mb\u202ec\u2028d\u007f\u001b[2J" };
  const line = jsonLine(value);
  assert.deepEqual(JSON.parse(line), value);
  assert.match(line, /^[ -~]*\n$/);
});
