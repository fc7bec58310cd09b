/* oxlint-disable no-control-regex -- control characters are what these tests are about */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { columnsOf } from "./columns.ts";
import { markControl, markControls, toTerminal, withoutControls } from "./control-sequences.ts";

test("only our own marks become control sequences", () => {
  assert.match(toTerminal(`${markControl("31m")}red${markControl("0m")}`), /^\u001b\[31mred\u001b\[0m$/);
  for (const hostile of [
    "\u001b[2J",
    "\u009b2J",
    "\u001b]52;c;aGk=\u0007",
    "\ufdd02J\ufdd1",
    "\ufdd000000000000000002J\ufdd1",
  ])
    assert.doesNotMatch(toTerminal(hostile), /[\u001b\u009b\u0007]/, JSON.stringify(hostile));
});

test("no text of others makes a control sequence, also between our colours", () => {
  const hostile = fc.string({
    unit: fc.constantFrom("\u001b", "\u009b", "[", "2J", "\u0007", "\ufdd0", "\ufdd1", "31m", "?25l", "a", "\r", "\b"),
    maxLength: 30,
  });
  fc.assert(
    fc.property(hostile, (text) => {
      const shown = toTerminal(`${markControl("32m")}${text}${markControl("0m")}`);
      const [first, ...others] = shown.split("\u001b");
      assert.equal(first, "");
      assert.equal(others.length, 2, shown);
      assert.doesNotMatch(shown, /[\u0000-\u0008\u000b-\u001a\u007f-\u009f]/);
    }),
  );
});

test("marks take no column and can be taken out again", () => {
  const painted = `${markControls("\u001b[1m\u001b[31m")}word${markControl("0m")}`;
  assert.equal(withoutControls(painted), "word");
  assert.equal(columnsOf(painted), 4);
  assert.equal(toTerminal(painted), "\u001b[1m\u001b[31mword\u001b[0m");
});
