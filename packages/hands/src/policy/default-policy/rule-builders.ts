import type { Options, OptionValue, ProcessRule } from "@vidro/core/policy";

/** Splits a line into words, for rules and examples without blanks in a word. */
export const splitWords = (line: string): readonly string[] => (line === "" ? [] : line.trim().split(/\s+/));

/** Options of one type: `optionsOf("-n -c", "number")`. */
export const optionsOf = (names: string, type: OptionValue): Options =>
  Object.fromEntries(splitWords(names).map((name) => [name, type]));

/** Options without a value. */
export const flags = (names: string): Options => optionsOf(names, "flag");

/** Examples from lines; not for words that contain a blank. */
export const exampleLines = (match: readonly string[], notMatch: readonly string[]): ProcessRule["examples"] => ({
  match: match.map(splitWords),
  not_match: notMatch.map(splitWords),
});

/** The parts of a read-only rule beside its id and programs. */
type ReadOnlyParts = Pick<ProcessRule, "arguments" | "examples"> & Partial<Pick<ProcessRule, "cwd" | "sees">>;

/** A rule that allows a read-only command; `program` lists one or more names. */
export function readOnlyRule(id: string, program: string, parts: ReadOnlyParts): ProcessRule {
  return {
    kind: "process",
    id,
    program: splitWords(program),
    class: "read",
    decision: "allow",
    ...parts,
  };
}
