import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync, inflateSync } from "node:zlib";
import * as fc from "fast-check";
import { PDF_LIMITS } from "../limits.ts";
import { PdfDocument } from "./document.ts";
import { pdfStream, writePdf } from "./pdf.fixture.ts";
import { pdfText } from "./pdf-text.ts";
import { asNumber, PdfMisfit } from "./syntax.ts";

const open = (bytes: Uint8Array): PdfDocument => new PdfDocument(bytes, inflateSync);
const ref = (number: number): { ref: number } => ({ ref: number });

/** A stream of objects, each with its number. */
function objectStream(objects: Readonly<Record<number, string>>, head?: string): Buffer {
  let offset = 0;
  const pairs = Object.entries(objects).map(([number, text]) => {
    const pair = `${number} ${offset}`;
    offset += text.length + 1;
    return pair;
  });
  const first = head ?? `${pairs.join(" ")} `;
  const dictionary = `/Type /ObjStm /N ${head === undefined ? pairs.length : 100_000} /First ${first.length}`;
  return pdfStream(first + Object.values(objects).join(" "), { dictionary });
}

/** A stream whose bytes are as given, under these filters. */
const filtered = (bytes: Buffer | string, filter: string, length = ""): Buffer =>
  Buffer.concat([
    Buffer.from(`<< /Filter ${filter} ${length} >>\nstream\n`),
    Buffer.from(bytes),
    Buffer.from("\nendstream"),
  ]);

test("objects are found wherever they stand, and of two with one number the later counts", () => {
  const document = open(Buffer.from("rubbish 1 0 obj (old) endobj\n% 2 0 obj 5\n1 1 obj (new) endobj 3\n0\nobj/x"));
  assert.deepEqual(document.resolve(ref(1)), { bytes: "new" });
  assert.equal(document.resolve(ref(2)), 5);
  assert.deepEqual(document.resolve(ref(3)), { name: "x" });
  assert.equal(document.resolve(ref(4)), undefined);
  assert.equal(document.resolve(7), 7);
});

test("an object without a value does not hide the object behind it", () => {
  const document = open(Buffer.from("1 0 obj endobj 2 0 obj (two) endobj 3 0 obj\nendobj\n4 0 obj [4] endobj"));
  assert.deepEqual(document.resolve(ref(2)), { bytes: "two" });
  assert.deepEqual(document.resolve(ref(4)), [4]);
});

test("a reference to a reference is not followed, so that a circle of them ends", () => {
  const document = open(writePdf({ 1: "2 0 R", 2: "1 0 R", 3: "3 0 R" }));
  assert.deepEqual(document.resolve(ref(1)), ref(2));
  assert.equal(document.dictionary(ref(1)), undefined);
  assert.equal(document.content(ref(3)), undefined);
});

test("a stream ends after its length where that is true, and else at its last word", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["<< /Length 5 >>\nstream\nendst\nendstream", "endst"],
    ["<< /Length 9 >> stream\r\nendstream\nendstream", "endstream"],
    ["<< /Length 2 >>\nstream\nabcde\nendstream", "abcde\n"],
    ["<< /Length 999999999 >>\nstream\nabc\nendstream", "abc\n"],
    ["<< /Length -5 >>\nstream\nabc\nendstream", "abc\n"],
    ["<< /Length 8 0 R >>\nstream\nabc\nendstream", "abc\n"],
    ["<< /Length (3) >>stream\nabc\nendstream", "abc\n"],
    ["<< >>\nstream\nabc", "abc"],
    ["<< >>\nstream", ""],
  ];
  for (const [text, content] of cases) {
    const document = open(Buffer.from(`1 0 obj ${text}`));
    assert.equal(document.content(ref(1)), content, text);
  }
});

test("bytes of a stream are no objects of the file", () => {
  const document = open(
    writePdf({ 1: pdfStream("7 0 obj (no) endobj trailer << /Root 9 0 R >>", { plain: true }) }, ""),
  );
  assert.equal(document.resolve(ref(7)), undefined);
  assert.equal(document.root(), undefined);
});

