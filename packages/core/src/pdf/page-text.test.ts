import assert from "node:assert/strict";
import { test } from "node:test";
import { inflateSync } from "node:zlib";
import * as fc from "fast-check";
import { PDF_LIMITS } from "../limits.ts";
import { PdfDocument } from "./document.ts";
import type { PdfFont } from "./font.ts";
import { PdfPageText } from "./page-text.ts";
import { pdfStream, writePdf } from "./pdf.fixture.ts";
import { PdfMisfit } from "./syntax.ts";
import type { PdfDictionary } from "./syntax.ts";

const WIDTHS = `/FirstChar 0 /Widths [${"500 ".repeat(256)}]`;

/** A page that was followed, with a font F1 whose letters are all half as wide as they are high. */
function follow(content: string, further: Record<number, string | Buffer> = {}): PdfPageText {
  const objects = {
    1: "<< /Font << /F1 2 0 R >> /XObject << /X 3 0 R /Y 4 0 R >> >>",
    2: `<< /Subtype /TrueType /Encoding /WinAnsiEncoding ${WIDTHS} >>`,
    ...further,
  };
  const document = new PdfDocument(writePdf(objects), inflateSync);
  const page = new PdfPageText(document, new Map<PdfDictionary, PdfFont>());
  page.follow(content, document.dictionary({ ref: 1 }));
  return page;
}

const textOf = (content: string, further: Record<number, string | Buffer> = {}): string =>
  follow(content, further).text();
const form = (content: string, dictionary = ""): Buffer =>
  pdfStream(content, { dictionary: `/Subtype /Form ${dictionary}` });

test("text moves to another line when it is more than two points higher or lower", () => {
  const at = (y: number): string => textOf(`BT /F1 10 Tf 0 100 Td (a) Tj 5 ${y} Td (b) Tj ET`);
  assert.equal(at(0), "ab");
  assert.equal(at(2), "ab");
  assert.equal(at(-2), "ab");
  assert.equal(at(2.1), "a\nb");
  assert.equal(at(-14), "a\nb");
});

test("a gap of more than an eighth of the size is a blank, and so is a step far back", () => {
  const at = (x: number): string => textOf(`BT /F1 10 Tf 0 100 Td (a) Tj ${x} 0 Td (b) Tj ET`);
  assert.equal(at(5), "ab");
  assert.equal(at(6.1), "ab");
  assert.equal(at(6.3), "a b");
  assert.equal(at(-4), "ab");
  assert.equal(at(-6), "a b");
});

test("numbers in a TJ list move the text, and only a large one is a blank", () => {
  const kerned = (by: number): string => textOf(`BT /F1 10 Tf [(a) ${by} (b)] TJ ET`);
  assert.equal(kerned(-200), "ab");
  assert.equal(kerned(-201), "a b");
  assert.equal(kerned(500), "ab");
  assert.equal(textOf("BT /F1 10 Tf [(a ) -300 (b) -300 ( ) -300 (c)] TJ ET"), "a b  c");
});

test("the frame of a page scales and moves text, q keeps it, Q gives it back, and a lone Q does nothing", () => {
  const lines = (content: string): string =>
    textOf(`BT /F1 10 Tf 0 0 Td (a) Tj ET ${content} BT /F1 10 Tf 5 0 Td (b) Tj ET`);
  assert.equal(lines(""), "ab");
  assert.equal(lines("1 0 0 1 0 50 cm"), "a\nb");
  assert.equal(lines("q 1 0 0 1 0 50 cm Q"), "ab");
  assert.equal(lines("Q Q Q"), "ab");
  assert.equal(lines("q q 1 0 0 1 0 50 cm Q"), "ab");
  assert.equal(lines("3 0 0 3 0 0 cm"), "a b");
  assert.equal(lines("0 0 0 0 0 0 cm"), "ab");
});

test("characters that control are left out of text, and half a character becomes a replacement", () => {
  const mapping = "beginbfchar <01> <0007> <02> <D800> <03> <DE00> <04> <000A> <05> <202E> endbfchar";
  const further = { 2: "<< /Subtype /TrueType /ToUnicode 6 0 R >>", 6: pdfStream(mapping) };
  const text = textOf("BT /F1 10 Tf (a\x01b\x02c\x04d) Tj ET", further);
  assert.equal(text, "ab\ufffdc\nd");
  assert.equal(textOf("BT /F1 10 Tf (\x02\x03) Tj ET", further), "\u{10200}");
  assert.ok(textOf("BT /F1 10 Tf (x\x03\x02) Tj ET", further).isWellFormed());
});

