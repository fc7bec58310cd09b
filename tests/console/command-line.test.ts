import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { wordsOfLine } from "../../packages/console/src/run/command-line.ts";

test("a command line is its words; quotes hold one together, and nothing else has a meaning", () => {
  const lines: readonly (readonly [string, readonly string[] | undefined])[] = [
    ["", []],
    ["   ", []],
    ["ls -la /tmp", ["ls", "-la", "/tmp"]],
    ["  ls\t-la\n/tmp ", ["ls", "-la", "/tmp"]],
    ['echo "two words"', ["echo", "two words"]],
    ["echo 'it is \"so\"'", ["echo", 'it is "so"']],
    [`echo "it's"`, ["echo", "it's"]],
    ['echo ""', ["echo", ""]],
    ["''", [""]],
    ['a"b c"d', ["ab cd"]],
    [`--name='x y'"z"`, ["--name=x yz"]],
    ['"a""b"', ["ab"]],
    ['"a" "b"', ["a", "b"]],
    ["echo $HOME `id` a\\ b ; rm *", ["echo", "$HOME", "`id`", "a\\", "b", ";", "rm", "*"]],
    ['echo "open', undefined],
    ["echo 'open", undefined],
    ['"', undefined],
    ["a'", undefined],
    ["日本 😀", ["日本", "😀"]],
  ];
  for (const [line, words] of lines) assert.deepEqual(wordsOfLine(line), words, JSON.stringify(line));
});

test("words that are quoted come back as they were", () => {
  const word = fc.string({ unit: fc.constantFrom("a", " ", "\t", "$", "\\", "'", "😀", "-", "*") });
  fc.assert(
    fc.property(fc.array(word, { maxLength: 6 }), (words) => {
      assert.deepEqual(wordsOfLine(words.map((one) => `"${one}"`).join(" ")), words);
      const plain = words.map((one) => one.replaceAll("'", ""));
      assert.deepEqual(wordsOfLine(plain.map((one) => `'${one}'`).join("  ")), plain);
    }),
  );
});

test("any line at all is read, and a line without quotes is its words between blanks", () => {
  fc.assert(
    fc.property(fc.string(), (line) => {
      const words = wordsOfLine(line);
      if (!/["']/.test(line))
        assert.deepEqual(
          words,
          line.split(/\s+/).filter((word) => word !== ""),
        );
    }),
  );
});
