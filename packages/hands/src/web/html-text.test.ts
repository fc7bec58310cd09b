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

test("hostile pages take time that grows with their length: blanks in code, ends of elements that do not end", () => {
  const part = 1_000_000;
  const pages: readonly (readonly [string, RegExp])[] = [
    [`<pre>a${" ".repeat(part)}b</pre>`, /^```\na {1000000}b\n```$/],
    [`<pre>${" \t".repeat(part)}`, /^```$/],
    [`<p>seen</p><script>${"</script".repeat(part / 8)}`, /^seen$/],
    [`<p>seen</p>${"<style></style".repeat(part / 16)}>after`, /^seen\n*after$/],
    [`<p>seen</p>${"<svg>".repeat(part / 8)}`, /^seen$/],
    [`<p>seen</p><a ${" href".repeat(part / 8)}>x</a>`, /^seen\n*x$/],
    [`<p>seen</p><a href="${" ".repeat(part)}`, /^seen$/],
    [`<p>seen</p>${"<".repeat(part)}`, /^seen\n*<{1000000}$/],
    [`<p>seen</p>${"&#".repeat(part)}`, /^seen\n*(?:&#)+$/],
    [`<p>seen</p>${"<!--".repeat(part / 4)}`, /^seen$/],
    ["<p>".repeat(part / 4), /^$/],
    ["<a href=x>".repeat(part / 40), /^\[*$/],
  ];
  for (const [page, text] of pages) assert.match(htmlText(page, BASE).text, text, page.slice(0, 30));
});

test("an element that is never shown ends at its own end, in any case and with blanks in it", () => {
  const seen = (html: string): string => htmlText(html, BASE).text;
  assert.equal(seen("<script>a</SCRIPT >b"), "b");
  assert.equal(seen("<script>a</scr</script\n>b"), "b");
  assert.equal(seen("<script>a</script"), "");
  assert.equal(seen("<ScRiPt>a</style></script>b"), "b");
  assert.equal(seen("<script src='>'>a</script>b"), "b");
  assert.equal(seen("<template><p>no</p></template><p>yes"), "yes");
  assert.equal(seen("<noscript>no</noscript>yes"), "yes");
});

test("entities become characters, and what is none stays as it is or is replaced", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["&lt;b&gt;", "<b>"],
    ["&AMP;&amp;", "&&"],
    ["&#65;&#x42;&#X43;", "ABC"],
    ["&#0;&#xD800;&#x110000;&#99999999;", "\uFFFD\uFFFD\uFFFD&#99999999;"],
    ["&#abc;", "\uFFFD"],
    ["&unknown;&valueof;&tostring;&;&#;&x", "&unknown;&valueof;&tostring;&;&#;&x"],
    ["&amp;lt;", "&lt;"],
    ["&#x1F600;", "😀"],
  ];
  for (const [html, text] of rows) assert.equal(htmlText(html, BASE).text, text, html);
});
