import { Fault, HAND_LIMITS } from "@vidro/core";
import { WORD, holds } from "./char-set.ts";
import type { CharSet } from "./char-set.ts";
import { parseRegex } from "./parse.ts";
import { compileProgram, requiredText } from "./program.ts";
import type { Program } from "./program.ts";

/*
 * Finds lines that match a regular expression, without backtracking: all ways through the pattern are followed at once,
 * and each set of ways that occurs is kept as a state of a deterministic automaton. Time is the length of the text, plus
 * the cost of making states, which is bounded.
 */

const [UNKNOWN, MATCH, NO_MATCH] = [-1, -2, -3];
/** The kind of the character before the next one. */
const [LINE_START, WORD_CHAR, OTHER_CHAR] = [0, 1, 2];

interface State {
  /** Instructions to go on with, before empty steps are followed. */
  readonly kernel: readonly number[];
  readonly before: number;
}

/** A compiled regular expression for text of many lines. */
export class LineRegex {
  /** Text that every matching line contains; empty if none is known. */
  readonly required: string;
  readonly #program: Program;
  readonly #alphabet: Alphabet;
  readonly #states: State[] = [];
  readonly #ids = new Map<string, number>();
  #next = new Int32Array(0);
  #steps = 0;

  /** Throws BAD_ARGUMENTS for syntax that is not known, and for a pattern that is too large. */
  constructor(source: string, ignoreCase: boolean) {
    const pattern = parseRegex(source, ignoreCase);
    this.required = requiredText(pattern);
    this.#program = compileProgram(pattern);
    this.#alphabet = new Alphabet(this.#program);
  }

  /**
   * The end of the first match that begins at or after `from`, which is the start of a line; -1 if there is none. Throws
   * TOOL_FAILED if the pattern costs more than the bound.
   */
  find(text: string, from: number): number {
    const alphabet = this.#alphabet;
    const width = alphabet.size + 1;
    let state = this.#intern([], LINE_START);
    for (let at = from; at <= text.length; at += 1) {
      const kind = alphabet.kindAt(text, at);
      let next = this.#next[state * width + kind]!;
      if (next === UNKNOWN) next = this.#step(state, kind);
      if (next === MATCH) return at;
      if (next === NO_MATCH) {
        // The line ended, perhaps in CRLF; the next one begins without a past.
        if (text.charCodeAt(at) === 13) at += 1;
        if (at >= text.length - 1) return -1;
        state = this.#intern([], LINE_START);
        continue;
      }
      state = next;
      if (text.charCodeAt(at) >= 0xd800 && (text.codePointAt(at) ?? 0) > 0xffff) at += 1;
    }
    return -1;
  }

  #step(id: number, kind: number): number {
    const state = this.#states[id]!;
    const reached = this.#follow(state, kind);
    const isEnd = kind === this.#alphabet.size;
    const slot = id * (this.#alphabet.size + 1) + kind;
    if (reached === "match" || isEnd) return (this.#next[slot] = reached === "match" ? MATCH : NO_MATCH);
    const kernel = new Set<number>();
    for (const index of reached) {
      const instruction = this.#program[index]!;
      if (instruction.op === "char" && this.#alphabet.includes(index, kind)) kernel.add(instruction.next);
    }
    const before = this.#alphabet.isWord(kind) ? WORD_CHAR : OTHER_CHAR;
    const isFull = this.#states.length >= HAND_LIMITS.regexStates;
    const next = this.#intern(
      [...kernel].sort((one, other) => one - other),
      before,
    );
    if (!isFull) this.#next[slot] = next;
    return next;
  }

  /** The instructions that can be reached without a character; "match" if the end of the pattern is among them. */
  #follow({ kernel, before }: State, kind: number): ReadonlySet<number> | "match" {
    // A match may begin at every place.
    const waiting = [...kernel, 0];
    const reached = new Set<number>();
    for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
      if (reached.has(index)) continue;
      reached.add(index);
      const instruction = this.#program[index]!;
      if (instruction.op === "match") return "match";
      if (instruction.op === "split") waiting.push(...instruction.next);
      else if (instruction.op === "assert" && this.#assert(instruction.that, before, kind))
        waiting.push(instruction.next);
    }
    this.#steps += reached.size;
    if (this.#steps > HAND_LIMITS.regexSteps) {
      throw new Fault(
        "TOOL_FAILED",
        "The regular expression costs too much on these files; use smaller counts or search fewer files.",
      );
    }
    return reached;
  }