test("the root is the last one that leads to pages, and a trailer that names none is passed over", () => {
  const roots = "trailer << /Root 1 0 R >> trailer << /Root 2 0 R >> trailer << /Root 3 0 R >> trailer << >>";
  const objects =
    "1 0 obj << /Pages 8 0 R >> endobj 2 0 obj << /Pages 9 0 R >> endobj 3 0 obj << /Type /Catalog >> endobj ";
  assert.deepEqual(
    open(Buffer.from(objects + roots))
      .root()
      ?.get("Pages"),
    ref(9),
  );
  assert.equal(open(Buffer.from("trailer trailer (x) trailer")).root(), undefined);
});

test("dictionaries of one type come in the order of their numbers", () => {
  const document = open(
    Buffer.from("9 0 obj <</Type/Page/N 9>> 10 0 obj <</Type/Page/N 10>> 2 0 obj <</Type/Page/N 2>> 3 0 obj /Page"),
  );
  assert.deepEqual(
    document.ofType("Page").map((page) => asNumber(page.get("N"))),
    [2, 9, 10],
  );
});

test("each filter and each chain of filters gives the bytes that were encoded", () => {
  const text = "BT (any bytes \xff\x00) Tj ET";
  const hex = Buffer.from(text, "latin1").toString("hex");
  const chains: readonly (readonly [Buffer | string, string])[] = [
    [Buffer.from(text, "latin1"), "null"],
    [Buffer.from(text, "latin1"), "[]"],
    [`${hex}>ignored`, "/ASCIIHexDecode"],
    [`${hex} >`, "[/AHx]"],
    [deflateSync(Buffer.from(text, "latin1")), "/Fl"],
    [deflateSync(Buffer.from(`${hex}>`)), "[/FlateDecode /AHx]"],
    [deflateSync(deflateSync(Buffer.from(text, "latin1"))), "[/Fl /Fl]"],
    [deflateSync(Buffer.from(text, "latin1")).toString("hex"), "[8 0 R /Fl]"],
  ];
  for (const [bytes, filter] of chains) {
    const document = open(writePdf({ 1: filtered(bytes, filter, `/Length ${bytes.length}`), 8: "/ASCIIHexDecode" }));
    assert.equal(document.content(ref(1)), text, filter);
  }
  for (const filter of ["/LZWDecode", "/__proto__", "5", "[/Fl /DCTDecode]", "[[/Fl]]"])
    assert.equal(open(writePdf({ 1: filtered(deflateSync("x"), filter) })).content(ref(1)), undefined, filter);
});

test("base 85 gives back what was encoded in it, with z for zeros and blanks anywhere", () => {
  const encode = (bytes: Uint8Array): string => {
    const groups: string[] = [];
    for (let at = 0; at < bytes.length; at += 4) {
      const group = bytes.slice(at, at + 4);
      const value = [0, 1, 2, 3].reduce((sum, index) => sum * 256 + (group[index] ?? 0), 0);
      const digits = [4, 3, 2, 1, 0].map((power) => String.fromCharCode((Math.floor(value / 85 ** power) % 85) + 33));
      groups.push(value === 0 && group.length === 4 ? "z" : digits.slice(0, group.length + 1).join(""));
    }
    return groups.join("\n");
  };
  const part = fc.oneof(fc.uint8Array({ maxLength: 9 }), fc.constant(new Uint8Array(4)));
  fc.assert(
    fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
      const bytes = Buffer.concat(parts);
      const document = open(writePdf({ 1: filtered(`${encode(bytes)}~>`, "/A85") }));
      assert.equal(document.content(ref(1)), bytes.toString("latin1"));
    }),
  );
});

test("objects in a stream of objects are read at their places, and a head that lies about them ends", () => {
  const document = open(writePdf({ 1: objectStream({ 11: "(eleven)", 12: "<< /A 12 >>", 13: "[13]" }) }));
  assert.deepEqual(document.resolve(ref(11)), { bytes: "eleven" });
  assert.equal(document.dictionary(ref(12))?.get("A"), 12);
  assert.deepEqual(document.resolve(ref(13)), [13]);
  for (const head of ["", "20", "20 x ", "20 99999 21 -99999 ", "(a) (b) ", "20 0 21 "])
    assert.doesNotThrow(() => open(writePdf({ 1: objectStream({ 20: "(twenty)" }, head) })), head);
});

