import assert from "node:assert/strict";
import { test } from "node:test";
import { TerminalScreen } from "../scripts/recording/screen.ts";
import { animatedSvg } from "../scripts/recording/svg.ts";

test("a recorded screen has the rows that a terminal shows: movements, erasures, colours and wrapping", () => {
  const screen = new TerminalScreen(8);
  screen.write(
    "one\r\n\u001b[32mtwo\u001b[0m!\r\nold\r\n\u001b[1F\u001b[Jnew\r\nabcdefghij\u001b[?7l\r\nabcdefghij\rX",
  );
  assert.deepEqual(
    screen.rows().map((runs) => runs.map(({ text, look }) => (look === "" ? text : `<${look}>${text}`)).join("")),
    ["one", "<32>two!", "new", "abcdefgh", "ij", "Xbcdefgh"],
  );
});

test("a recording is an SVG that shows one frame at a time, and text as text", () => {
  const frames = [0, 100].map((atMs) => ({ atMs, rows: [[{ text: `<b>&${atMs}`, look: "1 31" }]] }));
  const svg = animatedSvg(frames, { columns: 10, rows: 2 });
  assert.match(svg, /<tspan fill="#ff8f86" font-weight="bold">&lt;b&gt;&amp;100<\/tspan>/);
  assert.equal(svg.match(/@keyframes/g)?.length, 2);
  assert.doesNotMatch(svg, /<script|https?:\/\/(?!www\.w3\.org)/);
});