  #assert(that: string, before: number, kind: number): boolean {
    if (that === "start") return before === LINE_START;
    if (that === "end") return kind === this.#alphabet.size;
    const isBoundary = (before === WORD_CHAR) !== this.#alphabet.isWord(kind);
    return isBoundary === (that === "boundary");
  }

  #intern(kernel: readonly number[], before: number): number {
    const key = `${before}:${kernel.join(",")}`;
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const width = this.#alphabet.size + 1;
    if (this.#states.length >= HAND_LIMITS.regexStates) {
      this.#states.length = 0;
      this.#ids.clear();
      this.#next.fill(UNKNOWN);
    }
    const id = this.#states.push({ kernel, before }) - 1;
    if (this.#next.length < (id + 1) * width) {
      const grown = new Int32Array(Math.max(64, id * 2) * width).fill(UNKNOWN);
      grown.set(this.#next);
      this.#next = grown;
    }
    this.#ids.set(key, id);
    return id;
  }
}

/** The kinds of characters that a program tells apart; `size` is the kind of a line's end. */
class Alphabet {
  readonly size: number;
  /** First code points of the spans of one kind each, and their kinds. */
  readonly #starts: readonly number[];
  readonly #kinds: readonly number[];
  readonly #table = new Uint16Array(0x10000);
  readonly #words: readonly boolean[];
  readonly #members = new Map<number, readonly boolean[]>();

  constructor(program: Program) {
    const sets = new Map<string, CharSet>([["word", WORD]]);
    for (const instruction of program)
      if (instruction.op === "char") sets.set(JSON.stringify(instruction.set), instruction.set);
    const edges = [...sets.values()].flatMap((set) => set.flatMap(([low, high]) => [low, high + 1]));
    this.#starts = [...new Set([0, ...edges])].sort((one, other) => one - other);
    const signatures = new Map<string, number>();
    const firsts: number[] = [];
    this.#kinds = this.#starts.map((start) => {
      const signature = [...sets.values()].map((set) => (holds(set, start) ? 1 : 0)).join("");
      const kind = signatures.get(signature) ?? signatures.size;
      if (kind === signatures.size) firsts.push(start);
      signatures.set(signature, kind);
      return kind;
    });
    this.size = signatures.size;
    this.#words = firsts.map((code) => holds(WORD, code));
    for (const [index, start] of this.#starts.entries())
      this.#table.fill(this.#kinds[index]!, start, this.#starts[index + 1]);
    for (const [index, instruction] of program.entries()) {
      if (instruction.op === "char")
        this.#members.set(
          index,
          firsts.map((code) => holds(instruction.set, code)),
        );
    }
  }

  /** The kind of the character at a place; the kind of a line's end before a line end and at the end of the text. */
  kindAt(text: string, at: number): number {
    const unit = text.charCodeAt(at);
    if (unit < 128 && unit !== 10 && unit !== 13) return this.#table[unit]!;
    if (at >= text.length || unit === 10) return this.size;
    if (unit === 13 && (at + 1 === text.length || text.charCodeAt(at + 1) === 10)) return this.size;
    const code = unit < 0xd800 ? unit : text.codePointAt(at)!;
    return code < 0x10000 ? this.#table[code]! : this.#kinds[this.#starts.findLastIndex((start) => start <= code)]!;
  }

  isWord(kind: number): boolean {
    return this.#words[kind] === true;
  }

  includes(instruction: number, kind: number): boolean {
    return this.#members.get(instruction)?.[kind] === true;
  }
}
