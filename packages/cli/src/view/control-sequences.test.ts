/* oxlint-disable no-control-regex -- control characters are what these tests are about */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it, test } from "node:test";
import fc from "fast-check";
import { columnsOf } from "./columns.ts";
import { keepSigns, markControl, markControls, toTerminal, withoutControls } from "./control-sequences.ts";

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

describe("signs on a terminal without UTF-8", () => {
  const SIGNS = "· … › • ─ │ → “ ” ’ – —";
  const before = process.env["LC_ALL"];
  beforeEach(() => (process.env["LC_ALL"] = "C"));
  afterEach(() => {
    if (before === undefined) delete process.env["LC_ALL"];
    else process.env["LC_ALL"] = before;
  });

  it("are typed where they are ours, and to the letter where others wrote what is approved", () => {
    assert.match(toTerminal(SIGNS), /^[ -~]+$/);
    assert.equal(toTerminal(keepSigns(SIGNS)), SIGNS);
    assert.equal(toTerminal(`· ${keepSigns("echo “a; rm -rf b”")} …`), "- echo “a; rm -rf b” ...");
  });

  it("that are kept take the columns that they have, and none on a terminal with UTF-8 differs", () => {
    assert.equal(columnsOf(keepSigns(SIGNS)), columnsOf(SIGNS));
    assert.equal(withoutControls(keepSigns(SIGNS)), SIGNS);
    process.env["LC_ALL"] = "C.UTF-8";
    assert.equal(toTerminal(keepSigns(SIGNS)), SIGNS);
    assert.equal(toTerminal(SIGNS), SIGNS);
  });

  it("of any text are kept as they are, between our own ones and our colours", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...Array.from("a“”’–—·…›→ \u001b[")) }), (text) => {
        const foreign = text.replaceAll(/[\u001b[]/g, "");
        assert.equal(toTerminal(keepSigns(foreign)), foreign);
        assert.ok(toTerminal(`${markControl("1m")}·${keepSigns(foreign)}·`).endsWith(`-${foreign}-`));
        assert.doesNotMatch(toTerminal(keepSigns(text)), /\u001b/);
      }),
    );
  });
});
