import { approvalAsked, approvalRows, explainingRows, writesFiles } from "@vidro/core/text";
import type { Approvable, Language } from "@vidro/core/text";
import { wrapText } from "./columns.ts";
import { keepSigns } from "./control-sequences.ts";
import type { Paint } from "./symbols.ts";

/** Width of the names of an approval's rows. */
const NAME_CHARS = 9;
const TEXT_MARGIN = " ".repeat(NAME_CHARS + 1);

/** Fields of the tools that change files, and what their lines are: taken out, put in, or lines of a patch. */
const CHANGES: { readonly [field: string]: "-" | "+" | "patch" } = {
  old_string: "-",
  new_string: "+",
  content: "+",
  patch: "patch",
};

/** How the lines are shown: their colours, and how many columns there are for one. */
interface ShownHow {
  readonly paint: Paint;
  readonly columns: number;
}

/**
 * The question about a plan, and below it the facts that a person needs to decide, one line each; edits as a diff.
 * Sentences are broken between words, words of the plan never.
 */
export function approvalLines(
  asked: Approvable,
  language: Language | undefined,
  { paint, columns }: ShownHow,
): readonly [question: string, ...lines: readonly string[]] {
  const isEdit = writesFiles(asked.plan);
  const explaining = explainingRows(language);
  const rows = approvalRows(asked, language).flatMap(([name, text]) => {
    const change = isEdit && Object.hasOwn(CHANGES, name) ? CHANGES[name] : undefined;
    if (change !== undefined) return changeLines(change, keepSigns(text), paint);
    const isSentence = explaining.has(name);
    const shown = isSentence ? wrapText(text, columns - TEXT_MARGIN.length) : keepSigns(text).split("\n");
    const [first = "", ...others] = shown;
    return [`${paint("dim", name.padEnd(NAME_CHARS))} ${first}`, ...others.map((line) => `${TEXT_MARGIN}${line}`)];
  });
  return [approvalAsked(language), ...rows];
}

/** Lines that are taken out or put in, each behind its sign. */
function changeLines(change: "-" | "+" | "patch", text: string, paint: Paint): readonly string[] {
  const lines = text.replace(/\n$/, "").split("\n");
  return lines.map((line) => {
    const sign = change === "patch" ? line.charAt(0) : change;
    const shown = change === "patch" ? line : `${change} ${line}`;
    const style = sign === "+" ? "green" : sign === "-" ? "red" : "dim";
    return `${TEXT_MARGIN}${paint(style, shown)}`;
  });
}
