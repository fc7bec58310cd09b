import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync, inflateSync } from "node:zlib";
import { PDF_LIMITS } from "../limits.ts";
import { pdfOf, pdfStream, writePdf } from "./pdf.fixture.ts";
import { pdfText } from "./pdf-text.ts";

const textOf = (bytes: Buffer): string => {
  const read = pdfText(bytes, inflateSync);
  return "text" in read ? read.text : `misfit: ${read.misfit}`;
};

/** A document whose only page has these operators, and these further objects and resources. */
const onePage = (content: string, further: Record<number, string | Buffer> = {}, resources = "/Font << /F1 3 0 R >>") =>
  writePdf({
    1: "<< /Type /Catalog /Pages 2 0 R >>",
    2: "<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
    3: "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    4: `<< /Type /Page /Parent 2 0 R /Contents 5 0 R /Resources << ${resources} >> >>`,
    5: pdfStream(Buffer.from(content, "latin1")),
    ...further,
  });

test("the text of a PDF comes page by page, with lines as its operators place them", () => {
  assert.equal(textOf(pdfOf("Ol\xe1 (mundo)", "two\nlines")), "[page 1]\nOlá (mundo)\n\n[page 2]\ntwo\nlines");
});

test("every operator that shows text is followed: Tj, TJ with kerning, ' and \"", () => {
  const content = `BT /F1 12 Tf 14 TL 10 700 Td (plain) Tj 40 0 Td (same line) Tj T* [(ker) 20 (ned) -300 (words)] TJ
    (next) ' 1 2 (last \\(\\101\\)) " ET BT 1 0 0 1 10 500 Tm <48 69> Tj ET BI /W 1 ID \x00(no) Tj EI BT (!) Tj ET`;
  assert.equal(textOf(onePage(content)), "[page 1]\nplain same line\nkerned words\nnext\nlast (A)\nHi\n!");
});

test("objects in compressed streams of objects are found, with a root in a stream of references", () => {
  const packed = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] >>",
    "<< /Type /Page /Contents 9 0 R /Resources << /Font << /F1 4 0 R >> >> >>",
    "<< /Type /Font /Subtype /TrueType /Encoding /WinAnsiEncoding >>",
  ];
  let offset = 0;
  const head = packed.map((one, at) => {
    const pair = `${at + 1} ${offset}`;
    offset += one.length + 1;
    return pair;
  });
  const first = head.join(" ").length + 1;
  const stream = pdfStream(`${head.join(" ")} ${packed.join(" ")}`, {
    dictionary: `/Type /ObjStm /N ${packed.length} /First ${first}`,
  });
  const references = pdfStream("", { dictionary: "/Type /XRef /Root 1 0 R" });
  const bytes = writePdf({ 8: stream, 9: pdfStream("BT /F1 9 Tf (packed) Tj ET"), 10: references }, "");
  assert.equal(textOf(bytes), "[page 1]\npacked");
});

test("codes of a font become the letters that its ToUnicode mapping says, and others are counted, not guessed", () => {
  const mapping = `1 begincodespacerange <0000> <FFFF> endcodespacerange
    2 beginbfchar <0001> <0056> <0002> <00660069> endbfchar
    2 beginbfrange <0010> <0012> <0061> <0020> <0021> [<20AC> <D83DDE00>] endbfrange`;
  const font = { 3: "<< /Type /Font /Subtype /Type0 /ToUnicode 6 0 R >>", 6: pdfStream(mapping) };
  const content = "BT /F1 12 Tf <000100020010001200200021> Tj <00990098> Tj ET";
  const note = "[2 characters of this page are left out: its fonts do not say which letters they are]";
  assert.equal(textOf(onePage(content, font)), `[page 1]\nVfiac€😀\n${note}`);
  assert.match(textOf(onePage("BT /F1 12 Tf <0099> Tj ET", font)), /^misfit: its fonts do not say which letters/);
});

