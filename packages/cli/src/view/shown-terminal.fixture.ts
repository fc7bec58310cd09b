/* oxlint-disable no-control-regex -- control characters are what a terminal obeys */
import { PassThrough, Writable } from "node:stream";
import type { TestContext } from "node:test";
import { columnsOf } from "./columns.ts";

/** A terminal as a person sees it: what is written moves its cursor, breaks at its width, and is erased. */
export class ShownTerminal extends Writable {
  readonly isTTY = true;
  columns: number;
  rows = 50;
  /** Everything that was written, as it was written. */
  raw = "";
  #cells: string[][] = [[]];
  #row = 0;
  #column = 0;
  #breaks = true;

  constructor(columns: number) {
    super();
    this.columns = columns;
  }

  getColorDepth(): number {
    return 8;
  }

  override write(text: string): boolean {
    this.raw += text;
    for (const [piece] of text.matchAll(/\u001b\[[?\d;]*[A-Za-z]|[^\u001b]/gu)) this.#take(piece);
    return true;
  }

  /** The rows that are on the screen now, without the empty ones at its end. */
  get shown(): readonly string[] {
    const rows = this.#cells.map((cells) => Array.from(cells, (cell) => cell ?? " ").join(""));
    while (rows.at(-1) === "") rows.pop();
    return rows;
  }

  /** Where the cursor is, counted from 0. */
  get cursor(): { readonly row: number; readonly column: number } {
    return { row: this.#row, column: this.#column };
  }

  #take(piece: string): void {
    const [, given, letter] = /^\u001b\[([?\d;]*)([A-Za-z])$/.exec(piece) ?? [];
    if (letter === undefined) return this.#put(piece);
    const count = Number(given === "" ? 1 : given);
    if (letter === "F" || letter === "A") this.#row = Math.max(0, this.#row - count);
    if (letter === "F" || letter === "H") this.#column = 0;
    if (letter === "G") this.#column = count - 1;
    if (letter === "H") this.#row = 0;
    if (letter === "J" && given === "2") this.#cells = [[]];
    if (letter === "J" && given === "") {
      this.#cells.length = Math.min(this.#cells.length, this.#row + 1);
      this.#line.length = Math.min(this.#line.length, this.#column);
    }
    if (given === "?7") this.#breaks = letter === "h";
  }

  #put(letter: string): void {
    const width = columnsOf(letter);
    if (letter === "\n") this.#breakRow();
    else if (width === 0) this.#line[this.#column - 1] += letter;
    else {
      if (this.#column + width > this.columns && !this.#breaks) return;
      if (this.#column + width > this.columns) this.#breakRow();
      this.#line[this.#column] = letter;
      if (width === 2) this.#line[this.#column + 1] = "";
      this.#column += width;
    }
  }

  #breakRow(): void {
    this.#row += 1;
    this.#column = 0;
  }

  get #line(): string[] {
    while (this.#cells.length <= this.#row) this.#cells.push([]);
    return this.#cells[this.#row]!;
  }
}

/** A terminal with its keyboard. */
export interface PersonAtTerminal {
  readonly terminal: ShownTerminal;
  /** Whether the terminal is in raw mode. */
  readonly isRaw: boolean;
  /** Strikes keys; resolves when they were read. */
  strike(...keys: readonly string[]): Promise<void>;
}

/** Puts a person at a terminal in the place of stdin and stderr, until the test ends. */
export function seatPerson(t: TestContext, columns = 80): PersonAtTerminal {
  const terminal = new ShownTerminal(columns);
  const keyboard = Object.assign(new PassThrough(), {
    isTTY: true,
    isRaw: false,
    setRawMode(isRaw: boolean) {
      keyboard.isRaw = isRaw;
    },
  });
  for (const [owner, name, value] of [
    [process, "stdin", keyboard],
    [process, "stderr", terminal],
    [process.stdout, "isTTY", false],
  ] as const) {
    const before = Object.getOwnPropertyDescriptor(owner, name);
    Object.defineProperty(owner, name, { value, configurable: true });
    t.after(() => {
      if (before === undefined) Reflect.deleteProperty(owner, name);
      else Object.defineProperty(owner, name, before);
    });
  }
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    terminal,
    get isRaw() {
      return keyboard.isRaw;
    },
    async strike(...keys) {
      for (const key of keys) {
        await turn();
        keyboard.write(key);
        await turn();
        await turn();
      }
    },
  };
}
