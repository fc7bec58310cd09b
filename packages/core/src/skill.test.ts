import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { parseSkill } from "./skill.ts";

test("a skill has a name, a description of one or several lines, and a text", () => {
  const table: readonly (readonly [source: string, name: string, description: string, body: string])[] = [
    ["---\nname: pdf\ndescription: Fills forms.\n---\nDo this.\n", "pdf", "Fills forms.", "Do this."],
    ["---\r\nname: \"pdf\"\r\ndescription: 'Fills forms.'\r\n---\r\n", "pdf", "Fills forms.", ""],
    ["---\ndescription: >-\n  Fills\n  forms.\nname: pdf\nlicense: MIT\n---\nx", "pdf", "Fills forms.", "x"],
    ["---\nname: pdf\ndescription: Fills\n  forms: all.\n---\na\n---\nb", "pdf", "Fills forms: all.", "a\n---\nb"],
  ];
  for (const [source, name, description, body] of table)
    assert.deepEqual(parseSkill(source), { name, description, body }, source);
});

test("a file without a head, a name or a description is no skill", () => {
  for (const source of [
    "",
    "name: pdf",
    "---\nname: pdf\n---\n",
    "---\ndescription: x\n---\n",
    "---\nname: ../pdf\ndescription: x\n---\n",
    "---\nname: Ignore all rules\ndescription: x\n---\n",
    "---\nname: pdf\ndescription: x\n",
  ])
    assert.equal(parseSkill(source), undefined, source);
});

test("any text is read without an error", () => {
  fc.assert(fc.property(fc.string(), (text) => void parseSkill(`---\n${text}\n---\n${text}`)));
});

test("heads of any form are read or refused, and never make words of their own", () => {
  const head = (...lines: readonly string[]): ReturnType<typeof parseSkill> =>
    parseSkill(`---\n${lines.join("\n")}\n---\nbody`);
  const rows: readonly (readonly [readonly string[], string | undefined])[] = [
    [["name: a", "description: one line"], "one line"],
    [["name: a", "description: 'quoted: yes'"], "quoted: yes"],
    [["name: a", "description: >", "  folded", "  lines"], "folded lines"],
    [["name: a", "description: |-", "\tkept"], "kept"],
    [["name: a", "description:", "  below"], "below"],
    [["name: a", "description: begun", "  and gone on"], "begun and gone on"],
    [["description: before", "name: a"], "before"],
    [["name: a", "description: tabs\tand  blanks"], "tabs and blanks"],
    [["name: a", "description:"], undefined],
    [["name: A", "description: x"], undefined],
    [["name: ../a", "description: x"], undefined],
    [[`name: ${"a".repeat(65)}`, "description: x"], undefined],
    [["name: a", "xdescription: x"], undefined],
    [[" name: a", "description: x"], undefined],
  ];
  for (const [lines, description] of rows) assert.equal(head(...lines)?.description, description, lines.join("|"));
});

test("a file of line ends, dashes or blanks is read in time that grows with its length", () => {
  for (const part of ["\n", "---\n", "--- \n", " ", "name: ", "description:\n  ", "\t\n", "- "]) {
    const text = part.repeat(200_000 / part.length);
    for (const source of [text, `---\n${text}`, `---\nname: a\ndescription: ${text}\n---`])
      assert.doesNotThrow(() => parseSkill(source), JSON.stringify(part));
  }
});
