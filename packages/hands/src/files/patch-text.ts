import { Fault } from "@vidro/core";

/*
 * What `git apply` demands of a patch before it looks at the file, and the library that parses patches does not:
 * the lines of every hunk are exactly as many as its header counts, each ends in a newline, and one of them changes
 * something. A patch that was cut off while it was sent is refused by this, and not applied as far as it goes.
 */

const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;
/** Says that the line before it has no line end; git takes no shorter line for this marker. */
const NO_NEWLINE = /^\\ .{10}/;
/** The line before the signature of a mail, as `git format-patch` writes it. */
const SIGNATURE = /^-- \r?\n?$/;
const FILE_HEADER = /^(?:diff |Index: |--- |\+\+\+ |@@ )/;

/** The fault of a patch that cannot be taken for what it says. */
export function refusedFault(why: string, cause?: unknown): Fault {
  return new Fault("BAD_ARGUMENTS", `The patch is refused: ${why}.`, { cause });
}

/** The lines of a text with their line ends; the last one may have none. */
export function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+/g) ?? [];
}

/** The patch without the signature of a mail behind it. Throws if a hunk is cut off or is not what its header counts. */
export function readPatchText(text: string): string {
  const lines = linesOf(text);
  const kept: string[] = [];
  let isSignature = false;
  let hasHunk = false;
  for (let at = 0; at < lines.length;) {
    const line = lines[at]!;
    const hunk = HUNK.exec(line);
    const end = hunk === null ? at + 1 : hunkEnd(lines, at, hunk);
    hasHunk ||= hunk !== null;
    isSignature = hasHunk && (SIGNATURE.test(line) || (isSignature && !FILE_HEADER.test(line)));
    if (hunk === null && !isSignature && !line.endsWith("\n") && !NO_NEWLINE.test(line)) throw cutOffFault();
    if (!isSignature) for (const one of lines.slice(at, end)) kept.push(one);
    at = end;
  }
  return kept.join("");
}

/** Where the lines end of the hunk whose header is at `header`. */
function hunkEnd(lines: readonly string[], header: number, [, before = "1", after = "1"]: RegExpExecArray): number {
  let [old, fresh] = [Number(before), Number(after)];
  let changes = 0;
  let at = header + 1;
  for (; old > 0 || fresh > 0; at++) {
    const line = lines[at];
    if (line === undefined || !line.endsWith("\n")) throw cutOffFault();
    const sign = line.charAt(0);
    if (sign === "\\") continue;
    if (sign !== "+") old -= 1;
    if (sign !== "-") fresh -= 1;
    if (sign === "+" || sign === "-") changes += 1;
    if (!/[-+ \r\n]/.test(sign) || old < 0 || fresh < 0) throw countFault(lines[header]!);
  }
  if (changes === 0) throw refusedFault(`the hunk ${lines[header]!.trim()} changes nothing`);
  const marker = lines[at];
  if (marker?.startsWith("\\") !== true) return at;
  if (!NO_NEWLINE.test(marker)) throw cutOffFault();
  return at + 1;
}

function cutOffFault(): Fault {
  return refusedFault("it is cut off: a hunk has as many lines as its header counts, and each ends in a newline");
}

function countFault(header: string): Fault {
  return refusedFault(`the lines of the hunk ${header.trim()} are not as many as it counts`);
}
