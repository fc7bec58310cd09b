// Markdown as the pages of this repository use it, as HTML: headings, paragraphs, lists, tables, blocks of code, links,
// bold and code. All text is escaped; HTML in a page is shown as text.

/**
 * @typedef {(target: string) => string | undefined} LinkTo gives the address of a link, or undefined for none
 */

const TABLE_RULE = /^\|(?:\s*:?-+:?\s*\|)+$/;

/**
 * The HTML of a page's body.
 * @param {string} markdown
 * @param {LinkTo} linkTo
 */
export function htmlOf(markdown, linkTo) {
  const lines = markdown.split("\n");
  /** @type {string[]} */
  const parts = [];
  let at = 0;
  while (at < lines.length) {
    const { html, next } = partAt(lines, at, linkTo);
    if (html !== "") parts.push(html);
    at = next;
  }
  return parts.join("\n");
}

/** The text of a page's first heading. @param {string} markdown */
export function titleOf(markdown) {
  return /^# (.+)$/m.exec(markdown)?.[1] ?? "";
}

/** The anchor of a heading, as GitHub makes it. @param {string} heading */
export function anchorOf(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");
}

/**
 * @param {readonly string[]} lines
 * @param {number} at
 * @param {LinkTo} linkTo
 * @returns {{ html: string, next: number }}
 */
function partAt(lines, at, linkTo) {
  const line = lines[at] ?? "";
  if (line.trim() === "") return { html: "", next: at + 1 };
  const [, marks, heading = ""] = /^(#{1,6}) (.+)$/.exec(line) ?? [];
  if (marks !== undefined) {
    const tag = `h${marks.length}`;
    return { html: `<${tag} id="${escaped(anchorOf(heading))}">${inline(heading, linkTo)}</${tag}>`, next: at + 1 };
  }
  const [fence] = /^`{3,}/.exec(line) ?? [];
  if (fence !== undefined) return codeAt(lines, at, fence);
  if (line.startsWith("|") && TABLE_RULE.test(lines[at + 1]?.trim() ?? "")) return tableAt(lines, at, linkTo);
  if (/^(?:- |\d+\. )/.test(line)) return listAt(lines, at, linkTo);
  const end = endOf(lines, at, (next) => next.trim() === "" || /^(?:#{1,6} |```|\||- )/.test(next));
  return { html: `<p>${inline(lines.slice(at, end).join("\n"), linkTo)}</p>`, next: end };
}

/**
 * @param {readonly string[]} lines
 * @param {number} at
 * @param {(line: string) => boolean} isEnd
 */
function endOf(lines, at, isEnd) {
  let end = at + 1;
  while (end < lines.length && !isEnd(lines[end] ?? "")) end += 1;
  return end;
}

/**
 * @param {readonly string[]} lines
 * @param {number} at
 * @param {string} fence
 */
function codeAt(lines, at, fence) {
  const end = endOf(lines, at, (line) => line.trim() === fence);
  return {
    html: `<pre tabindex="0"><code>${escaped(lines.slice(at + 1, end).join("\n"))}</code></pre>`,
    next: end + 1,
  };
}

/**
 * @param {readonly string[]} lines
 * @param {number} at
 * @param {LinkTo} linkTo
 */
function tableAt(lines, at, linkTo) {
  const end = endOf(lines, at, (line) => !line.startsWith("|"));
  const rows = [at, ...Array.from({ length: end - at - 2 }, (_, index) => at + 2 + index)].map((index, row) => {
    const tag = row === 0 ? "th" : "td";
    const cells = (lines[index] ?? "")
      .trim()
      .replaceAll(/^\||\|$/g, "")
      .split(/(?<!\\)\|/);
    return `<tr>${cells.map((cell) => `<${tag}>${inline(cell.replaceAll("\\|", "|").trim(), linkTo)}</${tag}>`).join("")}</tr>`;
  });
  return { html: `<div class="table" tabindex="0"><table>${rows.join("\n")}</table></div>`, next: end };
}

/**
 * @param {readonly string[]} lines
 * @param {number} at
 * @param {LinkTo} linkTo
 */
function listAt(lines, at, linkTo) {
  const end = endOf(lines, at, (line) => line.trim() === "" || /^(?:#|```|\|)/.test(line));
  const tag = /^\d/.test(lines[at] ?? "") ? "ol" : "ul";
  const items = lines
    .slice(at, end)
    .join("\n")
    .split(/^(?:- |\d+\. )/m)
    .slice(1);
  return {
    html: `<${tag}>${items.map((item) => `<li>${inline(item.trim(), linkTo)}</li>`).join("\n")}</${tag}>`,
    next: end,
  };
}

/**
 * Code, links and bold of one piece of text.
 * @param {string} text
 * @param {LinkTo} linkTo
 * @returns {string}
 */
function inline(text, linkTo) {
  return text
    .split(/(``?[^`]+``?|!?\[[^\]]*\]\([^)\s]+\)|\*\*[^*]+\*\*|\*[^*\s][^*]*\*)/)
    .map((piece) => {
      if (piece.startsWith("`")) return `<code>${escaped(piece.replaceAll(/^``? ?| ?``?$/g, ""))}</code>`;
      const [, words, target] = /^\[([^\]]*)\]\(([^)]+)\)$/.exec(piece) ?? [];
      if (words !== undefined && target !== undefined) return link(words, target, linkTo);
      if (piece.startsWith("![")) return escaped(/^!\[([^\]]*)/.exec(piece)?.[1] ?? "");
      if (piece.startsWith("**") && piece.length > 4) return `<b>${inline(piece.slice(2, -2), linkTo)}</b>`;
      if (piece.startsWith("*") && piece.length > 2) return `<i>${inline(piece.slice(1, -1), linkTo)}</i>`;
      return escaped(piece);
    })
    .join("");
}

/**
 * @param {string} words
 * @param {string} target
 * @param {LinkTo} linkTo
 */
function link(words, target, linkTo) {
  const address = linkTo(target);
  const shown = inline(words, () => undefined);
  return address === undefined ? shown : `<a href="${escaped(address)}">${shown}</a>`;
}

/** Text as HTML shows it. @param {string} text */
export function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
