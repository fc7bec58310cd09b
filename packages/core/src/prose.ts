import { readLine } from "./action-line.ts";
import type { RunState } from "./run.ts";

/*
 * What a model writes is prose and lines for the brain. The same reader takes them apart when the whole reply is known
 * and while its pieces come in, so that what followers are told joins to what is kept.
 */

/**
 * How a reply is read. prose: it has no lines for the brain. native: they count only where the reply has nothing else,
 * since an example in an answer is no order. lines: each of them counts.
 */
export type Reading = "prose" | "native" | "lines";

/** How a reply in that state of a run is read, of a model that is known to call tools natively or is not. */
export function readingOf(state: Pick<RunState, "tools" | "native">, isNative: boolean): Reading {
  if (state.tools.length === 0) return "prose";
  return isNative || state.native ? "native" : "lines";
}

/** A fence that a model opens around lines for the brain; a longer line is prose. */
const FENCE_CHARS = 64;
const FENCE_BEGUN = /^\s*(?:`{1,2}|```\w*\s*)$/;
const FENCE_CLOSED = /^\s*```\s*$/;

/** Why the line that comes in is held: nothing but white space so far, a brace first, or ticks first. */
type Held = "blank" | "brace" | "ticks";

interface Fence {
  /** The white space that stood before it. */
  readonly before: string;
  /** Whether nothing inside has been shown, and so neither has the fence. */
  isHeld: boolean;
  /** Whether a line was taken out of it. */
  isUsed: boolean;
}

/**
 * Takes a reply apart as it comes in. Only a line that may be one for the brain is held back, and only until it is
 * complete; a fence is, until it is known to have words in it. White space is given when words follow it.
 */
export class ProseReader {
  #reading: Reading;
  #lines: string[] = [];
  #hasShown = false;
  /** What is shown when words follow it: white space, or a fence that is held. */
  #space = "";
  /** The line that comes in, as far as it is held, and why; undefined when it is known to be prose. */
  #line = "";
  #held: Held | undefined = "blank";
  #fence: Fence | undefined;

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  /** The lines for the brain so far. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  /** The words that a piece makes known. */
  push(piece: string): string {
    if (this.#reading === "prose") return this.#words(piece);
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
    const isFenceLost = this.#fence?.isHeld === true && !this.#fence.isUsed;
    return isFenceLost ? words + this.#words(this.#space.trimEnd(), "") : words;
  }

  #more(part: string): string {
    if (this.#held === undefined || this.#reading === "prose") return this.#words(part);
    this.#line += part;
    if (this.#held === "brace" || (this.#held === "blank" && part.trim() === "")) return "";
    this.#held = this.#whyHeld();
    return this.#held === undefined ? this.#release("") : "";
  }

  #whyHeld(): Held | undefined {
    if (this.#line.trimStart().startsWith("{")) return "brace";
    const mayBeFence = this.#reading === "lines" && this.#line.length <= FENCE_CHARS && FENCE_BEGUN.test(this.#line);
    return mayBeFence ? "ticks" : undefined;
  }

  /** The line is complete: what is still held of it is known now. */
  #endLine(mark: string): string {
    const held = this.#held;
    this.#held = "blank";
    if (held === undefined || held === "blank") {
      this.#space += this.#line + mark;
      this.#line = "";
      return "";
    }
    if (held === "brace" && readLine(this.#line) !== undefined) return this.#take(mark);
    if (held === "ticks" && this.#isFenceTaken(mark)) return "";
    return this.#release(mark);
  }

  #take(mark: string): string {
    this.#lines.push(this.#line.trim());
    // Words that follow make it prose.
    if (this.#reading === "native") this.#space += this.#line + mark;
    if (this.#fence !== undefined) this.#fence.isUsed = true;
    this.#line = "";
    return "";
  }

  /** Whether a line of ticks is held with its fence, or goes with it. */
  #isFenceTaken(mark: string): boolean {
    const line = this.#line;
    if (this.#fence === undefined) {
      if (!line.trimStart().startsWith("```")) return false;
      this.#fence = { before: this.#space, isHeld: true, isUsed: false };
      this.#space += line + mark;
      this.#line = "";
      return true;
    }
    if (!FENCE_CLOSED.test(line)) return false;
    const { before, isHeld, isUsed } = this.#fence;
    this.#fence = undefined;
    if (!isHeld || !isUsed) return false;
    this.#space = before;
    this.#line = "";
    return true;
  }

  #release(mark: string): string {
    const line = this.#line;
    this.#line = "";
    if (this.#reading === "native") {
      this.#lines = [];
      this.#reading = "prose";
    }
    return this.#words(line + mark);
  }

  #words(text: string, before: string = this.#space): string {
    const words = text.trimEnd();
    if (words === "") {
      this.#space += text;
      return "";
    }
    if (this.#fence !== undefined) this.#fence.isHeld = false;
    this.#space = text.slice(words.length);
    const shown = this.#hasShown ? before + words : (before + words).trimStart();
    this.#hasShown = true;
    return shown;
  }
}
