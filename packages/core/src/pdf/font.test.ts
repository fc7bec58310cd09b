import assert from "node:assert/strict";
import { test } from "node:test";
import { inflateSync } from "node:zlib";
import { PDF_LIMITS } from "../limits.ts";
import { PdfDocument } from "./document.ts";
import { readFont } from "./font.ts";
import type { PdfFont } from "./font.ts";
import { pdfStream, writePdf } from "./pdf.fixture.ts";

/** The font of a document that has it as its first object. */
function fontOf(dictionary: string, further: Record<number, string | Buffer> = {}): PdfFont {
  const document = new PdfDocument(writePdf({ 1: `<< ${dictionary} >>`, ...further }), inflateSync);
  const font = document.dictionary({ ref: 1 });
  assert.ok(font !== undefined);
  return readFont(font, document);
}

const shown = (font: PdfFont, ...codes: readonly number[]): string =>
  codes.map((code) => font.characters.get(code) ?? "?").join("");
const mapped = (mapping: string, subtype = "/Type0"): PdfFont =>
  fontOf(`/Subtype ${subtype} /ToUnicode 6 0 R`, { 6: pdfStream(mapping) });

test("each encoding gives its own letters to the same codes", () => {
  const codes = [0x41, 0x27, 0x60, 0x80, 0x8a, 0xe9, 0xae, 0x81];
  const encodings: readonly (readonly [string, string])[] = [
    ["/WinAnsiEncoding", "A'`€Šé®?"],
    ["/MacRomanEncoding", "A'`ÄäÈÆÅ"],
    ["/StandardEncoding", "A’‘???fi?"],
    ["/__proto__", "A’‘???fi?"],
    ["<< /BaseEncoding /WinAnsiEncoding >>", "A'`€Šé®?"],
    ["9 0 R", "A'`€Šé®?"],
  ];
  for (const [encoding, text] of encodings) {
    const font = fontOf(`/Subtype /Type1 /Encoding ${encoding}`, { 9: "/WinAnsiEncoding" });
    assert.equal(shown(font, ...codes), text, encoding);
    assert.equal(font.width, 1);
  }
});

test("differences count on from their last number, and a glyph that is not known takes the letter away", () => {
  const differences = "[65 /B /C 90 /eacute /Ccedilla /uni20AC /g99 /constructor /__proto__ /space 200 /ffi]";
  const font = fontOf(`/Subtype /Type1 /Encoding << /Differences ${differences} >>`);
  assert.equal(shown(font, 65, 66, 67), "BCC");
  assert.equal(shown(font, 90, 91, 92, 93, 94, 95, 96), "éÇ€??? ");
  assert.equal(shown(font, 200), "ffi");
});

test("glyphs with accents become one letter, and words that only look so become none", () => {
  const names = ["atilde", "Odieresis", "scaron", "ccedilla", "Aring", "zacute", "xgrave", "atoString", "avalueOf"];
  const font = fontOf(`/Subtype /Type1 /Encoding << /Differences [1 ${names.map((name) => `/${name}`).join(" ")}] >>`);
  assert.equal(shown(font, 1, 2, 3, 4, 5, 6, 7, 8, 9), "ãÖšçÅźx\u0300??");
});

test("a font of symbols, or one that is drawn, has only the letters that it names itself", () => {
  const symbols = "/Subtype /Type1 /FontDescriptor << /Flags 4 >>";
  assert.equal(shown(fontOf(symbols), 65), "?");
  assert.equal(shown(fontOf(`${symbols} /Encoding << /Differences [65 /B] >>`), 65, 66), "B?");
  assert.equal(shown(fontOf(`${symbols} /Encoding /WinAnsiEncoding`), 65), "A");
  assert.equal(shown(fontOf("/Subtype /Type3"), 65), "?");
});

test("a mapping takes single codes and ranges, the later one counts, and it goes before the encoding", () => {
  const font = mapped(
    `2 beginbfchar <0041> <0042> <0042> <D83DDE00> endbfchar
     2 beginbfrange <0043> <0045> <0058> <0050> <0052> [<0061> <00620063>] endbfrange
     1 beginbfchar <0041> <005A> endbfchar`,
    "/TrueType",
  );
  assert.equal(shown(font, 0x41, 0x42, 0x43, 0x44, 0x45), "Z😀XYZ");
  assert.equal(shown(font, 0x50, 0x51, 0x52), "abcR");
  assert.equal(shown(font, 0x61), "a");
});

