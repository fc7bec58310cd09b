import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { WriteStream } from "node:tty";
import * as fc from "fast-check";
import { columnsOf } from "./columns.ts";
import { EditArea } from "./edit-area.ts";

const [TERM, LANG] = [process.env["TERM"], process.env["LANG"]];
const restore = (name: string, value: string | undefined): void => {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
};

beforeEach(() => {
  process.env["TERM"] = "xterm-256color";
  process.env["LANG"] = "C.UTF-8";
});

afterEach(() => {
  restore("TERM", TERM);
  restore("LANG", LANG);
});

// oxlint-disable-next-line no-control-regex -- control sequences are what an area writes
const OWN_SEQUENCES = /\u001b\[\d*[AGJ]/g;
const TAB_STOP = 8;

/** A terminal that carries out what is written to it, without a bound on its rows. */
class PlayedTerminal {
  readonly columns: number;
  readonly rows: number;
  #cells: string[][] = [[]];
  #row = 0;
  #column = 0;
  /** What was written. */
  written = "";

  constructor(columns: number, rows = 24) {
    [this.columns, this.rows] = [columns, rows];
  }

  get stream(): WriteStream {
    return this as unknown as WriteStream;
  }

  /** The rows as a person sees them, and the place of the cursor. */
  get screen(): readonly string[] {
    return this.#cells.map((row) =>
      Array.from(row, (cell) => cell ?? " ")
        .join("")
        .trimEnd(),
    );
  }

  get cursor(): readonly [row: number, column: number] {
    return [this.#row, this.#column];
  }

  write(text: string): boolean {
    this.written += text;
    for (let rest = text; rest !== "";) {
      // oxlint-disable-next-line no-control-regex -- control sequences are what a terminal carries out
      const [sequence, number = "", name] = /^\u001b\[([\d;?]*)([A-Za-z])/.exec(rest) ?? [];
      const letter = String.fromCodePoint(rest.codePointAt(0) ?? 0);
      if (sequence === undefined) this.#put(letter);
      else this.#control(name ?? "", Number(number || 1));
      rest = rest.slice((sequence ?? letter).length);
    }
    return true;
  }

  #control(name: string, number: number): void {
    if (name === "A") this.#row = Math.max(0, this.#row - number);
    else if (name === "G") this.#column = number - 1;
    else if (name === "J") {
      this.#cells = this.#cells.slice(0, this.#row + 1);
      this.#cells[this.#row] = (this.#cells[this.#row] ?? []).slice(0, this.#column);
    } else throw new Error(`The terminal does not know ${name}.`);
  }

  #put(letter: string): void {
    if (letter === "\n") {
      [this.#row, this.#column] = [this.#row + 1, 0];
      this.#cells[this.#row] ??= [];
      return;
    }
    if (letter === "\t") {
      this.#column = Math.min(this.columns - 1, (Math.floor(this.#column / TAB_STOP) + 1) * TAB_STOP);
      return;
    }
    const width = columnsOf(letter);
    if (this.#column + width > this.columns) throw new Error("A row is wider than the terminal.");
    const row = this.#cells[this.#row] ?? [];
    if (width === 0) row[this.#column - 1] = `${row[this.#column - 1] ?? ""}${letter}`;
    else row[this.#column] = letter;
    if (width === 2) row[this.#column + 1] = "";
    this.#column += width;
  }
}

/** An area on a terminal, with a text drawn in it; `|` is the cursor. */
function drawn(marked: string, terminal = new PlayedTerminal(20)) {
  const area = new EditArea(terminal.stream, "> ");
  const draw = (text: string): void => area.draw({ text: text.replace("|", ""), at: text.indexOf("|") });
  draw(marked);
  return { area, terminal, draw };
}

describe("an edited text on a terminal", () => {
  it("stands behind its prompt with the cursor at its place", () => {
    const { terminal, draw } = drawn("hello|");
    assert.deepEqual([terminal.screen, terminal.cursor], [["> hello"], [0, 7]]);
    draw("he|llo");
    assert.deepEqual([terminal.screen, terminal.cursor], [["> hello"], [0, 4]]);
    draw("|");
    assert.deepEqual([terminal.screen, terminal.cursor], [[">"], [0, 2]]);
  });

  it("has further lines below, as far in as the first one", () => {
    const { terminal, draw } = drawn("one\ntwo\n|three");
    assert.deepEqual(
      [terminal.screen, terminal.cursor],
      [
        ["> one", "  two", "  three"],
        [2, 2],
      ],
    );
    draw("o|ne\ntwo\nthree");
    assert.deepEqual(terminal.cursor, [0, 3]);
    draw("one|");
    assert.deepEqual([terminal.screen, terminal.cursor], [["> one"], [0, 5]], "lines that are gone are erased");
  });

  it("is broken where the terminal ends, before it would break it itself", () => {
    const { terminal } = drawn("abcdefghij|", new PlayedTerminal(8));
    assert.deepEqual(
      [terminal.screen, terminal.cursor],
      [
        ["> abcde", "  fghij"],
        [1, 7],
      ],
    );
    const wide = drawn("日本日本|", new PlayedTerminal(8));
    assert.deepEqual(
      [wide.terminal.screen, wide.terminal.cursor],
      [
        ["> 日本", "  日本"],
        [1, 6],
      ],
    );
  });

  it("takes a letter of several characters as one", () => {
    const { terminal } = drawn("e\u0301|x");
    assert.deepEqual([terminal.screen, terminal.cursor], [["> e\u0301x"], [0, 3]]);
  });

  it("shows a tab of a pasted text as blanks, so that the cursor stays at its place", () => {
    const { terminal } = drawn("\ta\tb|");
    assert.deepEqual([terminal.screen, terminal.cursor], [[">   a  b"], [0, 8]]);
    assert.ok(!terminal.written.includes("\t"));
  });

  it("carries no control sequence of a pasted text to the terminal", () => {
    const { terminal } = drawn("a\u001b[2Jb\u0007c\u009b1mc|", new PlayedTerminal(60));
    const others = terminal.written.replaceAll(OWN_SEQUENCES, "");
    assert.deepEqual(
      Array.from(others).filter((letter) => /\p{Cc}/u.test(letter)),
      [],
    );
    assert.equal(terminal.screen.length, 1);
  });

  it("is shown around its cursor when it is taller than the window", () => {
    const lines = Array.from({ length: 10 }, (_, at) => `line ${at}`);
    const terminal = new PlayedTerminal(20, 4);
    const { area, draw } = drawn(`${lines.join("\n")}|`, terminal);
    assert.deepEqual(terminal.screen, ["  line 7", "  line 8", "  line 9"]);
    draw(`|${lines.join("\n")}`);
    assert.deepEqual(
      [terminal.screen, terminal.cursor],
      [
        ["> line 0", "  line 1", "  line 2"],
        [0, 2],
      ],
    );
    area.leave();
    assert.deepEqual(terminal.screen, ["  line 7", "  line 8", "  line 9", ""]);
  });

  it("is left as it is, with the next output below it, wherever the cursor was", () => {
    const { area, terminal } = drawn("o|ne\ntwo");
    area.leave();
    terminal.write("next");
    assert.deepEqual(terminal.screen, ["> one", "  two", "next"]);
  });

  it("is erased with all its lines", () => {
    const { area, terminal } = drawn("one\ntwo\nthree|");
    area.erase();
    assert.deepEqual([terminal.screen, terminal.cursor], [[""], [0, 0]]);
  });

  it("is drawn again below what others have written", () => {
    const { area, terminal } = drawn("one\ntwo|");
    terminal.write("\nnotice\n");
    area.drawAnew({ text: "one\ntwo", at: 7 });
    assert.deepEqual(terminal.screen, ["> one", "  two", "notice", "> one", "  two"]);
  });

  it("is the same on the screen however it came to be, and nothing of an earlier text stays", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", " ", "\n", "é", "日", "😀", "\t"), maxLength: 40 });
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 6 }), fc.integer({ min: 5, max: 12 }), (texts, columns) => {
        const terminal = new PlayedTerminal(columns, 100);
        const area = new EditArea(terminal.stream, "> ");
        for (const one of texts) area.draw({ text: one, at: 0 });
        const last = texts.at(-1) ?? "";
        area.draw({ text: last, at: last.length });
        const fresh = new PlayedTerminal(columns, 100);
        new EditArea(fresh.stream, "> ").draw({ text: last, at: last.length });
        assert.deepEqual([terminal.screen, terminal.cursor], [fresh.screen, fresh.cursor]);
      }),
    );
  });
});

describe("an edited text on a terminal that cannot move its cursor", () => {
  it("is given what was added, and the whole text anew when it was changed", () => {
    process.env["TERM"] = "dumb";
    const terminal = new PlayedTerminal(80);
    const area = new EditArea(terminal.stream, "> ");
    for (const text of ["", "he", "hello", "hallo"]) area.draw({ text, at: text.length });
    area.leave();
    assert.equal(terminal.written, "> hello\n> hallo\n");
  });

  it("is not erased, and the next one begins with its prompt", () => {
    process.env["TERM"] = "dumb";
    const terminal = new PlayedTerminal(80);
    const area = new EditArea(terminal.stream, "> ");
    area.draw({ text: "one", at: 3 });
    area.erase();
    area.draw({ text: "two", at: 3 });
    assert.equal(terminal.written, "> one> two");
  });
});
