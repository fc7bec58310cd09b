import type { Arguments, Options, OptionValue, ProcessRule } from "@vidro/core/policy";

/** A line of plain words as a list, for rules and examples without blanks in a word. */
export const words = (line: string): readonly string[] => (line === "" ? [] : line.trim().split(/\s+/));

/** Options that share one type: `each("-n -c", "number")`. */
export const each = (names: string, type: OptionValue): Options =>
  Object.fromEntries(words(names).map((name) => [name, type]));

/** Options without a value. */
export const flags = (names: string): Options => each(names, "flag");

/** Examples as lines; a word with a blank in it needs a real list. */
export const lines = (match: readonly string[], notMatch: readonly string[]): ProcessRule["examples"] => ({
  match: match.map(words),
  not_match: notMatch.map(words),
});

/** A rule that lets a command look and change nothing. */
export function looks(
  id: string,
  program: string,
  args: Arguments,
  more: Pick<ProcessRule, "examples"> & Partial<Pick<ProcessRule, "cwd" | "sees">>,
): ProcessRule {
  return { kind: "process", id, program: words(program), arguments: args, class: "read", decision: "allow", ...more };
}
