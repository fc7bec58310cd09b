import { TERMINAL_LIMITS } from "@vidro/core";

/* Characters of a terminal in raw mode as keys. */

/** A key, or a text that was typed or pasted. */
export type Key =
  | { readonly name: "text" | "paste"; readonly text: string }
  | { readonly name: KeyName; readonly text?: undefined };

/** The keys that an editor knows; `other` is any further one. */
type KeyName =
  | "enter"
  | "newline"
  | "backspace"
  | "delete"
  | "left"
  | "right"
  | "up"
  | "down"
  | "home"
  | "end"
  | "word-left"
  | "word-right"
  | "erase-line"
  | "erase-end"
  | "erase-word"
  | "tab"
  | "interrupt"
  | "leave"
  | "clear"
  | "suspend"
  | "escape"
  | "other";

const ESC = "\u001b";
const PASTE_BEGINS = `${ESC}[200~`;
const PASTE_ENDS = `${ESC}[201~`;

/** Keys that are one character. */
const CONTROLS: { readonly [character: string]: KeyName } = {
  "\r": "enter",
  "\n": "newline",
  "\u007f": "backspace",
  "\b": "backspace",
  "\t": "tab",
  "\u0001": "home",
  "\u0002": "left",
  "\u0003": "interrupt",
  "\u0004": "leave",
  "\u0005": "end",
  "\u0006": "right",
  "\u000b": "erase-end",
  "\u000c": "clear",
  "\u000e": "down",
  "\u0010": "up",
  "\u0015": "erase-line",
  "\u0017": "erase-word",
  "\u001a": "suspend",
};

/** Keys behind an escape character, as terminals of today send them. */
const SEQUENCES: { readonly [sequence: string]: KeyName } = {
  "\r": "newline",
  "\n": "newline",
  "\u007f": "erase-word",
  b: "word-left",
  f: "word-right",
  "[A": "up",
  "[B": "down",
  "[C": "right",
  "[D": "left",
  "[H": "home",
  "[F": "end",
  OA: "up",
  OB: "down",
  OC: "right",
  OD: "left",
  OH: "home",
  OF: "end",
  "[1~": "home",
  "[3~": "delete",
  "[4~": "end",
  "[7~": "home",
  "[8~": "end",
  "[1;3C": "word-right",
  "[1;3D": "word-left",
  "[1;5C": "word-right",
  "[1;5D": "word-left",
  "[13;2u": "newline",
  "[27;2;13~": "newline",
};

/** A key behind an escape character, also one of the Linux console, and one that no editor knows. */
// oxlint-disable-next-line no-control-regex -- control characters are what keys send
const SEQUENCE = /^\u001b(?:\[\[[A-Z]|\[[0-?]*[ -/]*[@-Z\\-~]|O[A-Za-z]|[^[O\u001b])/;
// oxlint-disable-next-line no-control-regex -- text is what is no control character
const TEXT = /^[^\u0000-\u001f\u007f]+/;
// oxlint-disable-next-line no-control-regex -- control characters are what keys send
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

// oxlint-disable-next-line no-control-regex -- control characters are what keys send
const UNFINISHED = /\u001b(?:\[\[|\[[0-?]*[ -/]*|O)?$/;

/**
 * Turns what a terminal sends, piece by piece, into keys. A piece may end anywhere: a paste that has not ended and a key
 * whose last bytes are still to come are kept for the next piece.
 */
export class KeyReader {
  /** The text of the paste that has begun. */
  #pasted: string | undefined;
  /** The end of what was read, which may be the beginning of a key or of the end of a paste. */
  #held = "";

  /** Whether the beginning of a key is kept; with nothing after it, it is Escape. */
  get holdsKey(): boolean {
    return this.#held !== "" && this.#pasted === undefined;
  }

  read(piece: string): readonly Key[] {
    const keys: Key[] = [];
    let rest = this.#held + piece;
    this.#held = "";
    while (rest !== "") {
      if (this.#pasted !== undefined) rest = this.#readPaste(rest, keys);
      else if (rest.startsWith(PASTE_BEGINS)) {
        this.#pasted = "";
        rest = rest.slice(PASTE_BEGINS.length);
      } else rest = this.#readTyped(rest, keys);
    }
    return keys;
  }

  /** The keys of what is kept, when nothing more has come for a while. */
  flush(): readonly Key[] {
    if (!this.holdsKey) return [];
    const held = this.#held;
    this.#held = "";
    return typedKeys(held);
  }

  #readTyped(text: string, keys: Key[]): string {
    const begins = text.indexOf(PASTE_BEGINS);
    if (begins === -1) this.#held = UNFINISHED.exec(text)?.[0] ?? "";
    const typed = begins === -1 ? text.slice(0, text.length - this.#held.length) : text.slice(0, begins);
    keys.push(...typedKeys(typed));
    return begins === -1 ? "" : text.slice(begins);
  }

  #readPaste(text: string, keys: Key[]): string {
    const ends = text.indexOf(PASTE_ENDS);
    const isOver = ends !== -1;
    const known = isOver ? ends : Math.max(0, text.length - PASTE_ENDS.length + 1);
    const pasted = `${this.#pasted ?? ""}${text.slice(0, known)}`.slice(0, TERMINAL_LIMITS.pastedChars);
    this.#pasted = isOver ? undefined : pasted;
    if (isOver) keys.push({ name: "paste", text: plainBreaks(pasted) });
    else this.#held = text.slice(known);
    return isOver ? text.slice(ends + PASTE_ENDS.length) : "";
  }
}

function plainBreaks(text: string): string {
  return text.replaceAll(/\r\n?/g, "\n");
}

/**
 * Keys that came at once. Lines that came at once were pasted, or typed before the keyboard was read: they are one text,
 * and the last break ends it.
 */
function typedKeys(typed: string): readonly Key[] {
  const areLines = /[^\r\n][\r\n]/.test(typed) && !CONTROL.test(typed);
  if (!areLines) return singleKeys(typed);
  const text = plainBreaks(typed);
  const ends = text.endsWith("\n");
  return [{ name: "paste", text: ends ? text.slice(0, -1) : text }, ...(ends ? [{ name: "enter" } as const] : [])];
}

function singleKeys(typed: string): readonly Key[] {
  const keys: Key[] = [];
  for (let rest = typed; rest !== "";) {
    const [text] = TEXT.exec(rest) ?? [];
    const [sequence] = text === undefined ? (SEQUENCE.exec(rest) ?? []) : [];
    if (text !== undefined) keys.push({ name: "text", text });
    else if (sequence !== undefined) keys.push({ name: SEQUENCES[sequence.slice(1)] ?? "other" });
    else keys.push({ name: rest.startsWith(ESC) ? "escape" : (CONTROLS[rest.charAt(0)] ?? "other") });
    rest = rest.slice((text ?? sequence ?? " ").length);
  }
  return keys;
}
