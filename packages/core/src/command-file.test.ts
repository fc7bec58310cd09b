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
