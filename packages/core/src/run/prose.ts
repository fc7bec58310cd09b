import { readActionLine } from "./action-line.ts";
import type { Event } from "../event.ts";
import type { RunState } from "./run.ts";

/*
 * Separates prose from action lines in a reply. The same reader is used for the whole reply and for its pieces while
 * they stream in, so that the streamed prose joins to the recorded prose.
 */

/**
 * How a reply is read. prose: it has no action lines. native: action lines count only when the reply has no other text,
 * because an example in an answer is no call. lines: each action line counts.
 */
export type ReplyReading = "prose" | "native" | "lines";

/** How to read a reply in a state of a run; `isNative` is true when the reply comes from a native tool caller. */
export function readingOf(state: Pick<RunState, "tools" | "native" | "started">, isNative: boolean): ReplyReading {
  // An answer in JSON may look like an action line.
  if (state.tools.length === 0 || state.started.sampling?.format !== undefined) return "prose";
  return isNative || state.native ? "native" : "lines";
}

/** Whether an event voids the text that was streamed since the previous entry. */
export function voidsWords(event: Event): boolean {
  return event.type === "model.failed" || (event.type === "heal.tried" && event.healing === "switch_model");
}

/** Longest line that can open or close a code fence around action lines; a longer one is prose. */
const FENCE_CHARS = 64;
const FENCE_BEGUN = /^\s*(?:`{1,2}|```\w*\s*)$/;
const FENCE_CLOSED = /^\s*```\s*$/;

/** Why the current line is held back: only white space so far, or it begins with a brace or with backticks. */
type HeldText = "blank" | "brace" | "ticks";

/**
 * Splits a streamed reply. Only a line that may be an action line is held back, and only until it is complete; a code
 * fence is held back until prose follows inside it.
 */
export class ProseReader {
  #reading: ReplyReading;
  #lines: string[] = [];
  /** Text that is released when prose follows and dropped otherwise: action lines of a native model, or a fence opening. */
  #withheld: string | undefined;
  #isInFence = false;
  /** Whether an action line was found inside the fence. */
  #isFenceUsed = false;
  /** The held part of the current line, and why it is held; `undefined` when the line is known to be prose. */
  #line = "";
  #held: HeldText | undefined = "blank";

  constructor(reading: ReplyReading) {
    this.#reading = reading;
    if (reading === "native") this.#withheld = "";
  }

  /** The action lines so far. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  /** The words that a piece makes known. */
  push(piece: string): string {
    if (this.#reading === "prose") return piece;
    let words = "";
    for (const [index, part] of piece.split("\n").entries()) {
      if (index > 0) words += this.#endLine("\n");
      if (part !== "") words += this.#more(part);
    }
    return words;
  }

  /** The words that are left when nothing more comes. */
  end(): string {
    const words = this.#endLine("");
    const isFenceEmpty = this.#isInFence && !this.#isFenceUsed;
    return words + (isFenceEmpty ? (this.#withheld ?? "") : "");
  }

  #more(part: string): string {
    if (this.#reading === "prose" || this.#held === undefined) return part;
    this.#line += part;
    if (this.#held === "brace" || (this.#held === "blank" && part.trim() === "")) return "";
    this.#held = this.#whyHeld();
    return this.#held === undefined ? this.#release("") : "";
  }

  #whyHeld(): HeldText | undefined {
    if (this.#line.trimStart().startsWith("{")) return "brace";
    const mayBeFence = this.#reading === "lines" && this.#line.length <= FENCE_CHARS && FENCE_BEGUN.test(this.#line);
    return mayBeFence ? "ticks" : undefined;
  }

  /** The line is complete: what is still held of it is known now. */
  #endLine(mark: string): string {
    const held = this.#held;
    this.#held = "blank";
    if (this.#reading === "prose" || held === undefined) return mark;
    const isKept =
      (held === "brace" && this.#isTaken(mark)) ||
      (held === "ticks" && this.#isFenceTaken(mark)) ||
      (held === "blank" && this.#isWithheld(mark));
    return isKept ? "" : this.#release(mark);
  }

  #isTaken(mark: string): boolean {
    if (readActionLine(this.#line) === undefined) return false;
    this.#lines.push(this.#line.trim());
    this.#isFenceUsed = true;
    // Words that follow make it prose.
    if (this.#reading === "native") return this.#isWithheld(mark);
    this.#line = "";
    return true;
  }

  /** Whether a line of ticks is held with the fence that it opens, or dropped with the fence that it closes. */
  #isFenceTaken(mark: string): boolean {
    if (!this.#isInFence) {
      this.#isInFence = this.#line.trimStart().startsWith("```");
      this.#isFenceUsed = false;
      if (this.#isInFence) this.#withheld = "";
      return this.#isInFence && this.#isWithheld(mark);
    }
    if (!FENCE_CLOSED.test(this.#line)) return false;
    this.#isInFence = false;
    if (this.#withheld === undefined || !this.#isFenceUsed) return false;
    this.#withheld = undefined;
    this.#line = "";
    return true;
  }

  #isWithheld(mark: string): boolean {
    if (this.#withheld === undefined) return false;
    this.#withheld += this.#line + mark;
    this.#line = "";
    return true;
  }

  /** Gives what is held: words have come. */
  #release(mark: string): string {
    const words = (this.#withheld ?? "") + this.#line + mark;
    this.#withheld = undefined;
    this.#line = "";
    if (this.#reading === "native") {
      this.#lines = [];
      this.#reading = "prose";
    }
    return words;
  }
}

/** Takes the white space at both ends of a text that comes in pieces: it is given when words follow it. */
export class Trimmer {
  #space = "";
  #isBegun = false;

  /** The words so far, beyond those that were given. */
  push(piece: string): string {
    const text = this.#isBegun ? piece : piece.trimStart();
    const words = text.trimEnd();
    if (words === "") {
      this.#space += text;
      return "";
    }
    const given = this.#space + words;
    this.#space = text.slice(words.length);
    this.#isBegun = true;
    return given;
  }
}
