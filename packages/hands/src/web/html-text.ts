/* HTML as text for a model: headings, lists, links, code and tables keep their form in Markdown; scripts are left out. */

/** Elements whose content is never text of the page. */
const UNSEEN = new Set(["script", "style", "template", "svg", "iframe", "object", "noscript", "canvas", "select"]);

/** Elements that begin and end on a line of their own. */
const BLOCKS = new Set(
  "address article aside blockquote body dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tr ul".split(
    " ",
  ),
);

const ENTITIES: { readonly [name: string]: string } = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  copy: "©",
  reg: "®",
  hellip: "…",
  mdash: "—",
  ndash: "–",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  laquo: "«",
  raquo: "»",
  bull: "•",
  middot: "·",
  times: "×",
  rarr: "→",
  larr: "←",
  euro: "€",
};

/** A page as text. */
interface PageText {
  readonly title: string;
  readonly text: string;
}

/** The text of an HTML page; links are resolved against its address. Takes time linear in the length of the page. */
export function htmlText(html: string, base: string): PageText {
  const writer = new PageWriter(base);
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf("<", at);
    if (open === -1) break;
    writer.write(html.slice(at, open));
    at = writer.takeMarkup(html, open);
  }
  writer.write(html.slice(at));
  return writer.page();
}

const TAG = /^<(\/?)([a-zA-Z][a-zA-Z0-9-]*)/;

class PageWriter {
  readonly #base: string;
  readonly #pieces: string[] = [];
  #title = "";
  /** Addresses of the links that are open. */
  readonly #links: string[] = [];
  #isInTitle = false;
  #isInCode = 0;

  constructor(base: string) {
    this.#base = base;
  }

  page(): PageText {
    // Line by line: a pattern for blanks before a line end looks at a long run of them again from each of its places.
    const lines = this.#pieces.join("").split("\n");
    const text = lines
      .map((line) => line.trimEnd())
      .join("\n")
      .replaceAll(/\n{3,}/g, "\n\n");
    return { title: squeeze(this.#title).trim(), text: text.trim() };
  }

  write(text: string): void {
    if (text === "") return;
    const words = decodeEntities(text);
    if (this.#isInTitle) this.#title += words;
    else this.#pieces.push(this.#isInCode > 0 ? words : squeeze(words));
  }

  /** Takes the tag or comment at a place, and gives the place behind it. */
  takeMarkup(html: string, open: number): number {
    if (html.startsWith("<!--", open)) return placeBehind(html, "-->", open);
    const [whole, slash = "", name = ""] = TAG.exec(html.slice(open, open + NAME_CHARS)) ?? [];
    if (whole === undefined) {
      const isMarkup = html[open + 1] === "!" || html[open + 1] === "?" || html[open + 1] === "/";
      if (isMarkup) return placeBehind(html, ">", open);
      this.write("<");
      return open + 1;
    }
    const close = endOfTag(html, open + whole.length);
    const element = name.toLowerCase();
    if (slash !== "") this.#end(element);
    else {
      if (UNSEEN.has(element)) return endOfElement(html, element, close);
      this.#begin(element, html.slice(open + whole.length, close));
    }
    return close;
  }

  #begin(element: string, attributes: string): void {
    if (element === "title") this.#isInTitle = true;
    else if (element === "br") this.#pieces.push("\n");
    else if (element === "td" || element === "th") this.#pieces.push(" | ");
    else if (element === "img") this.write(attribute(attributes, "alt"));
    else if (element === "a") this.#beginLink(attribute(attributes, "href"));
    else if (element === "code" && this.#isInCode === 0) this.#pieces.push("`");
    else if (BLOCKS.has(element)) this.#beginBlock(element);
  }

  #beginBlock(element: string): void {
    this.#pieces.push(element === "li" || element === "tr" || element === "dt" ? "\n" : "\n\n");
    const level = /^h([1-6])$/.exec(element)?.[1];
    if (level !== undefined) this.#pieces.push(`${"#".repeat(Number(level))} `);
    else if (element === "li") this.#pieces.push("- ");
    else if (element === "hr") this.#pieces.push("---\n\n");
    else if (element === "pre") {
      this.#isInCode += 1;
      this.#pieces.push("```\n");
    }
  }

  #end(element: string): void {
    if (element === "title") this.#isInTitle = false;
    else if (element === "a") this.#endLink();
    else if (element === "code" && this.#isInCode === 0) this.#pieces.push("`");
    else if (element === "pre" && this.#isInCode > 0) {
      this.#isInCode -= 1;
      this.#pieces.push("\n```\n\n");
    } else if (BLOCKS.has(element) && element !== "li" && element !== "tr") this.#pieces.push("\n\n");
  }

  #beginLink(href: string): void {
    const address = URL.parse(href, this.#base);
    const isPage = href !== "" && !href.startsWith("#") && address !== null && /^https?:$/.test(address.protocol);
    this.#links.push(isPage ? address.href : "");
    if (isPage) this.#pieces.push("[");
  }

  #endLink(): void {
    const address = this.#links.pop() ?? "";
    if (address !== "") this.#pieces.push(`](${address})`);
  }
}

/** Longest name of an element that is looked at. */
const NAME_CHARS = 64;

function placeBehind(html: string, end: string, from: number): number {
  const at = html.indexOf(end, from);
  return at === -1 ? html.length : at + end.length;
}

/** The place behind the `>` that ends a tag; one in a quoted value does not end it. */
function endOfTag(html: string, from: number): number {
  let quote = "";
  for (let at = from; at < html.length; at += 1) {
    const letter = html[at] ?? "";
    if (quote !== "") quote = letter === quote ? "" : quote;
    else if (letter === ">") return at + 1;
    else if (letter === '"' || letter === "'") quote = letter;
  }
  return html.length;
}

function endOfElement(html: string, element: string, from: number): number {
  const end = new RegExp(`</${element}`, "gi");
  end.lastIndex = from;
  return end.exec(html) === null ? html.length : placeBehind(html, ">", end.lastIndex);
}

function attribute(attributes: string, name: string): string {
  const found = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, "i").exec(attributes);
  return decodeEntities(found?.[1] ?? found?.[2] ?? found?.[3] ?? "").trim();
}

function squeeze(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}

function decodeEntities(text: string): string {
  return text.replaceAll(/&(#?)(x?[0-9a-f]{1,7}|[a-z]{2,8});/gi, (whole, mark: string, name: string) => {
    if (mark === "") return ENTITIES[name.toLowerCase()] ?? whole;
    const code = Number(/^x/i.test(name) ? `0${name.toLowerCase()}` : name);
    const isCharacter = code > 0 && code <= LAST_CODE && !(code >= FIRST_HALF && code <= LAST_HALF);
    return isCharacter ? String.fromCodePoint(code) : "\uFFFD";
  });
}

const LAST_CODE = 0x10ffff;
/** Codes of halves of characters, which are none by themselves. */
const [FIRST_HALF, LAST_HALF] = [0xd800, 0xdfff];
