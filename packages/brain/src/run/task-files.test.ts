import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Fault, FILE_LIMITS } from "@vidro/core";
import type { FilePart } from "@vidro/core";
import { fileOfDataUrl, filesField } from "./task-files.ts";

/** The head of a PNG of a size, and as many bytes behind it. */
function png(width: number, height: number, bytes = 64): Buffer {
  const image = Buffer.alloc(Math.max(bytes, 33));
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]).copy(image);
  image.writeUInt32BE(13, 8);
  image.write("IHDR", 12, "latin1");
  image.writeUInt32BE(width, 16);
  image.writeUInt32BE(height, 20);
  return image;
}

const part = (bytes: Buffer, more: Partial<FilePart> = {}): FilePart => ({
  mediaType: "image/png",
  data: bytes.toString("base64"),
  ...more,
});

test("no files are no field, and images are kept with their names", () => {
  assert.deepEqual(filesField(), {});
  assert.deepEqual(filesField([]), {});
  const file = part(png(2, 3), { name: "écran 1.png" });
  assert.deepEqual(filesField([file]), { files: [file] });
});

test("the type is what the bytes say, whatever the client calls them", () => {
  for (const mediaType of ["image/jpeg", "text/html", "", "image/svg+xml"])
    assert.equal(filesField([part(png(1, 1), { mediaType })]).files?.[0]?.mediaType, "image/png");
});

test("what is no image is refused by its name or its place", () => {
  const table: readonly (readonly [data: string, name: string | undefined, says: RegExp])[] = [
    ["", undefined, /^file 2 is not an image/],
    ["????", "notes.txt", /^notes\.txt is not an image/],
    [Buffer.from("<svg/>").toString("base64"), undefined, /^file 2/],
    [png(1, 1).subarray(0, 10).toString("base64"), undefined, /^file 2/],
  ];
  for (const [data, name, says] of table) {
    const bad = { mediaType: "image/png", data, ...(name === undefined ? {} : { name }) };
    assert.throws(() => filesField([part(png(1, 1)), bad]), { code: "BAD_ARGUMENTS", message: says });
  }
});

test("sides and bytes of an image are held at their bounds", () => {
  const { imageSide, imageBytes } = FILE_LIMITS;
  const isTaken = (bytes: Buffer): boolean => {
    try {
      return filesField([part(bytes)]).files?.length === 1;
    } catch (thrown) {
      assert.ok(thrown instanceof Fault && thrown.code === "BAD_ARGUMENTS");
      return false;
    }
  };
  assert.deepEqual([png(imageSide, 1), png(imageSide + 1, 1), png(1, imageSide), png(1, imageSide + 1)].map(isTaken), [
    true,
    false,
    true,
    false,
  ]);
  assert.deepEqual([png(0, 1), png(1, 0), png(0xffff_ffff, 1)].map(isTaken), [false, false, false]);
  assert.deepEqual([png(1, 1, imageBytes), png(1, 1, imageBytes + 1)].map(isTaken), [true, false]);
});

test("the number of files and all of them together are held at their bounds", () => {
  const small = part(png(1, 1));
  assert.equal(filesField(Array.from({ length: FILE_LIMITS.files }, () => small)).files?.length, FILE_LIMITS.files);
  assert.throws(() => filesField(Array.from({ length: FILE_LIMITS.files + 1 }, () => small)), {
    code: "BAD_ARGUMENTS",
    message: /at most 8 files; this one has 9/,
  });
  const half = (FILE_LIMITS.taskChars / 2 / 4) * 3;
  assert.equal(filesField([part(png(1, 1, half)), part(png(1, 1, half))]).files?.length, 2);
  assert.throws(() => filesField([part(png(1, 1, half)), part(png(1, 1, half + 1))]), { code: "PAYLOAD_TOO_LARGE" });
});

test("base64 with other signs, white space or no padding is the same image, in one form", () => {
  const bytes = png(5, 5, 100);
  const plain = bytes.toString("base64");
  const lines = plain.replace(/.{20}/g, "$&\r\n");
  for (const data of [plain, lines, plain.replace(/=+$/, ""), bytes.toString("base64url")])
    assert.equal(filesField([part(bytes, { data })]).files?.[0]?.data, plain);
});

test("any bytes are an image or are refused by name, and nothing else is thrown", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        filesField([part(Buffer.from(bytes))]);
      } catch (thrown) {
        assert.ok(thrown instanceof Fault && thrown.code === "BAD_ARGUMENTS", String(thrown));
      }
    }),
  );
});

test("a file of a data: address is its bytes; every other address is refused, and none is fetched", () => {
  const data = png(1, 1).toString("base64");
  assert.deepEqual(fileOfDataUrl(`data:image/png;base64,${data}`, "x"), { mediaType: "image/png", data });
  assert.deepEqual(fileOfDataUrl(`DATA:IMAGE/PNG;BASE64,${data}`, "x").data, data);
  assert.deepEqual(fileOfDataUrl("data:application/pdf;base64,", "x"), { mediaType: "application/pdf", data: "" });
  const others = [
    "",
    data,
    "https://pictures.example/a.png",
    "file:///etc/passwd",
    "data:image/png,plain",
    `data:;base64,${data}`,
    `data:image/png;charset=x;base64,${data}`,
    `data:image/png;base64,${data}#`,
    ` data:image/png;base64,${data}`,
  ];
  for (const url of others)
    assert.throws(
      () => fileOfDataUrl(url, "messages.0.content"),
      (thrown) =>
        thrown instanceof Fault &&
        thrown.code === "BAD_ARGUMENTS" &&
        JSON.stringify(thrown.detail) === '{"path":"messages.0.content"}',
      url.slice(0, 40),
    );
});

test("a long address that is none is refused within its length", () => {
  const evil = `data:image/png;base64,${"A ".repeat(300_000)}!`;
  assert.throws(() => fileOfDataUrl(evil, "x"), { code: "BAD_ARGUMENTS" });
});
