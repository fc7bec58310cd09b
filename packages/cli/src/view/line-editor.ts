import type { Key } from "./keys.ts";

/* A text of one or several lines that a person edits; it draws nothing. */

/** The state of an edited text: what is written, and where the cursor is. */
export interface EditedText {
  readonly text: string;
  readonly at: number;
}

const NOTHING: EditedText = { text: "", at: 0 };

/** Edits a text key by key, with earlier texts to go back to. */
export class LineEditor {
  #state: EditedText;
  /** Newest first. */
  readonly #history: readonly string[];
  /** Which of the earlier texts is shown; -1 for the one that is being written. */
  #shown = -1;
  #draft = "";

  constructor({
    prefill = "",
    history = [],
  }: { readonly prefill?: string; readonly history?: readonly string[] } = {}) {
    this.#state = endOf(prefill);
    this.#history = history;
  }

  get state(): EditedText {
    return this.#state;
  }

  /** Takes a key in; false when it changes nothing here, and is for others to act on. */
  press(key: Key): boolean {
    const { text, at } = this.#state;
    const next = key.text === undefined ? this.#moved(key.name) : insert(this.#state, key.text);
    if (next === undefined) return false;
    this.#state = next;
    return next.text !== text || next.at !== at;
  }

  /** Replaces a part of the text, as a completion does. */
  replace(from: number, words: string): void {
    const { text, at } = this.#state;
    this.#state = { text: text.slice(0, from) + words + text.slice(at), at: from + words.length };
  }

  /** Begins anew. */
  clear(): void {
    this.#state = NOTHING;
    this.#shown = -1;
  }

  /**
   * Whether an Enter ends the text. A backslash before it is a line break instead.
   */
  endsWithEnter(): boolean {
    const { text, at } = this.#state;
    if (at !== text.length || !text.endsWith("\\")) return true;
    this.#state = endOf(`${text.slice(0, -1)}\n`);
    return false;
  }

  #moved(name: Key["name"]): EditedText | undefined {
    const { text, at } = this.#state;
    switch (name) {
      case "newline":
        return insert(this.#state, "\n");
      case "left":
        return { text, at: before(text, at) };
      case "right":
        return { text, at: after(text, at) };
      case "word-left":
        return { text, at: wordBefore(text, at) };
      case "word-right":
        return { text, at: wordAfter(text, at) };
      case "home":
        return { text, at: lineStart(text, at) };
      case "end":
        return { text, at: lineEnd(text, at) };
      case "backspace":
        return erase(text, before(text, at), at);
      case "delete":
        return erase(text, at, after(text, at));
      case "erase-word":
        return erase(text, wordBefore(text, at), at);
      case "erase-line":
        return erase(text, lineStart(text, at), at);
      case "erase-end":
        return erase(text, at, lineEnd(text, at));
      case "up":
        return lineStart(text, at) === 0 ? this.#recalled(1) : sameColumn(this.#state, -1);
      case "down":
        return lineEnd(text, at) === text.length ? this.#recalled(-1) : sameColumn(this.#state, 1);
      default:
        return undefined;
    }
  }

  #recalled(step: 1 | -1): EditedText | undefined {
    const next = this.#shown + step;
    if (next < -1 || next >= this.#history.length) return undefined;
    if (this.#shown === -1) this.#draft = this.#state.text;
    this.#shown = next;
    return endOf(next === -1 ? this.#draft : (this.#history[next] ?? ""));
  }
}

function endOf(text: string): EditedText {
  return { text, at: text.length };
}

function insert({ text, at }: EditedText, words: string): EditedText {
  return { text: text.slice(0, at) + words + text.slice(at), at: at + words.length };
}

function erase(text: string, from: number, to: number): EditedText {
  return { text: text.slice(0, from) + text.slice(to), at: from };
}

let segmenter: Intl.Segmenter | undefined;

/** The letters of a text as people see them. The tables for it take milliseconds to load, and most commands edit nothing. */
function lettersOf(text: string): Intl.Segments {
  return (segmenter ??= new Intl.Segmenter()).segment(text);
}

/** The place before the letter that ends at a place: a letter may be several characters. */
function before(text: string, at: number): number {
  const line = text.slice(0, at);
  const last = [...lettersOf(line.slice(-LETTER_CHARS))].at(-1);
  return at - (last?.segment.length ?? 0);
}

function after(text: string, at: number): number {
  const [first] = lettersOf(text.slice(at, at + LETTER_CHARS));
  return at + (first?.segment.length ?? 0);
}

/** The most characters of one letter. */
const LETTER_CHARS = 64;

function wordBefore(text: string, at: number): number {
  let from = text.slice(0, at).trimEnd().length;
  while (from > 0 && !/\s/.test(text.charAt(from - 1))) from -= 1;
  return from;
}

function wordAfter(text: string, at: number): number {
  return at + (/^\s*\S*/.exec(text.slice(at))?.[0].length ?? 0);
}

function lineStart(text: string, at: number): number {
  // A place before the first counts as the first for lastIndexOf.
  return at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end;
}

/** The same column of the line above or below; never within a letter of several characters. */
function sameColumn({ text, at }: EditedText, step: 1 | -1): EditedText {
  const column = at - lineStart(text, at);
  const start = step === 1 ? lineEnd(text, at) + 1 : lineStart(text, lineStart(text, at) - 1);
  const line = text.slice(start, lineEnd(text, start));
  return { text, at: start + (lettersOf(line).containing(column)?.index ?? line.length) };
}
