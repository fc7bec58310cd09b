import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { qrCode } from "@vidro/core/codec";

/* Codes are read by a decoder that is not ours. */

type Decode = (pixels: Uint8ClampedArray, width: number, height: number) => { binaryData: number[] } | null;
const decode = createRequire(import.meta.url)("jsqr") as Decode;

const MODULE_PX = 4;
const QUIET_MODULES = 4;

/** What a reader sees in a picture of a code. */
function read(rows: readonly (readonly boolean[])[]): string | undefined {
  const side = (rows.length + 2 * QUIET_MODULES) * MODULE_PX;
  const pixels = new Uint8ClampedArray(side * side * 4).fill(255);
  rows.forEach((row, y) =>
    row.forEach((isDark, x) => {
      for (let at = isDark ? 0 : MODULE_PX ** 2; at < MODULE_PX ** 2; at += 1) {
        const across = (x + QUIET_MODULES) * MODULE_PX + (at % MODULE_PX);
        const down = (y + QUIET_MODULES) * MODULE_PX + Math.floor(at / MODULE_PX);
        pixels.fill(0, (down * side + across) * 4, (down * side + across) * 4 + 3);
      }
    }),
  );
  const found = decode(pixels, side, side);
  return found === null ? undefined : Buffer.from(found.binaryData).toString("utf8");
}

test("a text of any length that fits, in any script, is read back from its code", () => {
  const link = `https://192.168.100.200:3120/answer#code=${"aZ09_-".repeat(8)}`;
  for (const text of ["", "a", "ação → 漢字 🦊", link, ...Array.from({ length: 213 }, (_, n) => "x".repeat(n + 1))]) {
    const rows = qrCode(text);
    assert.ok(rows !== undefined, `${text.length} characters have a code`);
    assert.equal(read(rows), text);
  }
});

test("a text that does not fit has no code", () => {
  assert.equal(qrCode("x".repeat(214)), undefined);
  assert.equal(qrCode("ã".repeat(107)), undefined);
});
