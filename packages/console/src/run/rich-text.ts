/*
 * What models write is mostly text with a few signs of Markdown. The signs that matter for reading are understood; what is
 * not understood stays as it was written. Links are text: a model's address is looked at before it is opened.
 */

/** A piece of a line: plain, code, or of weight. */
export interface TextPiece {
  readonly kind: "plain" | "code" | "strong";
  readonly text: string;
}

/** A block of a text: lines that belong together, a heading, points of a list, or code. */
export type TextBlock =
  | { readonly kind: "lines" | "heading"; readonly text: string }
  | { readonly kind: "points"; readonly isCounted: boolean; readonly first: number; readonly points: readonly string[] }
  | { readonly kind: "code"; readonly text: string };

/** The name of a language may stand behind it. */
const FENCE = /^ {0,3}(`{3,}|~{3,})[\w+-]*\s*$/;
const POINT = /^ {0,3}(?:[-*+]|(\d{1,6})[.)]) +(\S.*)$/;
const HEADING = /^#{1,6} +(\S.*?)#*$/;
/** A row of a table, or a line of an output that the offline model quotes. */
const ROW = /^ {0,3}\|.*\|\s*$|^ *│/;

/** The blocks of a text, in order. */
export function blocksOf(text: string): readonly TextBlock[] {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const blocks: TextBlock[] = [];
  for (let at = 0; at < lines.length;) {
    const [block, next] = blockAt(lines, at);
    if (block !== undefined) blocks.push(block);
    at = next;
  }
  return blocks;
}

/** The block that begins on a line, and the line behind it. */
function blockAt(lines: readonly string[], at: number): readonly [block: TextBlock | undefined, next: number] {
  const line = lines[at] ?? "";
  if (line.trim() === "") return [undefined, at + 1];
  const [, fence] = FENCE.exec(line) ?? [];
  if (fence !== undefined) return codeAt(lines, at, fence);
  const [, heading] = HEADING.exec(line) ?? [];
  if (heading !== undefined) return [{ kind: "heading", text: heading.trim() }, at + 1];
  if (POINT.test(line)) return pointsAt(lines, at);
  // Columns stand below each other only in code.
  if (ROW.test(line)) {
    const end = endOf(lines, at, (one) => ROW.test(one));
    return [{ kind: "code", text: lines.slice(at, end).join("\n") }, end];
  }
  const end = endOf(lines, at, isPlain);
  return [{ kind: "lines", text: lines.slice(at, end).join("\n") }, end];
}

function isPlain(line: string): boolean {
  return ![FENCE, POINT, HEADING, ROW].some((sign) => sign.test(line)) && line.trim() !== "";
}

/** The first line behind `at` that does not belong. */
function endOf(lines: readonly string[], at: number, belongs: (line: string) => boolean): number {
  let end = at + 1;
  while (end < lines.length && belongs(lines[end] ?? "")) end += 1;
  return end;
}

/** Code up to the sign that closes it, or up to the end of a text that is still being written. */
function codeAt(lines: readonly string[], at: number, fence: string): readonly [block: TextBlock, next: number] {
  const end = endOf(lines, at, (line) => line.trim() !== fence);
  return [{ kind: "code", text: lines.slice(at + 1, end).join("\n") }, end + 1];
}

/** Points of one kind; a line that is indented belongs to the point above it. */
function pointsAt(lines: readonly string[], at: number): readonly [block: TextBlock, next: number] {
  const points: string[] = [];
  const [, number] = POINT.exec(lines[at] ?? "") ?? [];
  const isCounted = number !== undefined;
  let end = at;
  for (; end < lines.length; end += 1) {
    const line = lines[end] ?? "";
    const [, counted, words] = POINT.exec(line) ?? [];
    if (words !== undefined && (counted !== undefined) === isCounted) points.push(words);
    else if (/^\s+\S/.test(line)) points.push(`${points.pop() ?? ""}\n${line.trimEnd()}`);
    else break;
  }
  return [{ kind: "points", isCounted, first: Number(number ?? 1), points }, end];
}

/** The pieces of a text: code between backquotes and words between two stars. */
export function piecesOf(text: string): readonly TextPiece[] {
  return text
    .split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/)
    .map((part, index): TextPiece => {
      if (index % 2 === 0) return { kind: "plain", text: part };
      return part.startsWith("`")
        ? { kind: "code", text: part.slice(1, -1) }
        : { kind: "strong", text: part.slice(2, -2) };
    })
    .filter((piece) => piece.text !== "");
}
