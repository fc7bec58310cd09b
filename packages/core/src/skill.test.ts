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
