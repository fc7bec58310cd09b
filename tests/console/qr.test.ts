import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { qrCode } from "@vidro/core/codec";
import { up } from "../../packages/cli/src/daemon.fixture.ts";
import { Stage } from "../../packages/cli/src/stage.fixture.ts";

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

/** The modules of a code that a terminal shows: what is drawn is light. */
function modulesOf(lines: readonly string[]): readonly (readonly boolean[])[] {
  return lines.flatMap((line) => [
    line.split("").map((char) => char === " " || char === "▄"),
    line.split("").map((char) => char === " " || char === "▀"),
  ]);
}

test("M-09 a terminal prints the link of a question as a code that a camera reads", async () => {
  await using stage = await Stage.set({ VIDRO_ANSWER_LINKS: "1" });
  await using daemon = await up(stage);
  const headers = { authorization: `Bearer ${daemon.token}`, "content-type": "application/json" };
  const body = JSON.stringify({ task: 'run "echo one >> effects.txt"' });
  const { id } = (await (await fetch(`${daemon.url}/v1/runs`, { method: "POST", headers, body })).json()) as {
    id: string;
  };
  while ((await (await fetch(`${daemon.url}/v1/runs/${id}`, { headers })).text()).includes('"running"'))
    await new Promise(setImmediate);
  const { stdout, stderr, code } = await stage.run("approvals", "link", id, "--qr");
  assert.equal(code, 0, stderr);
  const lines = stdout.trimEnd().split("\n");
  const link = lines.at(-1) ?? "";
  assert.match(link, new RegExp(`^${daemon.url}/answer#code=`));
  assert.equal(read(modulesOf(lines.slice(0, -1))), link);
  assert.match(stderr, /answers it once, within ten minutes/);
  const asked = await fetch(`${daemon.url}/answer/question`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code: link.split("#code=")[1] }),
  });
  assert.match(await asked.text(), /effects\.txt/);
});
