import { approvalAsked, approvalRows } from "@vidro/core/text";
import type { Approvable, Language } from "@vidro/core/text";
import type { Paint } from "./symbols.ts";

/** Width of the names of an approval's rows. */
const NAME_CHARS = 9;
const TEXT_MARGIN = " ".repeat(NAME_CHARS + 1);

/** The question about a plan, and below it the facts that a person needs to decide, one line each. */
export function approvalLines(
  asked: Approvable,
  language: Language | undefined,
  paint: Paint,
): readonly [question: string, ...lines: readonly string[]] {
  const rows = approvalRows(asked, language).flatMap(([name, text]) => {
    const [first = "", ...others] = text.split("\n");
    return [`${paint("dim", name.padEnd(NAME_CHARS))} ${first}`, ...others.map((line) => `${TEXT_MARGIN}${line}`)];
  });
  return [approvalAsked(language), ...rows];
}
