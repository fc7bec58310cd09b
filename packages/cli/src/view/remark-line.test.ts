import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { columnsOf } from "./columns.ts";
import { openRemarkLine } from "./remark-line.ts";
import { seatPerson } from "./shown-terminal.fixture.ts";
import { terminalInput } from "./terminal-input.ts";

const ESC = "\u001b";

/** A line that a person writes to a run at work, and what it said so far. */
function open(t: TestContext) {
  const person = seatPerson(t);
  const said: string[] = [];
  let drawn = 0;
  const line = openRemarkLine(
    (text) => said.push(text),
    () => (drawn += 1),
  );
  return { line, said, person, drawn: () => drawn };
}

test("a line is said at Enter without the blanks around it, and the next one begins empty", async (t) => {
  const { line, said, person, drawn } = open(t);
  assert.equal(line.row(80), undefined);
  await person.strike("  use ", "the other disk ");
  assert.equal(line.row(80), "› use the other disk");
  await person.strike("\r");
  assert.deepEqual(said, ["use the other disk"]);
  assert.equal(line.row(80), undefined);
  assert.ok(drawn() >= 3, "each key draws the row again");
  assert.equal(line.end(), "");
  assert.equal(person.isRaw, false);
});

test("an empty line says nothing, and a backslash before Enter goes on with the next one", async (t) => {
  const { line, said, person } = open(t);
  await person.strike("\r", "   ", "\r", "one\\", "\r", "two");
  assert.deepEqual(said, []);
  assert.equal(line.row(80), "› one ⏎ two");
  await person.strike("\r");
  assert.deepEqual(said, ["one\ntwo"]);
  line.end();
});

test("what is written and not sent is given back at the end of the run", async (t) => {
  const { line, said, person } = open(t);
  await person.strike("half of a sen");
  assert.equal(terminalInput.isWriting, true);
  assert.equal(line.end(), "half of a sen");
  assert.deepEqual(said, []);
  assert.equal(terminalInput.isWriting, false);
});

test("Ctrl-C is a signal, and what is written stays", async (t) => {
  const { line, person } = open(t);
  const struck = once(process, "SIGINT");
  await person.strike("wait", "\u0003");
  await struck;
  assert.equal(line.end(), "wait");
});

test("a row that is too long shows its end, in any script, and is never wider than the terminal", async (t) => {
  const { line, person } = open(t);
  await person.strike(`${ESC}[200~${"日本語の文 ".repeat(20)}${ESC}[201~`, "終");
  for (const columns of [8, 20, 40, 80, 200]) {
    const row = line.row(columns) ?? "";
    assert.ok(columnsOf(row) < columns, `${columnsOf(row)} in ${columns}: ${row}`);
    assert.ok(row.startsWith("› …") && row.endsWith("終"), row);
  }
  line.end();
});

test("a row is not cut within a letter, and a terminal of almost no width gets a mark", async (t) => {
  const { line, person } = open(t);
  await person.strike("😀".repeat(30));
  for (let columns = 1; columns < 40; columns += 1) {
    const row = line.row(columns) ?? "";
    assert.ok(row.isWellFormed(), row);
    assert.ok(columnsOf(row) <= Math.max(3, columns), `${columnsOf(row)} in ${columns}`);
  }
  assert.equal(line.row(1), "› …");
  line.end();
});

test("control characters of a paste are not in the row", async (t) => {
  const { line, person } = open(t);
  await person.strike(`${ESC}[200~a${ESC}[2J\u0000\u202eb${ESC}[201~`);
  assert.equal(line.row(80), "› ab");
  line.end();
});

test("line breaks of a long text are all shown as signs, none is lost", async (t) => {
  const { line, person } = open(t);
  await person.strike(`${ESC}[200~${"a\n".repeat(50)}b${ESC}[201~`);
  assert.equal(line.row(1000), `› ${"a ⏎ ".repeat(50)}b`);
  line.end();
});
