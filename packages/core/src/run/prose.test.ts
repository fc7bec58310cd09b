import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ProseReader, Trimmer } from "./prose.ts";
import type { ReplyReading } from "./prose.ts";

const PLAN = '{"type":"plan","steps":["look"]}';

function read(pieces: readonly string[], reading: ReplyReading): { text: string; lines: readonly string[] } {
  const reader = new ProseReader(reading);
  const text = pieces.map((piece) => reader.push(piece)).join("") + reader.end();
  return { text, lines: reader.lines };
}

test("words are given as they come, and the white space around them when words follow it", () => {
  const trimmer = new Trimmer();
  assert.equal(trimmer.push(" \n"), "");
  assert.equal(trimmer.push("  Let me"), "Let me");
  assert.equal(trimmer.push(" "), "");
  assert.equal(trimmer.push("look.\n\n"), " look.");
  assert.equal(trimmer.push(" So."), "\n\n So.");
});

test("a line for the brain is held until it is complete and then taken out; the words behind it flow at once", () => {
  const reader = new ProseReader("lines");
  assert.equal(reader.push(`I look.\n  ${PLAN.slice(0, 9)}`), "I look.\n");
  assert.equal(reader.push(PLAN.slice(9)), "");
  assert.equal(reader.push("\nAnd"), "And");
  assert.equal(reader.push(" then"), " then");
  assert.deepEqual(reader.lines, [PLAN]);
});

test("a brace is held to the end of its line, in a fence as elsewhere, and one within a line is not", () => {
  const reader = new ProseReader("lines");
  assert.equal(reader.push("use {name}:\n```js\n"), "use {name}:\n");
  assert.equal(reader.push("{ a: 1"), "");
  assert.equal(reader.push(" }\nconst b"), "```js\n{ a: 1 }\nconst b");
  assert.equal(reader.push(" = 2;\n{"), " = 2;\n");
  assert.equal(reader.push("}\n```\nSo."), "{}\n```\nSo.");
});

test("a fence around nothing but lines for the brain goes with them, and no other does", () => {
  const fenced = `Now:\n\`\`\`json\n${PLAN}\n\`\`\``;
  assert.deepEqual(read([fenced], "lines"), { text: "Now:\n", lines: [PLAN] });
  assert.deepEqual(read([`${fenced}\nmore`], "lines"), { text: "Now:\nmore", lines: [PLAN] });
  assert.deepEqual(read([`Now:\n\`\`\`json\n${PLAN}`], "lines"), { text: "Now:\n", lines: [PLAN] });
  for (const text of ["```\na\n```\n\n```\nb\n```", "```\n```", "`a` and ``b``", "a\n```", "```js\n```json\n```"])
    assert.deepEqual(read([text], "lines"), { text, lines: [] });
});

test("of a model that calls tools natively, such lines count where it writes nothing else, and are prose elsewhere", () => {
  assert.deepEqual(read([PLAN, "\n\n", PLAN], "native"), { text: "", lines: [PLAN, PLAN] });
  const example = `${PLAN}\nis how it is written:\n${PLAN}\n\`\`\`\n${PLAN}\n\`\`\``;
  assert.deepEqual(read([example], "native"), { text: example, lines: [] });
  const reader = new ProseReader("native");
  assert.equal(reader.push(`${PLAN}\n`), "");
  assert.equal(reader.push("is a plan:\n{"), `${PLAN}\nis a plan:\n{`);
  assert.equal(reader.push('"type"'), '"type"');
});

test("a run without tools has no lines for the brain", () => {
  const reader = new ProseReader("prose");
  assert.equal(reader.push('{"type":'), '{"type":');
  assert.equal(reader.push('"done"}\n'), '"done"}\n');
});

test("however a text is cut into pieces, it is read as when it comes whole", () => {
  const line = fc.constantFrom(
    "So it is.",
    "  indented",
    "",
    "  ",
    "a { b",
    '{"a":1}',
    PLAN,
    "```",
    "```json",
    "``",
    "é ✓ ",
  );
  const text = fc.array(line, { maxLength: 9 }).map((lines) => lines.join("\n"));
  const reading = fc.constantFrom<ReplyReading>("prose", "native", "lines");
  fc.assert(
    fc.property(text, fc.array(fc.nat(99), { maxLength: 9 }), reading, (whole, places, how) => {
      const cuts = [0, ...places.map((place) => Math.min(place, whole.length)).sort((a, b) => a - b), whole.length];
      const pieces = cuts.slice(1).map((cut, index) => whole.slice(cuts[index], cut));
      const taken = read(pieces, how);
      assert.deepEqual(taken, read([whole], how));
      if (taken.lines.length === 0) assert.equal(taken.text.trim(), whole.trim());
    }),
    { numRuns: 2000 },
  );
});
