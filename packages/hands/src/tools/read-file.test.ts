import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, renameSync, symlinkSync } from "node:fs";
import { test } from "node:test";
import { FILE_LIMITS, HAND_LIMITS } from "@vidro/core";
import { pdfOf, pdfStream, writePdf } from "../../../core/src/pdf/pdf.fixture.ts";
import { scratch } from "./files.fixture.ts";
import { readFileTool } from "./read-file.ts";

void test("004-13: a file is given as it is, with its size and hash", async (t) => {
  const { use, at } = scratch(t, { "a.txt": "one\r\ntwo\n" });
  const { text, data } = await use(readFileTool, { file_path: "a.txt" });
  assert.equal(text, "one\r\ntwo");
  const sha256 = createHash("sha256").update("one\r\ntwo\n").digest("hex");
  assert.deepEqual(data, { path: at("a.txt"), lines: 2, bytes: 9, sha256, truncated: false });
});

void test("an empty file is an empty text", async (t) => {
  const { text, data } = await scratch(t, { empty: "" }).use(readFileTool, { file_path: "empty" });
  assert.equal(text, "");
  assert.partialDeepStrictEqual(data, { lines: 0, bytes: 0, truncated: false });
});

void test("offset and limit choose lines, and the end says how to go on", async (t) => {
  const { use } = scratch(t, { a: "1\n2\n3\n4\n" });
  const read = async (offset: number, limit: number) =>
    (await use(readFileTool, { file_path: "a", offset, limit })).text;
  assert.equal(await read(2, 2), "2\n3\n[lines 2 to 3 of 4; go on with offset 4]");
  assert.equal(await read(4, 9), "4");
  await assert.rejects(read(5, 1), /has 4 lines, so there is no line 5/);
});

