/* oxlint-disable no-control-regex -- control characters are what these tests are about */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { WriteStream } from "node:tty";
import { LiveArea } from "./live-area.ts";

/** A terminal of some size that keeps what is written to it. */
class Terminal {
  columns = 20;
  rows = 6;
  readonly written: string[] = [];

  readonly write = (text: string): boolean => this.written.push(text) > 0;

  area(): LiveArea {
    return new LiveArea(this as unknown as WriteStream);
  }

  /** How many rows up the last piece moved the cursor before it erased what is below. */
  erased(): number {
    return Number(/\u001b\[(\d+)F\u001b\[J/.exec(this.written.at(-1) ?? "")?.[1] ?? 0);
  }
}

test("rows are drawn in place of the last ones, and cleared once", () => {
  const terminal = new Terminal();
  const area = terminal.area();
  area.draw(["one", "two"]);
  assert.equal(terminal.erased(), 0);
  area.draw(["three"]);
  assert.equal(terminal.erased(), 2);
  area.clear();
  assert.equal(terminal.erased(), 1);
  const pieces = terminal.written.length;
  area.clear();
  area.close();
  assert.equal(terminal.written.length, pieces);
});

test("text that stays is printed above the rows, which are erased first", () => {
  const terminal = new Terminal();
  const area = terminal.area();
  area.draw(["working"]);
  area.print("done");
  assert.match(terminal.written.join(""), /working\n.*\u001b\[1F\u001b\[Jdone\n$/s);
  area.close();
});

test("no more rows are drawn than the window can erase", () => {
  const terminal = new Terminal();
  const area = terminal.area();
  area.draw(Array.from({ length: 50 }, (_, at) => `row ${at}`));
  assert.equal((terminal.written.at(-1)?.match(/row \d+/g) ?? []).length, terminal.rows - 1);
  assert.match(terminal.written.at(-1) ?? "", /row 49/);
  area.clear();
  assert.equal(terminal.erased(), terminal.rows - 1);
  area.close();
});

test("a terminal that became narrower has broken wide rows, and all of them are erased", () => {
  const terminal = new Terminal();
  const area = terminal.area();
  area.draw(["x".repeat(50), "short"]);
  terminal.columns = 7;
  area.clear();
  // The first row was clipped at 20 columns: 3 rows of 7, and one for the short line.
  assert.equal(terminal.erased(), 4);
  area.close();
});

test("a terminal without a size has the usual one", () => {
  const terminal = new Terminal();
  terminal.columns = 0;
  terminal.rows = 0;
  const area = terminal.area();
  area.draw(Array.from({ length: 30 }, () => "x"));
  area.clear();
  assert.equal(terminal.erased(), 23);
  area.close();
});

test("an area that is closed leaves no listener on the process", () => {
  const before = process.listenerCount("exit");
  const areas = Array.from({ length: 5 }, () => new Terminal().area());
  assert.equal(process.listenerCount("exit"), before + 5);
  for (const area of areas) area.close();
  assert.equal(process.listenerCount("exit"), before);
});
