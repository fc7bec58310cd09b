import { basename } from "node:path";

/*
 * The paths that the words of a command rename or remove. A line is not parsed as a shell would: words that are put
 * together when it runs are not found.
 */

/** Programs that rename or remove the folders that they are given. */
const MOVERS = new Set(["mv", "rm", "rmdir"]);

/** Characters that end one command of a line. */
const ENDS = /[;&|()`\n]+/u;
/** Ends where its file does: a command may stand right behind it. A run of digits is looked at from its first one only. */
const REDIRECTION = /(?<!\d)\d*[<>]+&?[ \t]*[^\s;&|()`<>]*/gu;

/** Operands that a line for a shell renames or removes, as they are written. */
export function findMovedInLine(line: string): readonly string[] {
  return line
    .replaceAll(REDIRECTION, " ")
    .split(ENDS)
    .flatMap((command) => findMovedInWords(command.split(/\s+/u).map((word) => word.replaceAll(/["']/gu, ""))));
}

/** Operands that a command of these words renames or removes; a word with blanks may be a line of its own. */
export function findMovedInWords(words: readonly string[]): readonly string[] {
  const lines = words.filter((word) => /\s/u.test(word)).flatMap(findMovedInLine);
  // The program may stand behind others that run it, such as env.
  const at = words.findIndex((word) => MOVERS.has(basename(word)));
  if (at === -1) return lines;
  const given = words.slice(at + 1).filter((word) => word !== "");
  const operands = given.filter((word) => !word.startsWith("-"));
  const hasTarget = given.some((word) => /^(?:-t|--target-directory)/u.test(word));
  const isMove = basename(words[at] ?? "") === "mv";
  // The last operand of mv is where things go to, unless an option names that.
  return [...lines, ...(isMove && !hasTarget ? operands.slice(0, -1) : operands)];
}
