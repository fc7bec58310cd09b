/* Bytes of a terminal in raw mode as keys. */

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

// oxlint-disable-next-line no-control-regex -- control characters are what keys send
const SEQUENCE = /^\u001b(?:\[[\d;?]*[A-Za-z~]|O[A-Za-z]|[^[O])/;
// oxlint-disable-next-line no-control-regex -- text is what is no control character
const TEXT = /^[^\u0000-\u001f\u007f]+/;
// oxlint-disable-next-line no-control-regex -- control characters are what keys send
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/** Turns what a terminal sends, piece by piece, into keys; a paste that has not ended is kept for the next piece. */
export class KeyReader {
  #pasted: string | undefined;

  read(piece: string): readonly Key[] {
    const keys: Key[] = [];
    let rest = piece;
    while (rest !== "") {
      if (this.#pasted !== undefined) rest = this.#readPaste(rest, keys);
      else if (rest.startsWith(PASTE_BEGINS)) {
        this.#pasted = "";
        rest = rest.slice(PASTE_BEGINS.length);
      } else {
        const begins = rest.indexOf(PASTE_BEGINS);
        const typed = begins === -1 ? rest : rest.slice(0, begins);
        keys.push(...typedKeys(typed));
        rest = rest.slice(typed.length);
      }
    }
    return keys;
  }

  #readPaste(text: string, keys: Key[]): string {
    const ends = text.indexOf(PASTE_ENDS);
    this.#pasted += ends === -1 ? text : text.slice(0, ends);
    if (ends === -1) return "";
    keys.push({ name: "paste", text: plainBreaks(this.#pasted ?? "") });
    this.#pasted = undefined;
    return text.slice(ends + PASTE_ENDS.length);
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
