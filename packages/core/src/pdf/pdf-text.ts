import { PDF_LIMITS } from "../limits.ts";
import { PdfDocument } from "./document.ts";
import type { InflateBytes } from "./document.ts";
import type { PdfFont } from "./font.ts";
import { PdfPageText } from "./page-text.ts";
import { asList, asName, PdfMisfit } from "./syntax.ts";
import type { PdfDictionary, PdfValue } from "./syntax.ts";

/** The text of a PDF with a line `[page 1]` before each page, or why there is none. */
export type PdfText =
  | { readonly text: string; readonly pages: number }
  /** `pages` is there when they can be looked at, although no text of them can be had. */
  | { readonly misfit: string; readonly pages?: number };

/** Reads the text of a PDF. What a page does not give is said on that page; nothing is guessed. */
export function pdfText(bytes: Uint8Array, inflate: InflateBytes): PdfText {
  try {
    const document = new PdfDocument(bytes, inflate);
    const pages = pagesOf(document);
    if (pages.length === 0) return { misfit: "it has no page that can be found; it is damaged or cut off" };
    const fonts = new Map<PdfDictionary, PdfFont>();
    const read = pages.map((page) => readPage(page, document, fonts));
    if (read.every(({ isEmpty }) => isEmpty)) {
      const isSeen = read.some(({ lost, hasImage }) => lost > 0 || hasImage) && !read.some(({ isBroken }) => isBroken);
      return { misfit: emptyMisfit(read), ...(isSeen ? { pages: pages.length } : {}) };
    }
    const text = read.map((page, at) => [`[page ${at + 1}]`, ...page.lines].join("\n")).join("\n\n");
    return { text, pages: pages.length };
  } catch (error) {
    if (error instanceof PdfMisfit) return { misfit: error.message };
    throw error;
  }
}

/** A page with what it takes over from the branches of the tree above it. */
interface FoundPage {
  readonly page: PdfDictionary;
  readonly resources: PdfDictionary | undefined;
}

function pagesOf(document: PdfDocument): readonly FoundPage[] {
  const root = document.root() ?? document.ofType("Catalog").at(-1);
  const pages: FoundPage[] = [];
  const walk = (value: PdfValue | undefined, inherited: PdfDictionary | undefined, depth: number): void => {
    document.spend(1);
    const node = document.dictionary(value);
    if (node === undefined || depth > PDF_LIMITS.depth) return;
    const resources = document.dictionary(node.get("Resources")) ?? inherited;
    const kids = asList(document.resolve(node.get("Kids")));
    if (kids === undefined) pages.push({ page: node, resources });
    if (pages.length > PDF_LIMITS.pages) throw new PdfMisfit(`it has more than ${PDF_LIMITS.pages} pages`);
    for (const kid of kids ?? []) walk(kid, resources, depth + 1);
  };
  walk(root?.get("Pages"), undefined, 0);
  if (pages.length > 0) return pages;
  // A file that is cut off may have pages without the tree that leads to them.
  const loose = document.ofType("Page").slice(0, PDF_LIMITS.pages);
  return loose.map((page) => ({ page, resources: document.dictionary(page.get("Resources")) }));
}

/** A page as it is told, and what it has instead of text. */
interface ReadPage {
  readonly lines: readonly string[];
  readonly isEmpty: boolean;
  readonly lost: number;
  readonly isBroken: boolean;
  readonly hasImage: boolean;
}

function readPage({ page, resources }: FoundPage, document: PdfDocument, fonts: Map<PdfDictionary, PdfFont>): ReadPage {
  const contents = document.resolve(page.get("Contents"));
  const streams = asList(contents) ?? (contents === undefined || contents === null ? [] : [contents]);
  // Pages may share a list, so its length counts on each of them.
  document.spend(streams.length);
  const decoded = streams.map((stream) => document.content(stream));
  const shown = new PdfPageText(document, fonts);
  // An operator and its operands may stand in two streams.
  shown.follow(decoded.map((content) => content ?? "").join("\n"), resources);
  const text = shown.text();
  const isBroken = shown.isBroken || decoded.includes(undefined);
  const { lost } = shown;
  const hasImage = shown.hasImage || hasScan(resources, document);
  const notes = [
    ...(lost > 0
      ? [`[${lost} characters of this page are left out: its fonts do not say which letters they are]`]
      : []),
    ...(isBroken ? ["[a part of this page could not be decoded]"] : []),
    ...(text === "" && lost === 0 && !isBroken
      ? [`[this page has no text${hasImage ? "; it shows an image" : ""}]`]
      : []),
  ];
  return { lines: text === "" ? notes : [text, ...notes], isEmpty: text === "", lost, isBroken, hasImage };
}

function hasScan(resources: PdfDictionary | undefined, document: PdfDocument): boolean {
  const drawn = [...(document.dictionary(resources?.get("XObject")) ?? new Map<string, PdfValue>()).values()];
  document.spend(drawn.length);
  return drawn.some((value) => asName(document.dictionary(value)?.get("Subtype")) === "Image");
}

function emptyMisfit(pages: readonly ReadPage[]): string {
  if (pages.some(({ lost }) => lost > 0)) return "its fonts do not say which letters its text is made of";
  if (pages.some(({ isBroken }) => isBroken)) return "its pages could not be decoded; it is damaged or cut off";
  if (pages.some(({ hasImage }) => hasImage))
    return "its pages are images without text, as a scanner makes them; make images of its pages to look at them";
  return "its pages have no text";
}