test("blanks at the ends of lines are left out, and a long run of them within a line takes no long time", () => {
  assert.equal(textOf("BT /F1 10 Tf 12 TL (a  ) ' (  b\t ) ' ( ) ' (c) ' ET"), "a\n  b\n\nc");
  assert.equal(textOf("BT /F1 10 Tf 0 100 Td (a ) Tj 0 -14 Td (b) Tj ET"), "a\nb");
  const wide = textOf(`BT /F1 10 Tf (a${" ".repeat(1_000_000)}b) Tj ET`);
  assert.equal(wide.length, 1_000_002);
});

test("a code that stands for a long text ends with the bound of steps, not with the memory of the process", () => {
  const mapping = `beginbfchar <01> <${"0041".repeat(10_000)}> endbfchar`;
  const further = { 2: "<< /Subtype /TrueType /ToUnicode 6 0 R >>", 6: pdfStream(mapping) };
  assert.throws(() => follow(`BT /F1 10 Tf <${"01".repeat(10_000)}> Tj ET`, further), /too many steps/);
});

test("text without a font, or in one that is not there, is counted and not guessed", () => {
  for (const choice of ["", "/F9 10 Tf", "/__proto__ 10 Tf", "5 10 Tf", "/F1 10 Tf /F9 10 Tf"]) {
    const page = follow(`BT ${choice} (abc) Tj ET`);
    assert.deepEqual([page.text(), page.lost], ["", 3], choice);
  }
});

test("a text of odd length in codes of two bytes leaves its last byte out", () => {
  const further = { 2: "<< /Subtype /Type0 /ToUnicode 6 0 R >>", 6: pdfStream("beginbfchar <0041> <0041> endbfchar") };
  const page = follow("BT /F1 10 Tf <004100> Tj <00> Tj ET", further);
  assert.deepEqual([page.text(), page.lost], ["A", 0]);
});

test("forms are drawn with their own resources, else with those around them, each on lines of its own", () => {
  const inherited = form("BT /F1 10 Tf (in) Tj ET");
  assert.equal(textOf("BT /F1 10 Tf (a) Tj ET /X Do BT (b) Tj ET", { 3: inherited }), "a\nin\nb");
  const own = form("BT /F1 10 Tf (in) Tj ET", "/Resources << /Font << >> >>");
  assert.equal(follow("/X Do", { 3: own }).lost, 2);
});

test("a form that draws itself, or two that draw each other, end at the bound of depth", () => {
  const itself = follow("/X Do", { 3: form("BT /F1 10 Tf (x) Tj ET /X Do") });
  assert.equal(itself.text().split("\n").length, PDF_LIMITS.depth);
  const each = follow("/X Do", { 3: form("/Y Do"), 4: form("BT /F1 10 Tf (y) Tj ET /X Do") });
  assert.equal(each.text().split("\n").length, PDF_LIMITS.depth / 2);
});

test("drawings that are no form are told apart: images, what cannot be decoded, what is not there", () => {
  assert.equal(follow("/X Do", { 3: pdfStream("", { dictionary: "/Subtype /Image" }) }).hasImage, true);
  assert.equal(follow("/X Do", { 3: "<< /Subtype /Form /Filter /LZWDecode >>\nstream\nx\nendstream" }).isBroken, true);
  assert.equal(follow("/X Do", { 3: "<< /Subtype /Form >>" }).isBroken, true);
  for (const drawn of ["/Nothing Do", "Do", "5 Do", "/__proto__ Do"]) {
    const page = follow(drawn);
    assert.deepEqual([page.isBroken, page.hasImage, page.text()], [false, false, ""], drawn);
  }
});

test("an image within the page is passed over to its end, and one without an end ends the page", () => {
  const before = "BT /F1 10 Tf (a) Tj ET";
  const passed = follow(`${before} BI /W 1 ID \xff(x) Tj EIx EI BT (b) Tj ET`);
  assert.deepEqual([passed.text(), passed.hasImage], ["ab", true]);
  assert.equal(textOf(`${before} BI /W 1 ID xx BT (b) Tj ET`), "a");
});

test("any operators in any order give a text or a misfit, and never another error", () => {
  const words =
    "BT ET Tj TJ ' \" Td TD Tm T* Tf TL Tc Tw cm q Q Do BI EI ( ) [ ] << >> (a) <41> /F1 /X /Y 1 -5 0.1 99999999999999999999 true null".split(
      " ",
    );
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...words), { maxLength: 60 }), (operators) => {
      try {
        const page = follow(operators.join(" "), { 3: form(operators.slice(0, 9).join(" ")) });
        assert.ok(page.text().isWellFormed());
      } catch (thrown) {
        assert.ok(thrown instanceof PdfMisfit, String(thrown));
      }
    }),
    { numRuns: 300 },
  );
});
