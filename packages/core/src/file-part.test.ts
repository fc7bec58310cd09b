import assert from "node:assert/strict";
import { test } from "node:test";
import { attachedText, boundFiles, fitPdfs, imageFormat, imageMisfit, pdfMisfit } from "./file-part.ts";
import { PDF_TYPE, readFileParts, withoutAttachedText } from "./file-part.ts";
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
