import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { attachedText, boundFiles, fitPdfs, imageFormat, imageMisfit, isPdf, pdfMisfit } from "./file-part.ts";
import { PDF_TYPE, readFileParts, withoutAttachedText } from "./file-part.ts";
import type { FilePart } from "./file-part.ts";
import { FILE_LIMITS } from "./limits.ts";

const bytes = (text: string, encoding: BufferEncoding = "base64"): Buffer => Buffer.from(text, encoding);

const IMAGES = {
  png: bytes(
    "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAYAAACddGYaAAAAEklEQVR4nGP8z8AARIgAAAkAAP8BBgEBlHQ0VgAAAABJRU5ErkJggg==",
  ),
  gif: bytes("R0lGODlhAwACAIAAAP8AAAAAACwAAAAAAwACAAACAoRRADs="),
  webp: bytes("UklGRiQAAABXRUJQVlA4WAoAAAAQAAAAAgAAAQAAQUxQSAIAAAAAAFZQOCAAAAAA"),
  jpeg: bytes("ffd8ffe000104a46494600010100000100010000ffc0000b080002000301011100ffd9", "hex"),
};

test("the kind and size of an image come from its bytes, whatever its name is", () => {
  for (const [kind, image] of Object.entries(IMAGES))
    assert.deepEqual(imageFormat(image), { mediaType: `image/${kind}`, width: 3, height: 2 }, kind);
  for (const other of ["", "GIF", "%PDF-1.7", "<svg/>", "\x89PNG\r\n\x1a\n", "\xff\xd8\xff"])
    assert.equal(imageFormat(bytes(other, "latin1")), undefined);
  for (const image of Object.values(IMAGES))
    for (let length = 0; length < image.length; length += 1) imageFormat(image.subarray(0, length));
});

test("an image that is too large for a model in bytes or in pixels is refused with the reason", () => {
  const png = { mediaType: "image/png", width: 3, height: 2 } as const;
  assert.equal(imageMisfit(png, 100), undefined);
  assert.match(imageMisfit(png, FILE_LIMITS.imageBytes + 1) ?? "", /make it smaller/);
  assert.match(imageMisfit({ ...png, width: 60_000 }, 100) ?? "", /60000 × 2 pixels/);
  assert.match(imageMisfit({ ...png, height: 0 }, 100) ?? "", /pixels/);
});

test("of files in earlier turns the newest are kept, and a note stands for the others", () => {
  const turn = (name: string) => ({ text: name, files: [{ mediaType: "image/png", data: "x".repeat(60), name }] });
  const [first, second] = boundFiles([turn("a.png"), turn("b.png")], 100);
  assert.deepEqual(first, { text: "a.png\n[a.png was shown here]" });
  assert.deepEqual(second, turn("b.png"));
});

test("a PDF that is too large for a model in bytes or in pages has a reason, and is a file like an image", () => {
  assert.equal(pdfMisfit(FILE_LIMITS.pdfPages, FILE_LIMITS.pdfBytes), undefined);
  assert.match(pdfMisfit(1, FILE_LIMITS.pdfBytes + 1) ?? "", /bytes/);
  assert.match(pdfMisfit(FILE_LIMITS.pdfPages + 1, 1) ?? "", /33 pages/);
  assert.equal(readFileParts([{ mediaType: PDF_TYPE, data: "JVBERi0=" }])?.length, 1);
  assert.equal(readFileParts([{ mediaType: "application/x-pdf", data: "JVBERi0=" }]), undefined);
});

test("PDFs beyond the room of a turn are left out, and images never are", () => {
  const image = { mediaType: "image/png", data: "x".repeat(100) };
  const pdf = (chars: number) => ({ mediaType: PDF_TYPE, data: "x".repeat(chars) });
  const half = FILE_LIMITS.taskChars / 2;
  assert.deepEqual(
    fitPdfs([pdf(half), pdf(half), image, pdf(10)]).map(({ data }) => data.length),
    [half, 100, 10],
  );
  const many = Array.from({ length: FILE_LIMITS.files + 2 }, () => pdf(1));
  assert.equal(fitPdfs([image, ...many]).length, FILE_LIMITS.files);
});

test("the text of a file is found again among other words by its name, and only there", () => {
  const words = `sum up\n\n${attachedText("a.pdf", "one\ntwo")}\n\n${attachedText("b.pdf", "three")}\nthanks`;
  const without = withoutAttachedText(words, "a.pdf");
  assert.equal(without, `sum up\n\n[a.pdf is shown as a file.]\n\n${attachedText("b.pdf", "three")}\nthanks`);
  for (const other of ["c.pdf", "pdf", ""]) assert.equal(withoutAttachedText(words, other), words);
  const open = "--- a.pdf ---\nwithout an end";
  assert.equal(withoutAttachedText(open, "a.pdf"), open);
});

