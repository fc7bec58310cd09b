import { extname } from "node:path";
import { DOCUMENT_LIMITS, KNOWLEDGE_LIMITS } from "@vidro/core";
import type { DocumentSection } from "@vidro/core";
import { headOf } from "@vidro/core/text";
import { htmlText } from "../web/html-text.ts";

/** Headings of Markdown, AsciiDoc and Org. */
const MARKED = /^(?:#{1,6}|={1,6}|\*{1,6})\s+(\S.*?)\s*[#=]*$/;
/** The line below a heading of reStructuredText, or of Markdown in its older form. */
const UNDERLINE = /^([=\-~^"'`*+#])\1{2,}\s*$/;

/** A document in sections: one for each heading, and where one is long, several. */
export function sectionsOf(text: string, path: string): readonly DocumentSection[] {
  const isHtml = /^\.html?$/i.test(extname(path));
  const lines = (isHtml ? htmlText(text, "about:blank").text : text).split(/\r?\n/);
  const sections: DocumentSection[] = [];
  let open = { line: 1, title: "", lines: [] as string[], chars: 0 };
  const close = (line: number, title: string): void => {
    const body = open.lines.join("\n").trim();
    if (body !== "" && sections.length < DOCUMENT_LIMITS.sections)
      // The lines of a page as text are not those of its file.
      sections.push({ line: isHtml ? 1 : open.line, title: titleOf(open.title, body), text: body });
    open = { line, title, lines: [], chars: 0 };
  };
  for (const [index, line] of lines.entries()) {
    const heading = headingAt(lines, index);
    if (heading !== undefined) close(index + 1, heading);
    else if (open.chars + line.length > DOCUMENT_LIMITS.sectionChars) close(index + 1, open.title);
    for (const [at, piece] of piecesOf(line).entries()) {
      if (at > 0) close(index + 1, open.title);
      open.lines.push(piece);
      open.chars += piece.length + 1;
    }
  }
  close(0, "");
  return sections;
}

/** A line in pieces that fit into a section; some documents have a whole chapter on one line. */
function piecesOf(line: string): readonly string[] {
  const pieces: string[] = [];
  for (let from = 0; from === 0 || from < line.length;) {
    const piece = headOf(line.slice(from), DOCUMENT_LIMITS.sectionChars);
    pieces.push(piece);
    from += Math.max(piece.length, 1);
  }
  return pieces;
}

function headingAt(lines: readonly string[], index: number): string | undefined {
  const line = lines[index] ?? "";
  // Of a title no more is kept, and the pattern takes long for long blanks.
  const marked = MARKED.exec(line.slice(0, 2 * KNOWLEDGE_LIMITS.titleChars))?.[1];
  if (marked !== undefined) return marked;
  const isUnderlined = /^\S/.test(line) && !UNDERLINE.test(line) && UNDERLINE.test(lines[index + 1] ?? "");
  return isUnderlined && (index === 0 || (lines[index - 1] ?? "").trim() === "") ? line.trim() : undefined;
}

function titleOf(heading: string, body: string): string {
  return (heading === "" ? (body.split("\n")[0] ?? "") : heading).trim().slice(0, KNOWLEDGE_LIMITS.titleChars);
}