test("the codes of a composite font have as many bytes as its code space says", () => {
  assert.equal(mapped("begincodespacerange <00> <FF> endcodespacerange").width, 1);
  assert.equal(mapped("begincodespacerange <0000> <FFFF> endcodespacerange").width, 2);
  assert.equal(mapped("begincodespacerange <00> <80> <8140> <9FFC> endcodespacerange").width, 2);
  assert.equal(mapped("").width, 2);
  assert.equal(mapped("begincodespacerange <00> <FF> endcodespacerange", "/Type1").width, 1);
  assert.equal(fontOf("/Subtype /Type0").width, 2);
});

test("mappings that are cut off, turned round or of wrong types give no letters and no error", () => {
  const mappings = [
    "beginbfrange <0005> <0001> <0041> endbfrange",
    "beginbfrange <0001> <0002> endbfrange",
    "beginbfrange <0001> <0002> 5 endbfrange",
    "beginbfrange <0001> <0002> [] endbfrange",
    "beginbfrange <0001> <0002> <> endbfrange",
    "beginbfchar <0001> endbfchar",
    "beginbfchar <0001> <0041>",
    "beginbfchar <0001> [<0041>] endbfchar".replace("[<0041>]", "[[[[[]]]]]"),
  ];
  for (const mapping of mappings) assert.equal((mapped(mapping).characters.get(1) ?? "") || "?", "?", mapping);
});

test("a range of a mapping ends at the highest code, however far it says it goes", () => {
  const font = mapped("beginbfrange <FFFE> <FFFFFFFFFFFF> <0041> endbfrange");
  assert.equal(shown(font, 0xfffe, 0xffff, 0x10000), "AB?");
  assert.equal(font.characters.size, 2);
});

test("widths of a simple font begin at its first code and are unknown outside of its list", () => {
  const font = fontOf("/Subtype /Type1 /FirstChar 65 /Widths [500 9 0 R (x) 700]", { 9: "600" });
  assert.deepEqual(
    [64, 65, 66, 67, 68, 69].map((code) => font.advance(code)),
    [undefined, 500, 600, undefined, 700, undefined],
  );
  const drawn = fontOf("/Subtype /Type3 /FirstChar 65 /Widths [8] /FontMatrix [0.0625 0 0 0.0625 0 0]");
  assert.equal(drawn.advance(65), 500);
});

test("widths of a composite font come one by one, in ranges, or as the usual one", () => {
  const composite = (described: string): PdfFont =>
    fontOf(`/Subtype /Type0 /DescendantFonts [<< ${described} >>]`, { 9: "[7 8]" });
  const font = composite("/DW 250 /W [1 [100 200] 5 6 300 10 9 0 R]");
  assert.deepEqual(
    [0, 1, 2, 3, 5, 6, 7, 10, 11].map((code) => font.advance(code)),
    [250, 100, 200, 250, 300, 300, 250, 7, 8],
  );
  assert.equal(composite("").advance(1), 1000);
  assert.equal(composite("/W [1] /DW (x)").advance(1), 0);
  assert.equal(fontOf("/Subtype /Type0 /DescendantFonts 5").advance(1), 1000);
});

test("widths of codes that no text can have end at once: below zero, beyond the highest, without end", () => {
  const below = fontOf("/Subtype /Type0 /DescendantFonts [<< /W [-99999999999999999999 2 100 -900000000 1 50] >>]");
  assert.deepEqual([below.advance(0), below.advance(1), below.advance(2)], [50, 50, 100]);
  const beyond = fontOf("/Subtype /Type0 /DescendantFonts [<< /W [65535 99999999999999999999 100] >>]");
  assert.deepEqual([beyond.advance(PDF_LIMITS.codes), beyond.advance(PDF_LIMITS.codes + 1)], [100, 1000]);
  const all = `<< /W [${"0 65535 1 ".repeat(100)}] >>`;
  assert.throws(() => fontOf(`/Subtype /Type0 /DescendantFonts [${all}]`), /too many steps/);
});