test("bytes of any kind are an image with sides or none, and never an error", () => {
  const starts = fc.constantFrom(...Object.values(IMAGES).map((image) => image.subarray(0, 20)), Buffer.alloc(0));
  fc.assert(
    fc.property(starts, fc.uint8Array({ maxLength: 60 }), fc.nat(8), (start, rest, offset) => {
      const whole = Buffer.concat([Buffer.alloc(offset), start, rest]);
      // A view into a larger buffer, as files are read.
      const format = imageFormat(whole.subarray(offset));
      if (format === undefined) return;
      assert.match(format.mediaType, /^image\/(?:png|jpeg|gif|webp)$/);
      for (const side of [format.width, format.height]) assert.ok(Number.isInteger(side) && side >= 0);
    }),
    { numRuns: 500 },
  );
});

test("a JPEG that says no size is none, however long, and its size is found behind other segments", () => {
  const segment = (marker: number, length: number): Buffer => {
    const whole = Buffer.alloc(length + 2);
    whole.writeUInt16BE(0xff00 | marker, 0);
    whole.writeUInt16BE(length, 2);
    return whole;
  };
  const begin = Buffer.of(0xff, 0xd8);
  const frame = Buffer.from("ffc2000b080002000301011100", "hex");
  const found = Buffer.concat([begin, segment(0xe1, 60_000), Buffer.of(0xff), segment(0xc4, 30), frame]);
  assert.deepEqual(imageFormat(found), { mediaType: "image/jpeg", width: 3, height: 2 });
  assert.equal(imageFormat(Buffer.concat([begin, Buffer.alloc(1_000_000, 0xff)])), undefined);
  assert.equal(imageFormat(Buffer.concat([begin, ...Array.from({ length: 1000 }, () => segment(0xfe, 2))])), undefined);
  // A segment of no length still moves on.
  assert.equal(imageFormat(Buffer.concat([begin, Buffer.from("ffe00000".repeat(1000), "hex")])), undefined);
});

test("files of another party are taken when each of them is one, and else none of them is", () => {
  const file = { mediaType: "image/png", data: "AAAA", name: "a.png" };
  assert.deepEqual(readFileParts([file]), [file]);
  const wrong: readonly unknown[] = [
    undefined,
    null,
    {},
    "x",
    [],
    [null],
    [[]],
    [file, "x"],
    Array.from({ length: FILE_LIMITS.files + 1 }, () => file),
    [{ ...file, mediaType: "image/svg+xml" }],
    [{ ...file, mediaType: "text/html" }],
    [{ ...file, mediaType: "image/png\n" }],
    [{ ...file, mediaType: 5 }],
    [{ ...file, data: "A A" }],
    [{ ...file, data: "====" }],
    [{ ...file, data: "A-_A" }],
    [{ ...file, data: "A".repeat(FILE_LIMITS.taskChars + 1) }],
    [{ ...file, data: undefined }],
    [{ ...file, name: "x".repeat(FILE_LIMITS.nameChars + 1) }],
    [{ ...file, name: null }],
  ];
  for (const value of wrong) assert.equal(readFileParts(value), undefined, JSON.stringify(value)?.slice(0, 80));
  const most = Array.from({ length: FILE_LIMITS.files }, () => file);
  assert.deepEqual(readFileParts(most), most);
});

test("the files that are kept fit into the room, are the newest, and every other one is named", () => {
  const turn = fc.record({
    text: fc.constantFrom("a", ""),
    files: fc.array(
      fc.nat(50).map((length) => ({ mediaType: "image/png", data: "x".repeat(length) })),
      { maxLength: 3 },
    ),
  });
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 6 }), fc.nat(150), (turns, room) => {
      const bound: readonly { text: string; files?: readonly FilePart[] }[] = boundFiles(turns, room);
      const kept = bound.flatMap(({ files = [] }) => files).reduce((sum, { data }) => sum + data.length, 0);
      assert.ok(kept <= room);
      assert.equal(bound.length, turns.length);
      for (const [index, one] of bound.entries()) {
        const before = turns[index];
        const isKept = one.files !== undefined;
        if (!isKept) assert.equal(one.text.split("was shown here").length - 1, before?.files.length);
        else assert.equal(one, before);
      }
    }),
  );
});

test("a PDF is told by its first bytes", () => {
  assert.equal(isPdf(bytes("%PDF-1.7", "latin1")), true);
  for (const other of ["", "%PDF", " %PDF-", "%pdf-1", "\ufeff%PDF-"]) assert.equal(isPdf(bytes(other, "utf8")), false);
});
