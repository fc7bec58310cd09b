import assert from "node:assert/strict";
import { test } from "node:test";
import { fillCommand, hiddenCharacters, parseCommandFile } from "./command-file.ts";

test("a command has the description and hint of its head, or its first line, and nothing else of its head counts", () => {
  const file =
    '---\ndescription: "Reviews a change"\nargument-hint: [branch]\nallowed-tools: Bash(*)\nmodel: x\n---\nReview $1.\n';
  assert.deepEqual(parseCommandFile(file), { description: "Reviews a change", hint: "[branch]", body: "Review $1." });
  assert.deepEqual(parseCommandFile("# Tidy up\n\nDo it."), { description: "Tidy up", body: "# Tidy up\n\nDo it." });
  for (const empty of ["", "  \n", "---\ndescription: x\n---\n"]) assert.equal(parseCommandFile(empty), undefined);
});

test("what is typed behind the name fills the places, each as it is, or stands below the words", () => {
  assert.equal(fillCommand({ body: "Fix $1 in $2: $ARGUMENTS." }, "bug  api.ts"), "Fix bug in api.ts: bug  api.ts.");
  assert.equal(fillCommand({ body: "Fix $1$2." }, "$ARGUMENTS $1"), "Fix $ARGUMENTS$1.");
  assert.equal(fillCommand({ body: "It costs $10." }, ""), "It costs $10.");
  assert.equal(fillCommand({ body: "Look." }, "here"), "Look.\n\nhere");
  assert.equal(fillCommand({ body: "Fix $1." }, ""), "Fix .");
});

test("characters that a person cannot see are found, and those of an emoji are none", () => {
  assert.equal(hiddenCharacters("Review it: çãé → 日本\n\tand 👩‍💻 ✅️."), undefined);
  assert.equal(hiddenCharacters("Do it\u200b\u{E0041}now"), "\\u200b \\U000e0041");
  assert.ok(hiddenCharacters("a\u202Eb") !== undefined);
  assert.ok(hiddenCharacters("a\u001b[2Kb") !== undefined);
});

test("what was typed fills every place once, and stands for itself whatever it holds", () => {
  const rows: readonly (readonly [body: string, typed: string, filled: string])[] = [
    ["do $ARGUMENTS", "a b", "do a b"],
    ["$2 then $1", "a b", "b then a"],
    ["$1$1", "a", "aa"],
    ["$1", "$ARGUMENTS", "$ARGUMENTS"],
    ["$1", "$& $1 $$", "$&"],
    ["$ARGUMENTS", "$& $` $'", "$& $` $'"],
    ["$10 costs $1", "a", "$10 costs a"],
    ["$3", "a b", ""],
    ["$ARGUMENTSX", "a", "$ARGUMENTSX\n\na"],
    ["no place", "typed", "no place\n\ntyped"],
    ["no place", "", "no place"],
    ["$0", "a", "$0\n\na"],
    ["$1", "  a\u00a0b ", "a"],
  ];
  for (const [body, typed, filled] of rows) assert.equal(fillCommand({ body }, typed), filled, `${body} | ${typed}`);
});

test("hidden characters are named, and those that colour or join an emoji are not hidden", () => {
  assert.equal(hiddenCharacters("plain\ttext\n👩‍💻 ❤️"), undefined);
  assert.equal(hiddenCharacters("a\u200bb"), "\\u200b");
  assert.equal(hiddenCharacters("\u202eabc\u{e0041}"), "\\u202e \\U000e0041");
  assert.match(hiddenCharacters("\u0000".repeat(100)) ?? "", /^(?:\\x00 ){4}\\x00$/);
  assert.equal(hiddenCharacters("a\u200db"), "\\u200d");
});

test("a file of line ends, dashes or blanks is parsed in time that grows with its length", () => {
  for (const part of ["\n", "---\n", "--- \n", " ", "#", "description: ", '"']) {
    const text = part.repeat(200_000 / part.length);
    for (const source of [text, `---\n${text}`, `---\n${text}\n---\nbody`])
      assert.doesNotThrow(() => parseCommandFile(source), JSON.stringify(part));
  }
});
