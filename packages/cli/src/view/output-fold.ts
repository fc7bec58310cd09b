import { TERMINAL_LIMITS } from "@vidro/core";
import type { Outcome } from "@vidro/core";
import { countWords, printable } from "@vidro/core/text";

/** What a command wrote, as lines: those of its output, then those of its error output. */
function writtenLines(outcome: Outcome): readonly string[] {
  if (outcome.kind === "value") return [];
  const texts = [outcome.stdout.text, outcome.stderr.text].filter((text) => text.trim() !== "");
  return texts.flatMap((text) => printable(text).trimEnd().split("\n"));
}

/** The head and the tail of what a command wrote, and between them how many lines are left out. */
export function foldedOutput(outcome: Outcome): readonly string[] {
  const lines = writtenLines(outcome).map((line) => line.slice(0, TERMINAL_LIMITS.lineChars));
  const { headLines, outputLines } = TERMINAL_LIMITS;
  // One line is as short as the words about it.
  if (lines.length <= headLines + outputLines + 1) return lines;
  const hidden = lines.length - headLines - outputLines;
  const isCut = outcome.kind === "process" && (outcome.stdout.truncated || outcome.stderr.truncated);
  const note = `… ${countWords(hidden, "line")} not shown${isCut ? ", and more that the journal leaves out" : ""}; --verbose shows them …`;
  return [...lines.slice(0, headLines), note, ...lines.slice(-outputLines)];
}