test("names of glyphs in an encoding become letters; codes of a font of symbols without one do not", () => {
  const named = "<< /Subtype /Type1 /Encoding << /Differences [1 /eacute /fi /uni00E7 /space /comma /g17] >> >>";
  const content = "BT /F1 12 Tf (A\x01\x02\x03\x04\x05\x06) Tj ET";
  assert.match(textOf(onePage(content, { 3: named })), /^\[page 1\]\nAéfiç ,\n\[1 characters/);
  const symbols = "<< /Subtype /TrueType /FontDescriptor << /Flags 4 >> >>";
  assert.match(textOf(onePage("BT /F1 12 Tf (abc) Tj ET", { 3: symbols })), /^misfit: its fonts do not say/);
});

test("text of forms in a page is read, and a form that draws itself ends", () => {
  const form = pdfStream("BT /F1 12 Tf (inside) Tj ET /X Do", {
    dictionary: "/Subtype /Form /Resources << /Font << /F1 3 0 R >> /XObject << /X 6 0 R >> >>",
  });
  const read = textOf(onePage("/X Do", { 6: form }, "/XObject << /X 6 0 R >>"));
  assert.match(read, /^\[page 1\]\ninside(\ninside)*$/);
});

test("content in base 85 and without compression is read", () => {
  const encoded = "6<#'\\7PQ#?1*BP.+=LrA+C\\c#AKWri.3MT)+@T6";
  const base85 = `<< /Filter [/ASCII85Decode] >>\nstream\n${encoded}~>\nendstream`;
  assert.equal(textOf(onePage("", { 5: base85 })), "[page 1]\nin base 85");
  const plain = pdfStream("BT /F1 12 Tf (plain) Tj ET", { plain: true });
  assert.equal(textOf(onePage("", { 5: plain })), "[page 1]\nplain");
});

test("an encrypted PDF, one of scanned pages and one without pages are said in a sentence", () => {
  const encrypted = Buffer.concat([pdfOf("secret"), Buffer.from("trailer << /Root 1 0 R /Encrypt 99 0 R >>")]);
  assert.match(textOf(encrypted), /^misfit: it is encrypted/);
  const image = { 6: pdfStream("\xff\xd8", { dictionary: "/Subtype /Image", plain: true }) };
  assert.match(textOf(onePage("/I Do", image, "/XObject << /I 6 0 R >>")), /^misfit: its pages are images/);
  assert.match(textOf(Buffer.from("%PDF-1.7\nrubbish")), /^misfit: it has no page/);
  assert.match(textOf(onePage("BT ET")), /^misfit: its pages have no text/);
});

test("a compressed part that becomes too large ends with the bound, in one part or in many", () => {
  const bomb = deflateSync(Buffer.alloc(PDF_LIMITS.inflatedBytes + 1, " "));
  const stream = Buffer.concat([
    Buffer.from(`<< /Filter /FlateDecode /Length ${bomb.length} >>\nstream\n`),
    bomb,
    Buffer.from("\nendstream"),
  ]);
  assert.match(textOf(onePage("", { 5: stream })), /^misfit: its compressed parts become larger than 16777216 bytes/);
  const part = { 5: pdfStream(Buffer.alloc(PDF_LIMITS.inflatedBytes / 4, " ")) };
  const many = { 4: "<< /Type /Page /Contents [5 0 R 5 0 R 5 0 R 5 0 R 5 0 R] >>", ...part };
  assert.match(textOf(onePage("", many)), /become larger/);
});

test("a PDF that is cut off anywhere gives what is there or a sentence; so does one with flipped bytes", () => {
  const whole = pdfOf("first page", "second page");
  for (let length = 5; length < whole.length; length += 7)
    assert.match(textOf(whole.subarray(0, length)), /^(?:\[page 1\]|misfit: )/);
  assert.match(textOf(whole.subarray(0, whole.indexOf("trailer"))), /second page$/);
  for (let at = 5; at < whole.length; at += 5) {
    const flipped = Buffer.from(whole);
    flipped[at] = (flipped[at] ?? 0) ^ 0x55;
    assert.match(textOf(flipped), /^(?:\[page 1\]|misfit: )/);
  }
});

test("hostile structures end: deep nesting, a tree of pages in a circle, a page that draws too much", () => {
  assert.match(textOf(writePdf({ 1: "[".repeat(100_000) })), /^misfit: its values are nested too deeply/);
  const circle = { 1: "<< /Type /Catalog /Pages 2 0 R >>", 2: "<< /Kids [2 0 R 2 0 R] >>" };
  assert.match(textOf(writePdf(circle)), /^misfit: reading its text takes too many steps/);
  const form = pdfStream("BT (x) Tj ET ".repeat(1000), { dictionary: "/Subtype /Form" });
  const much = onePage("/X Do ".repeat(100_000), { 6: form }, "/XObject << /X 6 0 R >>");
  assert.match(textOf(much), /^misfit: /);
  assert.match(textOf(Buffer.from(`%PDF-${"1 ".repeat(500_000)}`)), /^misfit: /);
});

test("pieces of a word that are placed one by one stay together, and a gap between words is a blank", () => {
  const widths = `/FirstChar 32 /LastChar 126 /Widths [${"500 ".repeat(95)}]`;
  const font = { 3: `<< /Subtype /TrueType /Encoding /WinAnsiEncoding ${widths} >>` };
  const content = "BT /F1 10 Tf 10 700 Td (br) Tj 10 0 Td (own) Tj 18 0 Td (fox) Tj ET BT 1 0 0 1 53 700 Tm (es) Tj ET";
  assert.equal(textOf(onePage(content, font)), "[page 1]\nbrown foxes");
  const wide = "<< /Subtype /Type0 /ToUnicode 6 0 R /DescendantFonts [<< /DW 500 /W [1 [800] 2 3 900] >>] >>";
  const mapping = "1 beginbfrange <0001> <0004> <0061> endbfrange";
  const placed = "BT /F1 10 Tf 0 700 Td <0001> Tj 8 0 Td <0002> Tj 9 0 Td <0004> Tj 9 0 Td <0003> Tj ET";
  assert.equal(textOf(onePage(placed, { 3: wide, 6: pdfStream(mapping) })), "[page 1]\nabd c");
});
