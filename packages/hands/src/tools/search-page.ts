import { HAND_LIMITS } from "@vidro/core";
import type { Json } from "@vidro/core";
import { isBinary } from "../files/files.ts";
import { findLines } from "../files/line-search.ts";
import type { LineFinder, LineMatch } from "../files/line-search.ts";

/** The shown part of a search. */
interface PageOptions {
  readonly show: "lines" | "files" | "counts";
  readonly limit: number;
  readonly offset: number;
  readonly context: number;
}

type FoundLine = LineMatch & { readonly path: string };

/** Collects one page of what a search finds, up to the bounds. */
export class SearchPage {
  /** Why the search ended before all files were seen. */
  full: string | undefined;
  /** Where the next page begins; undefined if this is the last one. */
  next: number | undefined;
  readonly #finder: LineFinder;
  readonly #options: PageOptions;
  readonly #required: Buffer;
  readonly #lines: FoundLine[] = [];
  readonly #files: { path: string; count: number }[] = [];
  #met = 0;
  #seenBytes = 0;
  #shownBytes = 0;

  constructor(finder: LineFinder, options: PageOptions) {
    this.#finder = finder;
    this.#options = options;
    this.#required = Buffer.from(finder.required);
  }

  /** A text that every file with a match holds; empty when there is none. */
  get required(): string {
    return this.#finder.required;
  }

  /** Searches one file; its path is asked for only when it may have a match. */
  lookInto(bytes: Buffer, pathOf: () => string): void {
    this.#seenBytes += bytes.length;
    if (this.#seenBytes > HAND_LIMITS.searchBytes)
      this.full = `more than ${HAND_LIMITS.searchBytes} bytes were looked through`;
    // Most files do not contain the text, and comparing bytes is much faster than decoding.
    if (!bytes.includes(this.#required) || isBinary(bytes)) return;
    const [text, path] = [bytes.toString(), pathOf()];
    if (this.#options.show === "lines") this.#takeLines(text, path);
    else this.#takeFile(text, path);
  }

  /** The page for the model; `nothing` if the search found nothing. */
  text(nothing: string): string {
    const { show, context } = this.#options;
    const files = this.#files.map(({ path, count }) => (show === "counts" ? `${path}:${count}` : path));
    const lines = show !== "lines" ? files : context === 0 ? this.#lines.map(lineText) : linesWithContext(this.#lines);
    const more = this.next === undefined ? "" : `\n[there is more: go on with offset ${this.next}]`;
    const none = this.#met === 0 ? nothing : `[nothing behind offset ${this.#options.offset}; there are ${this.#met}]`;
    return (lines.length === 0 ? none : lines.join("\n")) + more;
  }

  /** The page for programs. */
  data(): { readonly [name: string]: Json } {
    const next = this.next === undefined ? {} : { next: this.next };
    if (this.#options.show === "lines") return { matches: this.#lines.map((line) => ({ ...line })), ...next };
    return { files: this.#files, ...next };
  }

  #takeLines(text: string, path: string): void {
    for (const match of findLines(text, this.#finder, this.#options.context)) {
      const around = [...(match.before ?? []), ...(match.after ?? [])].join("\n");
      if (this.#take(path + match.text + around)) this.#lines.push({ path, ...match });
      if (this.next !== undefined) return;
    }
  }

  #takeFile(text: string, path: string): void {
    let count = 0;
    const most = this.#options.show === "files" ? 1 : Infinity;
    for (const found = findLines(text, this.#finder, 0); count < most && found.next().done !== true;) count += 1;
    if (count > 0 && this.#take(path)) this.#files.push({ path, count });
  }

  /** Whether the next item belongs to the page; the first that does not fit begins the next page. */
  #take(shown: string): boolean {
    this.#met += 1;
    const { offset, limit } = this.#options;
    if (this.#met <= offset) return false;
    this.#shownBytes += Buffer.byteLength(shown);
    const count = this.#lines.length + this.#files.length;
    if (count < limit && (count === 0 || this.#shownBytes <= HAND_LIMITS.readBytes)) return true;
    this.next = offset + count;
    return false;
  }
}

function lineText({ path, line, text }: FoundLine): string {
  return `${path}:${line}:${text}`;
}

/** Lines as grep shows them: matches with colons, the lines around them with dashes, and -- where lines are missing. */
function linesWithContext(found: readonly FoundLine[]): string[] {
  const lines: string[] = [];
  let last = { path: "", line: 0 };
  for (const match of found) {
    const { path, line, before = [], after = [] } = match;
    const first = line - before.length;
    if (lines.length > 0 && (path !== last.path || first > last.line + 1)) lines.push("--");
    lines.push(...before.map((text, index) => `${path}-${first + index}-${text}`), lineText(match));
    lines.push(...after.map((text, index) => `${path}-${line + 1 + index}-${text}`));
    last = { path, line: line + after.length };
  }
  return lines;
}