void test("a long file is given in parts that together are the whole", async (t) => {
  const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index} é`);
  const { use } = scratch(t, { long: lines.join("\n") });
  const parts: string[] = [];
  let offset: number | undefined = 1;
  while (offset !== undefined) {
    const { text }: { text: string } = await use(readFileTool, { file_path: "long", offset });
    assert.ok(Buffer.byteLength(text) <= HAND_LIMITS.readBytes + 100);
    const next = /go on with offset (\d+)\]$/.exec(text)?.[1];
    parts.push(text.replace(/\n\[lines .*\]$/, ""));
    offset = next === undefined ? undefined : Number(next);
  }
  assert.ok(parts.length > 1);
  assert.equal(parts.join("\n"), lines.join("\n"));
});

void test("a line beyond the bound is cut between characters and says so", async (t) => {
  const { use } = scratch(t, { wide: `a${"é".repeat(HAND_LIMITS.readBytes)}\nnext` });
  const { text, data } = await use(readFileTool, { file_path: "wide" });
  assert.match(text, /^aé+\n\[only the beginning of line 1 of 2 is shown: .*; the next line is offset 2\]$/);
  assert.partialDeepStrictEqual(data, { truncated: true });
});

void test("a binary file is refused with its size and a way to look at it", async (t) => {
  const { use } = scratch(t, { "a.bin": Buffer.from([1, 0, 2]) });
  await assert.rejects(use(readFileTool, { file_path: "a.bin" }), {
    code: "TOOL_FAILED",
    message: /3 bytes.*file, xxd/,
  });
});

void test("a pipe is refused at once", async (t) => {
  const { use, at } = scratch(t);
  execFileSync("mkfifo", [at("pipe")]);
  await assert.rejects(use(readFileTool, { file_path: "pipe" }), { code: "TOOL_FAILED" });
});

void test("a symlink is read as the file it leads to, and planned as that file", async (t) => {
  const { use, at, context } = scratch(t, { "real.txt": "here" });
  symlinkSync("real.txt", at("link"));
  assert.equal((await readFileTool.plan({ file_path: "link" }, context)).path, at("real.txt"));
  assert.equal((await use(readFileTool, { file_path: "link" })).text, "here");
});

void test("a folder that becomes a symlink between plan and run is not followed", async (t) => {
  const { run, at, context, outside } = scratch(t);
  mkdirSync(at("folder"));
  const input = { file_path: "folder/secret.txt" };
  const plan = await readFileTool.plan(input, context);
  renameSync(at("folder"), at("moved"));
  symlinkSync(outside, at("folder"));
  await assert.rejects(run(readFileTool, input, plan), { code: "PLAN_CHANGED" });
});

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAYAAACddGYaAAAAEklEQVR4nGP8z8AARIgAAAkAAP8BBgEBlHQ0VgAAAABJRU5ErkJggg==";

void test("an image is given as a file, by its bytes and not by its name; one that is too large is refused", async (t) => {
  const image = Buffer.from(PNG, "base64");
  const bomb = Buffer.from(image);
  bomb.writeUInt32BE(0x7fffffff, 16);
  const large = Buffer.concat([image, Buffer.alloc(FILE_LIMITS.imageBytes)]);
  const { use } = scratch(t, { a: image, "bomb.png": bomb, "large.png": large, "no.png": "words" });
  const { text, files } = await use(readFileTool, { file_path: "a" });
  assert.match(text, /is an image: image\/png, 3 × 2 pixels/);
  assert.deepEqual(files, [{ mediaType: "image/png", data: PNG, name: "a" }]);
  await assert.rejects(use(readFileTool, { file_path: "bomb.png" }), { message: /2147483647 × 2 pixels/ });
  await assert.rejects(use(readFileTool, { file_path: "large.png" }), { message: /make it smaller first/ });
  assert.equal((await use(readFileTool, { file_path: "no.png" })).text, "words");
});

void test("a PDF is given as its text, page by page and in parts, and whole as a file, too; one without text is refused with the reason", async (t) => {
  const pdf = pdfOf("one\ntwo", "three");
  const secret = Buffer.concat([pdf, Buffer.from("trailer << /Encrypt 9 0 R >>")]);
  const { use, at } = scratch(t, { "a.pdf": pdf, "secret.pdf": secret, "bad.pdf": "%PDF-1.4 rubbish" });
  const { text, data, files } = await use(readFileTool, { file_path: "a.pdf" });
  assert.deepEqual(files, [{ mediaType: "application/pdf", data: pdf.toString("base64"), name: "a.pdf" }]);
  assert.equal(text, "[page 1]\none\ntwo\n\n[page 2]\nthree");
  assert.partialDeepStrictEqual(data, { path: at("a.pdf"), lines: 6, bytes: pdf.length, pages: 2, truncated: false });
  const part = await use(readFileTool, { file_path: "a.pdf", offset: 5, limit: 1 });
  assert.equal(part.text, "[page 2]\n[lines 5 to 5 of 6; go on with offset 6]");
  assert.equal(part.files, undefined);
  const refused = (file_path: string, message: RegExp) =>
    assert.rejects(use(readFileTool, { file_path }), { code: "TOOL_FAILED", message });
  await refused("secret.pdf", /secret\.pdf is a PDF whose text cannot be had: it is encrypted/);
  await refused("bad.pdf", /it has no page that can be found/);
});

void test("a PDF of images is a file for a model that can look at it; one that is too large for a model is text alone", async (t) => {
  const image = pdfStream("x", { dictionary: "/Type /XObject /Subtype /Image" });
  const scan = writePdf({
    1: "<< /Type /Catalog /Pages 2 0 R >>",
    2: "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    3: "<< /Type /Page /Parent 2 0 R /Resources << /XObject << /I 4 0 R >> >> >>",
    4: image,
  });
  const pages = pdfOf(...Array.from({ length: FILE_LIMITS.pdfPages + 1 }, (_, at) => `number ${at}`));
  const heavy = Buffer.concat([pdfOf("words"), Buffer.alloc(FILE_LIMITS.pdfBytes, "%")]);
  const { use } = scratch(t, { "scan.pdf": scan, "pages.pdf": pages, "heavy.pdf": heavy });
  const { text, files } = await use(readFileTool, { file_path: "scan.pdf" });
  assert.match(text, /its pages are images without text/);
  assert.equal(files?.[0]?.data, scan.toString("base64"));
  await assert.rejects(use(readFileTool, { file_path: "scan.pdf", offset: 1 }), { message: /images without text/ });
  for (const file_path of ["pages.pdf", "heavy.pdf"]) {
    const read = await use(readFileTool, { file_path });
    assert.match(read.text, /^\[page 1\]/);
    assert.equal(read.files, undefined, file_path);
  }
});