test("the bound of decoded bytes holds for the sum of all streams, and for each filter in a chain", () => {
  const quarter = PDF_LIMITS.inflatedBytes / 4;
  const blank = deflateSync(Buffer.alloc(quarter, " "));
  const fitting = open(writePdf({ 1: filtered(blank, "/Fl") }));
  for (let use = 0; use < 4; use += 1) assert.equal(fitting.content(ref(1))?.length, quarter);
  assert.throws(() => fitting.content(ref(1)), /become larger/);
  // The second filter makes nothing of what the first made of little.
  const shrinking = deflateSync(Buffer.concat([Buffer.from(">"), Buffer.alloc(quarter, "0")]));
  const objects = Object.fromEntries([1, 2, 3, 4, 5].map((number) => [number, filtered(shrinking, "[/Fl /AHx]")]));
  const document = open(writePdf(objects));
  for (const number of [1, 2, 3]) assert.equal(document.content(ref(number)), "");
  assert.throws(() => document.content(ref(4)), /become larger/);
  const zeros = deflateSync("z".repeat(quarter + 4));
  assert.throws(() => open(writePdf({ 1: filtered(zeros, "[/Fl /A85]") })).content(ref(1)), /become larger/);
});

test("a stream that cannot be inflated is tried once, however often it is named", () => {
  let calls = 0;
  const damaged = deflateSync(Buffer.alloc(100_000));
  damaged[damaged.length - 1]! ^= 1;
  const document = new PdfDocument(writePdf({ 1: filtered(damaged, "/Fl") }), (bytes, options) => {
    calls += 1;
    return inflateSync(bytes, options);
  });
  for (let use = 0; use < 1000; use += 1) assert.equal(document.content(ref(1)), undefined);
  assert.equal(calls, 1);
});

test("many numbers that name one large object in a stream of objects end with the bound of steps", () => {
  const head = "7 0 ".repeat(2000);
  const bytes = writePdf({ 8: objectStream({ 7: `[${"1 ".repeat(100_000)}]` }, head) });
  assert.throws(() => open(bytes), /too many steps/);
});

test("objects without a value behind one long comment are found in time that grows with the file", () => {
  const document = open(Buffer.from(`${"1 0 obj %".repeat(200_000)}\nword 5 0 obj (found)`));
  assert.deepEqual(document.resolve(ref(5)), { bytes: "found" });
});

test("pages that share one long list of contents or of drawings end with the bound of steps", () => {
  const kids = `<< /Kids [${"4 0 R ".repeat(2000)}] >>`;
  const root = { 1: "<< /Type /Catalog /Pages 2 0 R >>", 2: kids };
  const contents = writePdf({ ...root, 4: "<< /Type /Page /Contents 6 0 R >>", 6: `[${"9 0 R ".repeat(20_000)}]` });
  assert.deepEqual(pdfText(contents, inflateSync), { misfit: "reading its text takes too many steps" });
  const names = Array.from({ length: 20_000 }, (_, at) => `/X${at} 9 0 R`).join(" ");
  const drawings = writePdf({ ...root, 4: "<< /Type /Page /Resources << /XObject 6 0 R >> >>", 6: `<< ${names} >>` });
  assert.deepEqual(pdfText(drawings, inflateSync), { misfit: "reading its text takes too many steps" });
});

test("any bytes make a document or a misfit, and never another error", () => {
  const words = [
    "1 0 obj",
    "<<",
    ">>",
    "stream\n",
    "\nendstream",
    "endobj",
    "trailer",
    "/Type /ObjStm /N 3 /First 4",
    "/Filter /Fl",
    "[",
    "(",
    "/Length 3",
    "2 0 R",
  ];
  const part = fc.oneof(
    fc.constantFrom(...words),
    fc.string({ maxLength: 6 }),
    fc.constant(deflateSync("5 0 (x)").toString("latin1")),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
      try {
        const document = open(Buffer.from(parts.join(" "), "latin1"));
        for (const number of [0, 1, 2, 5]) document.content(ref(number));
      } catch (thrown) {
        assert.ok(thrown instanceof PdfMisfit, String(thrown));
      }
    }),
    { numRuns: 500 },
  );
});
