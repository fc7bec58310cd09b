import { Fault, HAND_LIMITS } from "@vidro/core";
import type { CharSet } from "./char-set.ts";
import type { Assertion, RegexNode } from "./parse.ts";

/** One instruction of a pattern's program; numbers are indexes of instructions. */
export type Instruction =
  | { readonly op: "char"; readonly set: CharSet; next: number }
  | { readonly op: "assert"; readonly that: Assertion; next: number }
  | { readonly op: "split"; readonly next: number[] }
  | { readonly op: "match" };

/** Instructions of a nondeterministic automaton; the first is index 0, the last is the only `match`. */
export type Program = readonly Instruction[];

/** Compiles a pattern; throws BAD_ARGUMENTS if its repetitions make it larger than the bound. */
export function compileProgram(pattern: RegexNode): Program {
  const program: Instruction[] = [];
  append(pattern, program);
  program.push({ op: "match" });
  return program;
}

/** Appends a pattern; when it has matched, the instruction behind it is next. */
function append(pattern: RegexNode, program: Instruction[]): void {
  if (program.length > HAND_LIMITS.regexSize) {
    throw new Fault(
      "BAD_ARGUMENTS",
      "The regular expression is refused: its repetitions make it too large; use smaller counts.",
    );
  }
  switch (pattern.kind) {
    case "char":
      program.push({ op: "char", set: pattern.set, next: program.length + 1 });
      return;
    case "assert":
      program.push({ op: "assert", that: pattern.that, next: program.length + 1 });
      return;
    case "all":
      for (const part of pattern.parts) append(part, program);
      return;
    case "one":
      appendChoices(pattern.choices, program);
      return;
    case "repeat":
      appendRepeated(pattern, program);
  }
}

function appendChoices(choices: readonly RegexNode[], program: Instruction[]): void {
  const split: number[] = [];
  program.push({ op: "split", next: split });
  const ends: number[][] = [];
  for (const choice of choices) {
    split.push(program.length);
    append(choice, program);
    const end: number[] = [];
    program.push({ op: "split", next: end });
    ends.push(end);
  }
  for (const end of ends) end.push(program.length);
}

function appendRepeated({ part, least, most }: Extract<RegexNode, { kind: "repeat" }>, program: Instruction[]): void {
  for (let count = 0; count < least; count += 1) {
    const before = program.length;
    append(part, program);
    // An empty part is the same however often it is repeated.
    if (program.length === before) return;
  }
  if (most === Infinity) {
    const at = program.length;
    const split: number[] = [at + 1];
    program.push({ op: "split", next: split });
    append(part, program);
    program.push({ op: "split", next: [at] });
    split.push(program.length);
    return;
  }
  const skips: number[][] = [];
  for (let count = least; count < most; count += 1) {
    const skip: number[] = [program.length + 1];
    program.push({ op: "split", next: skip });
    append(part, program);
    skips.push(skip);
  }
  for (const skip of skips) skip.push(program.length);
}

/** The longest text that every match contains, case included; empty if none is known. */
export function requiredText(pattern: RegexNode): string {
  if (pattern.kind === "char") return pattern.literal ?? "";
  if (pattern.kind === "repeat") return pattern.least > 0 ? requiredText(pattern.part) : "";
  if (pattern.kind !== "all") return "";
  let [longest, run] = ["", ""];
  const keep = (text: string): void => {
    if (text.length > longest.length) longest = text;
  };
  for (const part of pattern.parts) {
    if (part.kind === "char" && part.literal !== undefined) run += part.literal;
    else {
      keep(run);
      run = "";
      keep(requiredText(part));
    }
  }
  keep(run);
  return longest;
}
