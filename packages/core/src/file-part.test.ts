import assert from "node:assert/strict";
import { test } from "node:test";
import { boundFiles, imageFormat, imageMisfit } from "./file-part.ts";
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
