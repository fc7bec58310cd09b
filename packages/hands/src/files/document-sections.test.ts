import assert from "node:assert/strict";
import { test } from "node:test";
import { DOCUMENT_LIMITS, KNOWLEDGE_LIMITS } from "@vidro/core";
import * as fc from "fast-check";
import { sectionsOf } from "./document-sections.ts";

const titles = (text: string, path = "/a.md"): readonly string[] => sectionsOf(text, path).map(({ title }) => title);

test("each heading begins a section with its line, in the marks of every format", () => {
  const text = "before\n\n# One #\nfirst\n## Two\nsecond\n= Three =\nthird\n* Four\nfourth";
  assert.deepEqual(sectionsOf(text, "/a.md"), [
    { line: 1, title: "before", text: "before" },
    { line: 3, title: "One", text: "# One #\nfirst" },
    { line: 5, title: "Two", text: "## Two\nsecond" },
    { line: 7, title: "Three", text: "= Three =\nthird" },
    { line: 9, title: "Four", text: "* Four\nfourth" },
  ]);
});

test("a line above a rule is a heading when a blank line is before it, and else a line of a text", () => {
  assert.deepEqual(titles("Title\n=====\ntext\n\nNext\n----\nmore"), ["Title", "Next"]);
  assert.deepEqual(titles("some text\nthat ends here\n-----\nmore"), ["some text"]);
  assert.deepEqual(titles("one\n\n---\n\ntwo"), ["one"]);
  assert.deepEqual(titles(" indented\n=====\n"), ["indented"]);
});

test("marks that are no heading stay text: too many, none behind them, within a line", () => {
  assert.deepEqual(titles("####### seven"), ["####### seven"]);
  assert.deepEqual(titles("#tag\ntext"), ["#tag"]);
  assert.deepEqual(titles("a # b\n#\n# "), ["a # b"]);
});

test("line ends of Windows count as those of Unix, and empty documents have no section", () => {
  assert.deepEqual(sectionsOf("# A\r\nb\r\n", "/a.md"), [{ line: 1, title: "A", text: "# A\nb" }]);
  for (const empty of ["", "\n\n", " \r\n\t", "\u00a0"]) assert.deepEqual(sectionsOf(empty, "/a.md"), []);
});

test("a page in HTML is cut at its headings, and all of its sections are at line 1", () => {
  const page = "<html><body><h1>Install</h1><p>Use <b>npm</b>.</p><script># no</script><h2>Run</h2><p>Go.</p>";
  assert.deepEqual(sectionsOf(page, "/A.HTM"), [
    { line: 1, title: "Install", text: "# Install\n\nUse npm." },
    { line: 1, title: "Run", text: "## Run\n\nGo." },
  ]);
});

test("a long section is cut into several under the same title, and no word of it is lost", () => {
  const lines = Array.from({ length: 400 }, (_, at) => `line ${at} ${"x".repeat(30)}`);
  const sections = sectionsOf(`# Long\n${lines.join("\n")}`, "/a.md");
  assert.ok(sections.length > 3);
  for (const { title, text } of sections) {
    assert.equal(title, "Long");
    assert.ok(text.length <= DOCUMENT_LIMITS.sectionChars);
  }
  assert.equal(sections.map(({ text }) => text).join("\n"), `# Long\n${lines.join("\n")}`);
});

test("a line that is longer than a section goes on in the next, at each length around the bound", () => {
  for (const length of [-1, 0, 1, 2].map((more) => DOCUMENT_LIMITS.sectionChars + more).concat(30_000)) {
    const line = Array.from({ length }, (_, at) => String.fromCharCode(97 + (at % 26))).join("");
    const sections = sectionsOf(`# Title\n${line}\nlast`, "/a.md");
    const text = sections.map((section) => section.text).join("");
    assert.ok(text.replaceAll("\n", "").includes(line), String(length));
    assert.ok(sections.at(-1)?.text.endsWith("last"));
    for (const section of sections) assert.ok(section.text.length <= DOCUMENT_LIMITS.sectionChars + "last".length + 1);
  }
});

test("a long line is never cut inside a character", () => {
  for (const before of ["", "x"]) {
    const sections = sectionsOf(before + "😀".repeat(5000), "/a.txt");
    for (const { text } of sections) assert.ok(text.isWellFormed());
    assert.equal(sections.map(({ text }) => text).join(""), before + "😀".repeat(5000));
  }
});

test("titles and sections have a bound, and a document beyond it is cut", () => {
  assert.equal(titles(`# ${"t".repeat(5000)}`)[0]?.length, KNOWLEDGE_LIMITS.titleChars);
  const many = Array.from({ length: DOCUMENT_LIMITS.sections + 5 }, (_, at) => `# ${at}`).join("\n");
  assert.equal(sectionsOf(many, "/a.md").length, DOCUMENT_LIMITS.sections);
});

test("a hostile line takes time that grows with its length", () => {
  const blanks = " ".repeat(500_000);
  for (const line of [
    `# a${blanks}b`,
    `# ${blanks}`,
    `#${blanks}a`,
    `# a${"#=".repeat(250_000)}b`,
    "=".repeat(500_000),
  ])
    assert.ok(sectionsOf(`${line}\n${line}`, "/a.md").length <= DOCUMENT_LIMITS.sections);
});

test("every word of any document is in a section, in its order", () => {
  const part = fc.constantFrom("# H", "## ", "word", "=====", "* x", "", " ", "😀", "---", "\t", "long ".repeat(900));
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), (lines) => {
      const text = lines.join("\n");
      const kept = sectionsOf(text, "/a.md").map((section) => section.text);
      assert.equal(kept.join("").replaceAll(/\s/g, ""), text.replaceAll(/\s/g, ""));
    }),
  );
});
