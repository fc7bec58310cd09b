import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { htmlText } from "./html-text.ts";

const BASE = "https://docs.example.org/guide/";

test("headings, lists, links, code and tables keep their form, and scripts are left out", () => {
  const page = htmlText(
    `<!doctype html><html><head><title>A &amp; B</title><style>p { color: red }</style></head><body>
    <script>alert("<p>no</p>")</script><!-- not <b>this</b> -->
    <h2>First   steps</h2><p>Read <a href="../api?x=1&amp;y=2" title="a > b">the API</a>, <a href="#top">up</a> and
    <a href="javascript:alert(1)">not this</a>.<br>Use <code>npm&nbsp;test</code>.</p>
    <ul><li>one</li><li>two &#8364; &#x41;</li></ul><pre>  if (a &lt; b)
    return;</pre><table><tr><th>k</th><td>v</td></tr></table><img alt="A picture" src=x></body>`,
    BASE,
  );
  assert.equal(page.title, "A & B");
  assert.equal(
    page.text,
    [
      "## First steps",
      "",
      "Read [the API](https://docs.example.org/api?x=1&y=2), up and not this.",
      "Use `npm test`.",
      "",
      "- one",
      "- two € A",
      "",
      "```",
      "  if (a < b)",
      "    return;",
      "```",
      "",
      " | k | v",
      "",
      "A picture",
    ].join("\n"),
  );
});

test("a page that is cut off, broken or no HTML gives what text there is", () => {
  for (const [html, text] of [
    ["plain words", "plain words"],
    ["a < b and c > d", "a < b and c > d"],
    ['<p>cut <a href="x', "cut"],
    ["<script>never ended", ""],
    ["</p></a></pre>after", "after"],
    ["&#xD800;&#0;&unknown;", "\uFFFD\uFFFD&unknown;"],
    ["<!-- never ended", ""],
  ] as const)
    assert.equal(htmlText(html, BASE).text, text, html);
});

test("no page makes it fail", () => {
  const piece = fc.constantFrom(
    "<",
    ">",
    "</a>",
    "<a href=",
    "<pre>",
    "</pre>",
    "&#",
    ";",
    '"',
    "<!--",
    "<title>",
    "x",
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string())), (pieces) => {
      htmlText(pieces.join(""), BASE);
    }),
  );
});
