/* A terminal's screen: what a program wrote, as the rows that a person sees. It knows the sequences that `vidro` writes. */

/** Characters of one look on one row. */
export interface ScreenRun {
  readonly text: string;
  /** The codes of `CSI … m` that are on, such as "1" and "32". */
  readonly look: string;
}

interface Cell {
  readonly text: string;
  readonly look: string;
}

// oxlint-disable-next-line no-control-regex -- sequences of a terminal begin with a control character
const SEQUENCE = /\u001b\[([?\d;]*)([A-Za-z])|\u001b[=>78]|\u001b\][^\u0007]*\u0007|([\r\n\b])|([^\u0000-\u001f])/gu;

/** The rows that bytes written to a terminal of some columns give. */
export class TerminalScreen {
  readonly #columns: number;
  readonly #rows: Cell[][] = [[]];
  #row = 0;
  #column = 0;
  #look = "";
  #wraps = true;

  constructor(columns: number) {
    this.#columns = columns;
  }

  /** Takes what a program wrote; sequences that it does not know change nothing. */
  write(text: string): void {
    for (const [, parameters = "", final, control, char] of text.matchAll(SEQUENCE)) {
      if (final !== undefined) this.#obey(final, parameters);
      else if (control === "\r") this.#column = 0;
      else if (control === "\n") this.#down(1);
      else if (control === "\b") this.#column = Math.max(0, this.#column - 1);
      else if (char !== undefined) this.#put(char);
    }
  }

  /** The rows, each as runs of one look. */
  rows(): readonly (readonly ScreenRun[])[] {
    return this.#rows.map((cells) => {
      const runs: ScreenRun[] = [];
      for (const cell of Array.from(cells, (one: Cell | undefined) => one ?? { text: " ", look: "" })) {
        const last = runs.at(-1);
        if (last?.look === cell.look) runs[runs.length - 1] = { ...last, text: last.text + cell.text };
        else runs.push(cell);
      }
      return runs;
    });
  }

  #put(text: string): void {
    if (this.#column >= this.#columns) {
      if (!this.#wraps) return;
      this.#column = 0;
      this.#down(1);
    }
    const cells = this.#rows[this.#row] ?? [];
    cells[this.#column] = { text, look: this.#look };
    this.#column += 1;
  }

  #down(by: number): void {
    this.#row += by;
    while (this.#rows.length <= this.#row) this.#rows.push([]);
  }

  #obey(final: string, parameters: string): void {
    const count = Number(parameters) || 1;
    if (final === "A") this.#row = Math.max(0, this.#row - count);
    if (final === "B") this.#down(count);
    if (final === "F") [this.#row, this.#column] = [Math.max(0, this.#row - count), 0];
    if (parameters === "?7") this.#wraps = final === "h";
    if (final === "C") this.#column += count;
    if (final === "D") this.#column = Math.max(0, this.#column - count);
    if (final === "G") this.#column = count - 1;
    if (final === "K") this.#clearRow(parameters);
    if (final === "J") {
      this.#clearRow(parameters);
      this.#rows.length = this.#row + 1;
    }
    if (final === "m") this.#look = lookAfter(this.#look, parameters);
  }

  #clearRow(parameters: string): void {
    const cells = this.#rows[this.#row] ?? [];
    cells.length = Math.min(cells.length, parameters === "2" ? 0 : this.#column);
  }
}

/** The look after some codes: 0 ends all, 22 bold and dim, 39 the colour. */
function lookAfter(look: string, parameters: string): string {
  let on = look.split(" ").filter((code) => code !== "");
  for (const code of parameters === "" ? ["0"] : parameters.split(";")) {
    if (code === "0") on = [];
    else if (code === "22") on = on.filter((one) => one !== "1" && one !== "2");
    else if (code === "23" || code === "24") on = on.filter((one) => one !== (code === "23" ? "3" : "4"));
    else if (code === "39") on = on.filter((one) => !/^[39]\d$/.test(one));
    else on = [...on.filter((one) => one !== code && !(/^[39]\d$/.test(one) && /^[39]\d$/.test(code))), code];
  }
  return on.join(" ");
}
